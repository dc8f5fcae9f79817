import { messageOf } from '../../errors.js';
import { err, type Result } from '../../lib/result.js';
import { visible } from '../../lib/visible.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  dirname,
  isAbsolute,
  isInside,
  join,
  normalise,
  toPosix,
} from '../../platform/fs/paths.js';
import {
  agree,
  type EventDeps,
  gateRefusals,
  isBlank,
  textIn,
  type Wish,
} from '../answers/round.js';
import { ask, EVERY_HOOK, type Scene } from '../dispatch/scene.js';
import type { HookReport, HookRound } from '../registry/hook.js';

/** What hooks made of the wish for a tree of its own. */
export type WorktreeMade =
  /** There is no such hook: the program does it its own way. */
  | { readonly kind: 'none' }
  /** A hook made one: an existing directory, apart from the project's own. */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Hooks that make and remove working trees in the program's place. */
export interface WorktreeHooks {
  create(fields: { readonly name: string }, scene: Scene): Promise<WorktreeMade>;
  /** Whether some hook was asked to. */
  remove(fields: { readonly worktree_path: string }, scene: Scene): Promise<boolean>;
}

export interface WorktreeHookDeps extends EventDeps {
  readonly fs: Pick<FileSystem, 'lstat' | 'stat' | 'realPath'>;
  /** The repository's root where there is one: links below it are anybody's who can commit. */
  readonly projectDir: string;
}

const NO_HOOK: WorktreeMade = Object.freeze({ kind: 'none' });

export function createWorktreeHooks(deps: WorktreeHookDeps): WorktreeHooks {
  const { dispatch } = deps;
  return {
    async create({ name }, scene) {
      const asked = { agent: scene.agent, matched: EVERY_HOOK };
      if (!dispatch.has('WorktreeCreate', asked)) return NO_HOOK;
      if (hasControls(name)) return refused(`the name "${visible(name)}" has control characters`);
      const round = await ask(dispatch, 'WorktreeCreate', { scene, fields: { name } });
      // It was there a moment ago; settings change.
      if (round.reports.length === 0) return NO_HOOK;
      const path = pathOf(round);
      if (!path.ok) return refused(path.error);
      if (path.value === undefined) return NO_HOOK;
      const problem = await pathProblem(deps, path.value.value);
      if (problem === undefined) return { kind: 'path', path: normalise(path.value.value) };
      return refused(`${path.value.by} gave ${visible(path.value.value)}, ${problem}`);
    },
    async remove(fields, scene) {
      const asked = { agent: scene.agent, matched: EVERY_HOOK };
      if (!dispatch.has('WorktreeRemove', asked)) return false;
      await ask(dispatch, 'WorktreeRemove', { scene, fields });
      return true;
    },
  };
}

/** The one path that the hooks gave; undefined when only hooks gave one that may not grant any. */
function pathOf(round: HookRound): Result<Wish<string> | undefined, string> {
  const noes = [...gateRefusals(round), ...round.reports.flatMap((one) => brokenOff(one) ?? [])];
  if (noes.length > 0) return err([...new Set(noes)].join('\n'));
  const wishes: Wish<string>[] = [];
  for (const { hook, answer } of round.reports) {
    const value = textIn(answer.fields, 'worktreePath')?.trim() ?? lastLine(answer.text);
    // fail-closed: a hook that takes the place of our own way and names no tree has made none.
    if (value === undefined) return err(`${hook.label} gave no path of a working tree`);
    if (hook.restrictOnly !== true) wishes.push({ by: hook.label, value });
  }
  const agreed = agree(wishes, (a, b) => normalise(a) === normalise(b));
  // fail-closed: no order between hooks says whose tree is meant.
  return agreed.ok ? agreed : err(`${agreed.error.join(' and ')} gave different paths`);
}

/** Whatever the hook's own `onFailure` says: half a working tree is none. */
function brokenOff(report: HookReport): string | undefined {
  const { hook, ms, failure, refuses, complaint, exitCode, answer } = report;
  if (refuses === true) return undefined;
  const spent = `${Math.round(ms)} ms`;
  // fail-closed: any failure means that no tree was made.
  if (failure !== undefined) {
    return `guard failed: ${hook.label} made no tree in ${spent} (${failure.cause}: ${failure.message})`;
  }
  if (answer.decision === 'deny') return undefined;
  if (complaint !== undefined || (exitCode !== undefined && exitCode !== 0)) {
    const why = isBlank(complaint) ? `exit code ${exitCode}` : complaint;
    return `guard failed: ${hook.label} made no tree in ${spent} (exit-code: ${why})`;
  }
  // fail-closed: nobody can work in a tree that may be there later.
  return answer.asyncMs === undefined
    ? undefined
    : `${hook.label} goes on by itself, and a working tree is needed now`;
}

function lastLine(text: string | undefined): string | undefined {
  return text
    ?.split(/\r?\n/)
    .map((line) => line.trim())
    .findLast((line) => line !== '');
}

/** Why a path is no working tree that anything may be let loose in; undefined when it is one. */
async function pathProblem(deps: WorktreeHookDeps, path: string): Promise<string | undefined> {
  if (hasControls(path)) return 'which has control characters';
  if (!isAbsolute(path)) return 'which is not absolute';
  if (toPosix(path).split('/').includes('..')) return 'which goes up by ".."';
  try {
    const project = await deps.fs.realPath(deps.projectDir);
    const link = await linkInside(deps, normalise(path), project);
    if (link !== undefined) return `which goes through ${visible(link)}, a link of the repository`;
    if ((await deps.fs.stat(path))?.kind !== 'directory') return 'where there is no directory';
    const apart = !isInside(project, await deps.fs.realPath(path));
    return apart ? undefined : 'which is not apart from the project';
  } catch (thrown) {
    // fail-closed: nobody can say where a path leads that cannot be looked at.
    return `which cannot be looked at: ${messageOf(thrown)}`;
  }
}

/** The first part of the path that is a symbolic link and lies in the project, by whatever name. */
async function linkInside(
  { fs }: WorktreeHookDeps,
  path: string,
  project: string,
): Promise<string | undefined> {
  const parts: string[] = [];
  for (let at = path; at !== dirname(at); at = dirname(at)) parts.unshift(at);
  for (const part of parts) {
    if ((await fs.lstat(part))?.kind !== 'symlink') continue;
    const parent = await fs.realPath(dirname(part));
    const place = join(parent, part.slice(dirname(part).length));
    if (isInside(place, project)) return part;
  }
  return undefined;
}

function hasControls(text: string): boolean {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
}

function refused(reason: string): WorktreeMade {
  return { kind: 'refused', reason };
}
