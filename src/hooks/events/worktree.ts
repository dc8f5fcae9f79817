import { messageOf } from '../../errors.js';
import { err, type Result } from '../../lib/result.js';
import { visible } from '../../lib/text/visible.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  basename,
  dirname,
  isAbsolute,
  isInside,
  join,
  normalise,
  toPosix,
} from '../../platform/fs/paths.js';
import { agree, type EventDeps, gateRefusals, textIn, type Wish } from '../answers/round.js';
import { ask, EVERY_HOOK, type Scene } from '../dispatch/scene.js';
import type { HookReport, HookRound } from '../registry/hook.js';

/** What hooks made of the wish for a working tree. */
type WorktreeMade =
  /** There is no such hook: the program makes one itself. */
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

interface WorktreeHookDeps extends EventDeps {
  readonly fs: Pick<FileSystem, 'lstat' | 'stat' | 'realPath'>;
  /** The repository's root where there is one: anyone who can commit may have made links below it. */
  readonly projectDir: string;
}

export function createWorktreeHooks(deps: WorktreeHookDeps): WorktreeHooks {
  const { dispatch } = deps;
  return {
    async create({ name }, scene) {
      const about = { agent: scene.agent, matched: EVERY_HOOK };
      if (!dispatch.has('WorktreeCreate', about)) return { kind: 'none' };
      if (hasControls(name)) return refused(`the name "${visible(name)}" has control characters`);
      const round = await ask(dispatch, 'WorktreeCreate', { scene, fields: { name } });
      const made = pathOf(round);
      if (!made.ok) return refused(made.error);
      if (made.value === undefined) return { kind: 'none' };
      const { by, value: path } = made.value;
      const problem = await pathProblem(deps, path);
      if (problem !== undefined) return refused(`${by} gave ${visible(path)}, ${problem}`);
      return { kind: 'path', path: normalise(path) };
    },
    async remove(fields, scene) {
      const { reports } = await ask(dispatch, 'WorktreeRemove', { scene, fields });
      return reports.length > 0;
    },
  };
}

/** The one path that the hooks gave; undefined when only hooks gave one that may not grant any. */
function pathOf(round: HookRound): Result<Wish<string> | undefined, string> {
  const refusals = [...gateRefusals(round), ...round.reports.flatMap((one) => notMade(one) ?? [])];
  if (refusals.length > 0) return err([...new Set(refusals)].join('\n'));
  const wishes: Wish<string>[] = [];
  for (const { hook, answer } of round.reports) {
    const value = textIn(answer.fields, 'worktreePath')?.trim();
    // fail-closed: a hook that takes our place and names no tree has made none.
    if (value === undefined) return err(`${hook.label} gave no path of a working tree`);
    if (hook.restrictOnly !== true) wishes.push({ by: hook.label, value });
  }
  const agreed = agree(wishes, (a, b) => normalise(a) === normalise(b));
  // fail-closed: no order between hooks says whose tree is meant.
  return agreed.ok ? agreed : err(`${agreed.error.join(' and ')} gave different paths`);
}

/** fail-closed: any failure means that no tree was made, whatever the hook's own `onFailure` says. */
function notMade({
  hook,
  ms,
  failure,
  refuses,
  complaint,
  exitCode,
  answer,
}: HookReport): string | undefined {
  if (refuses === true) return undefined;
  const failed = (why: string): string =>
    `guard failed: ${hook.label} made no tree in ${Math.round(ms)} ms (${why})`;
  if (failure !== undefined) return failed(`${failure.cause}: ${failure.message}`);
  if (answer.decision === 'deny') return undefined;
  if (complaint !== undefined || (exitCode !== undefined && exitCode !== 0)) {
    return failed(`exit-code: ${complaint ?? `exit code ${exitCode}`}`);
  }
  if (answer.asyncMs === undefined) return undefined;
  return `${hook.label} goes on by itself, and a working tree is needed now`;
}

/** Why a path is no working tree that an agent may be let loose in; undefined when it is one. */
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
    // fail-closed: a path that cannot be looked at may lead anywhere.
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
    const place = join(await fs.realPath(dirname(part)), basename(part));
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
