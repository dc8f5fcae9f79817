import { basename, join, resolve } from '../../platform/fs/paths.js';
import type { FileEvent, FileWatcher, OpenFileWatcher } from '../../platform/fs/watch-files.js';
import { type EventDeps, textsIn } from '../answers/round.js';
import {
  askObservers,
  type BackgroundRounds,
  EVERY_HOOK,
  type HookFields,
  type Scene,
} from '../dispatch/scene.js';
import type { HookRound } from '../registry/hook.js';

/** Hooks about files and directories. None of them can hold anything up. */
interface WatchHooks {
  /** Hooks are different now: their matchers name the files that are always watched. */
  refresh(): void;
  /** What SessionStart hooks want watched besides. */
  watch(paths: readonly string[], cwd: string): void;
  /** Waits for the hooks: they may set variables for the commands that follow. */
  cwdChanged(fields: HookFields<'CwdChanged'>, scene: Scene): Promise<void>;
  close(): void;
}

interface WatchHookDeps extends EventDeps {
  /** Runs the hooks of changed files. */
  readonly background: Pick<BackgroundRounds, 'run'>;
  /** The matchers of all FileChanged hooks, as written. */
  matchers(): readonly (string | undefined)[];
  readonly projectDir: string;
  readonly openWatcher: OpenFileWatcher;
  /** Where a change of a file is reported. */
  scene(): Scene;
}

/** More than the watcher takes, so that it is the one to say that there are too many. */
const MOST_ASKED = 1_000;

export function createWatchHooks(deps: WatchHookDeps): WatchHooks {
  let fixed: readonly string[] = [];
  let asked: readonly string[] = [];
  let watcher: FileWatcher | undefined;
  let isClosed = false;
  /** Files whose hooks run, each with what happened to it meanwhile. */
  const busy = new Map<string, FileEvent | undefined>();

  /** Nothing is opened before there is something to watch, and a hook to be asked. */
  const update = (): void => {
    const about = { agent: deps.scene().agent, matched: EVERY_HOOK };
    const isWanted = deps.dispatch.has('FileChanged', about);
    const paths = isWanted ? [...new Set([...fixed, ...asked])] : [];
    if (isClosed || (paths.length === 0 && watcher === undefined)) return;
    watcher ??= deps.openWatcher({ onChange, onError: deps.tell });
    watcher.set(paths);
  };
  const watch = (paths: readonly string[]): void => {
    asked = paths.slice(0, MOST_ASKED);
    update();
  };
  const add = (paths: readonly string[]): void => {
    const more = paths.filter((path) => !asked.includes(path));
    if (more.length > 0) watch([...asked, ...more]);
  };
  const finish = (path: string): void => {
    const next = busy.get(path);
    busy.delete(path);
    if (next !== undefined) onChange(path, next);
  };
  const onChange = (path: string, event: FileEvent): void => {
    if (busy.has(path)) {
      busy.set(path, together(busy.get(path), event));
      return;
    }
    busy.set(path, undefined);
    const isRun = deps.background.run(async (closing) => {
      const now = deps.scene();
      const scene = { ...now, signal: AbortSignal.any([now.signal, closing]) };
      const question = { scene, fields: { file_path: path, event }, matched: [basename(path)] };
      try {
        add(watchPathsOf(await askObservers(deps, 'FileChanged', question), scene.cwd) ?? []);
      } finally {
        finish(path);
      }
    });
    if (!isRun) finish(path);
  };

  return {
    refresh() {
      fixed = namedFiles(deps.matchers(), deps.projectDir);
      update();
    },
    watch: (paths, cwd) => add(paths.map((path) => resolve(cwd, path))),
    async cwdChanged(fields, scene) {
      if (fields.old_cwd === fields.new_cwd) return;
      const round = await askObservers(deps, 'CwdChanged', { scene, fields });
      const paths = watchPathsOf(round, fields.new_cwd);
      // A hook that says nothing about paths leaves them as they are; an empty list clears them.
      if (paths !== undefined) watch(paths);
    },
    close() {
      isClosed = true;
      watcher?.close();
    },
  };
}

/** All paths that the hooks named; undefined when none of them has a list. */
function watchPathsOf({ reports }: HookRound, cwd: string): readonly string[] | undefined {
  const lists = reports.flatMap(({ answer }) => {
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
  const plain = names.filter((name) => !/^\.{0,2}$|[*?/\\\u0000]/.test(name));
  return [...new Set(plain)].map((name) => join(projectDir, name));
}

/** Two events of one file as one; undefined when they leave things as they were. */
function together(before: FileEvent | undefined, now: FileEvent): FileEvent | undefined {
  if (before === 'add') return now === 'unlink' ? undefined : 'add';
  return before === 'unlink' && now === 'add' ? 'change' : now;
}
