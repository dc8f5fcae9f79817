import { basename, join, resolve } from '../../platform/fs/paths.js';
import type { FileEvent, FileWatcher, OpenFileWatcher } from '../../platform/fs/watch-files.js';
import { type EventDeps, tellIgnored, textsIn } from '../answers/round.js';
import {
  ask,
  askInBackground,
  createBackgroundRounds,
  EVERY_HOOK,
  type HookFields,
  type Scene,
} from '../dispatch/scene.js';
import type { HookRound } from '../registry/hook.js';

/** Hooks about files and directories. None of them can hold anything up. */
export interface WatchHooks {
  /** Hooks are different now: their matchers name the files that are always watched. */
  refresh(): void;
  /** What SessionStart hooks want watched besides. */
  watch(paths: readonly string[], cwd: string): void;
  /** Waits for the hooks: they may set variables for the commands that follow. */
  cwdChanged(fields: HookFields<'CwdChanged'>, scene: Scene): Promise<void>;
  /** Nobody waits for these, except `close`. */
  directoryAdded(added: HookFields<'DirectoryAdded'>, scene: Scene): void;
  close(): Promise<void>;
}

export interface WatchHookDeps extends EventDeps {
  /** The matchers of all FileChanged hooks, as written. */
  matchers(): readonly (string | undefined)[];
  readonly projectDir: string;
  readonly openWatcher: OpenFileWatcher;
  /** Where a change that nobody in particular made is told. */
  scene(): Scene;
  /** Milliseconds that `close` waits. */
  readonly closeMs?: number;
}

export function createWatchHooks(deps: WatchHookDeps): WatchHooks {
  const { dispatch, closeMs } = deps;
  const background = createBackgroundRounds({ tell: deps.tell, closeMs });
  const changes = oneByOne((path, event) => {
    const isRun = background.run(async (closing) => {
      const scene = deps.scene();
      const signal = AbortSignal.any([scene.signal, closing]);
      try {
        list.add(await fileChanged(deps, { path, event }, { ...scene, signal }));
      } finally {
        changes.done(path);
      }
    });
    if (!isRun) changes.done(path);
  });
  const list = createWatchList(deps, changes.note);
  return {
    refresh: () => list.fix(namedFiles(deps.matchers(), deps.projectDir)),
    watch: (paths, cwd) => list.add(paths.map((path) => resolve(cwd, path))),
    async cwdChanged(fields, scene) {
      if (fields.old_cwd === fields.new_cwd) return;
      const round = await ask(dispatch, 'CwdChanged', { scene, fields });
      tellIgnored(deps, 'CwdChanged', round);
      const paths = watchPathsOf(round, fields.new_cwd);
      // A hook that says nothing about paths leaves them as they are; an empty list clears them.
      if (paths !== undefined) list.replace(paths);
    },
    directoryAdded(added, scene) {
      askInBackground(dispatch, background, {
        event: 'DirectoryAdded',
        scene,
        fields: { ...added },
        matched: [added.source],
      });
    },
    async close() {
      list.close();
      await background.close();
    },
  };
}

/** Which files are watched: those that matchers name, and those that hooks asked for. */
interface WatchList {
  fix(paths: readonly string[]): void;
  add(paths: readonly string[]): void;
  replace(paths: readonly string[]): void;
  close(): void;
}

function createWatchList(
  deps: WatchHookDeps,
  onChange: (path: string, event: FileEvent) => void,
): WatchList {
  let fixed: readonly string[] = [];
  let asked: readonly string[] = [];
  let watcher: FileWatcher | undefined;
  let isClosed = false;
  const isWanted = (): boolean =>
    deps.dispatch.has('FileChanged', { agent: deps.scene().agent, matched: EVERY_HOOK });
  /** Nothing is opened before there is something to watch, and somebody to tell. */
  const update = (): void => {
    if (isClosed) return;
    const paths = isWanted() ? [...new Set([...fixed, ...asked])] : [];
    if (paths.length === 0 && watcher === undefined) return;
    watcher ??= deps.openWatcher({ onChange, onError: deps.tell });
    watcher.set(paths);
  };
  const replace = (paths: readonly string[]): void => {
    asked = paths.slice(0, MOST_ASKED);
    update();
  };
  return {
    fix(paths) {
      fixed = paths;
      update();
    },
    add(paths) {
      const more = paths.filter((path) => !asked.includes(path));
      if (more.length > 0) replace([...asked, ...more]);
    },
    replace,
    close() {
      isClosed = true;
      watcher?.close();
    },
  };
}

/** More than the watcher takes, so that it is the one to say that there are too many. */
const MOST_ASKED = 1_000;

const NO_PATHS: readonly string[] = Object.freeze([]) as readonly [];

async function fileChanged(
  deps: WatchHookDeps,
  { path, event }: { readonly path: string; readonly event: FileEvent },
  scene: Scene,
): Promise<readonly string[]> {
  const fields = { file_path: path, event };
  const question = { scene, fields, matched: [basename(path)] };
  const round = await ask(deps.dispatch, 'FileChanged', question);
  tellIgnored(deps, 'FileChanged', round);
  return watchPathsOf(round, scene.cwd) ?? NO_PATHS;
}

/** All paths that the hooks named; undefined when none of them has a list. */
function watchPathsOf(round: HookRound, cwd: string): readonly string[] | undefined {
  const lists = round.reports.flatMap(({ answer }) => {
    const list = textsIn(answer.fields, 'watchPaths');
    return list === undefined ? [] : [list];
  });
  if (lists.length === 0) return undefined;
  return [...new Set(lists.flat().map((path) => resolve(cwd, path)))];
}

/** Matchers of this event are names of files of the project, joined by `|`. */
function namedFiles(
  matchers: readonly (string | undefined)[],
  projectDir: string,
): readonly string[] {
  const names = matchers.flatMap((matcher) => matcher?.split('|') ?? []).map((name) => name.trim());
  const plain = names.filter((name) => name !== '' && !/[*?/\\\u0000]/.test(name) && !isDots(name));
  return [...new Set(plain)].map((name) => join(projectDir, name));
}

function isDots(name: string): boolean {
  return name === '.' || name === '..';
}

interface OneByOne {
  note(path: string, event: FileEvent): void;
  done(path: string): void;
}

/** While the hooks of a file run, what happens to it meanwhile becomes one event afterwards. */
function oneByOne(start: (path: string, event: FileEvent) => void): OneByOne {
  const busy = new Map<string, FileEvent | undefined>();
  return {
    note(path, event) {
      if (busy.has(path)) busy.set(path, together(busy.get(path), event));
      else {
        busy.set(path, undefined);
        start(path, event);
      }
    },
    done(path) {
      const next = busy.get(path);
      if (next === undefined) {
        busy.delete(path);
        return;
      }
      busy.set(path, undefined);
      start(path, next);
    },
  };
}

function together(before: FileEvent | undefined, now: FileEvent): FileEvent | undefined {
  if (before === 'add') return now === 'unlink' ? undefined : 'add';
  return before === 'unlink' && now === 'add' ? 'change' : now;
}
