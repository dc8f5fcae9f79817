import type { FileSystem } from '../../../platform/fs/fs.js';
import {
  basename,
  isInside,
  join,
  relative,
  resolve,
  toPosix,
} from '../../../platform/fs/paths.js';
import type { AgentRef } from '../../../protocol/agent-ref.js';
import type { CallView } from '../../gate/view.js';
import { linksStay } from '../../paths/links-below.js';
import { type PathSpellings, STEPS_OF_LOOK } from '../../paths/paths.js';
import { matches, segmentTokens } from '../../rules/wildcard.js';
import { nameOf, type ShellWord, type SimpleCommand, UNKNOWN_WORD } from '../../shell/model.js';
import { disguisesOf, unwrapForGrant } from '../../shell/runners/runners.js';
import { directoriesAfter } from '../../shell/syntax/directories.js';
import { looksOf } from './words.js';

export interface FencePlace {
  readonly fence: Fence;
  readonly view: Pick<CallView, 'judge' | 'home' | 'call' | 'facts'>;
  readonly fs: FenceFiles;
}

/** Whether what is hidden lies below these paths, or links there may lead to it. */
export async function leadsToHidden(
  paths: readonly string[],
  { directories = ['/'] }: SimpleCommand,
  { fence, view }: FencePlace,
): Promise<boolean> {
  const isFine = (target: PathSpellings): boolean =>
    readProblem(fence, target, { below: true }) === undefined;
  for (const directory of directories) {
    for (const path of paths) {
      const starts = await view.judge.spellFrom(directory, path);
      if (!starts.every(isFine) || !(await linksStay(starts, view.judge, { isFine }))) return true;
    }
  }
  return false;
}

/** The paths in a text that may be files: nothing is, whose first directory is not there. */
export async function existing(
  paths: readonly string[],
  { fs, view }: FencePlace,
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const path of paths) {
    view.judge.budget.spend(STEPS_OF_LOOK);
    const top = /^\/+([^/]+)/.exec(path)?.[1];
    // A lone slash in a text is a sign, not a place.
    if (/^\/+$/.test(path)) continue;
    if (top === undefined || (await fs.lstat(`/${top}`)) !== undefined) kept.push(path);
  }
  return kept;
}

/** `cd -`, `cd ..` in a loop, and all but `cd` after which the directory is not known. */
export function strays(view: readonly ShellWord[], command: SimpleCommand): boolean {
  if (nameOf(view) !== 'cd') return directoriesAfter(view, ['/'], NOWHERE) === undefined;
  const isUp = ({ value }: ShellWord): boolean => /^[-+]/.test(value) || leadsUp(value);
  const isLed = command.directories === undefined || view.some(({ value }) => /^[-+]/.test(value));
  return isLed && view.slice(1).some(isUp);
}

const NOWHERE = { home: '/', assigned: new Set<string>() };

export const LOST =
  'the directory it runs in is not known (after set, pushd, eval, `cd -` or a loop)';

export function decidedLater({ raw }: ShellWord): string {
  return raw === ''
    ? unreadable('it reads files whose names come from its input')
    : unreadable(`which file ${raw} is is decided at run time`);
}

type Words = readonly ShellWord[];

export function unreadable(why: string): string {
  return `it cannot be told that the command stays in the workspace: ${why}. Write it in simple commands with plain words`;
}

/** Whether it may do more than look. */
export function canWrite(command: SimpleCommand): boolean {
  return (
    command.redirections.some(({ access }) => access === 'write') ||
    viewsOf(command).some((view) => looksOf(view) === undefined)
  );
}

/** What runs, behind wrappers that are fully understood; else whatever any word may stand for. */
export function viewsOf(command: SimpleCommand): readonly Words[] {
  const { words, fed } = unwrapForGrant(command.words);
  if (words === command.words) return command.views;
  const own = new Set<ShellWord>([UNKNOWN_WORD, ...command.words]);
  const isPart = (view: Words): boolean => view.every((word) => own.has(word));
  const inner = disguisesOf(words).views.map((view) => (fed ? [...view, UNKNOWN_WORD] : view));
  return [...inner, ...command.views.filter((view) => !isPart(view))];
}

/** For a message. */
export function short(raw: string): string {
  const line = raw.split('\n')[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 80)}…` : line === '' ? basename(raw) : line;
}

export type FenceFiles = Pick<FileSystem, 'stat' | 'lstat' | 'list'>;

/** What holds for one agent. All directories with links followed. */
export interface Fence {
  /** As the agent knows it. */
  readonly workspace: string;
  readonly writable: readonly string[];
  /** What belongs to the project, wherever the agent works. */
  readonly project: readonly string[];
  /** Neither read nor written, but for what is writable or shared. */
  readonly hidden: readonly string[];
  readonly shared: readonly string[];
  readonly isolation: AgentRef['isolation'];
}

/** Of a tree that we made: the checkout that it lies in, and the tree's own root. */
export function mainCheckout(workspace: string): { main: string; tree: string } | undefined {
  const found = /^(.+?)\/\.claude\/worktrees\/[^/]+/.exec(toPosix(workspace));
  return found === null ? undefined : { main: found[1] ?? '', tree: found[0] };
}

/** Programs write to these without writing a file. */
const STREAMS = /^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/;

/** Why a file may not be written; undefined when it may. */
export function writeProblem(fence: Fence, path: PathSpellings): string | undefined {
  if (STREAMS.test(path.literal)) return undefined;
  if (isWithin(path.real, fence.writable)) return undefined;
  const hidden = hiddenProblem(fence, path);
  if (hidden !== undefined) return hidden;
  const leads = path.real === path.literal ? '' : ` (it leads to ${path.real})`;
  return `${path.literal}${leads} is outside of ${fence.workspace}, the only place that this agent writes to`;
}

/**
 * Why a file may not be looked at; undefined when it may. `below`: so is what lies under it, so that a
 * directory above the project is no way in.
 */
export function readProblem(
  fence: Fence,
  path: PathSpellings,
  { below }: { readonly below: boolean },
): string | undefined {
  if (fence.hidden.length === 0 || isWithin(path.real, fence.writable)) return undefined;
  if (isWithin(path.real, fence.shared)) return undefined;
  const above = below && fence.hidden.some((hidden) => isInside(hidden, path.real));
  if (above && !fence.hidden.includes(path.real)) {
    return `${path.literal} holds the main checkout, which this agent works apart from; look in ${fence.workspace}`;
  }
  return hiddenProblem(fence, path);
}

/** Why a variable may not have a value: programs write where variables say. */
export function valueProblem(fence: Fence, path: PathSpellings): string | undefined {
  const named = isWithin(path.real, fence.project) && !isWithin(path.real, fence.shared);
  return named ? writeProblem(fence, path) : undefined;
}

export function isWithin(real: string, directories: readonly string[]): boolean {
  return directories.some((directory) => isInside(real, directory));
}

/** Whether a word, wildcards among it, may lead elsewhere than below where it is looked up. */
export function leadsUp(pattern: string): boolean {
  return (
    /^[/~]/.test(pattern) ||
    pattern.split('/').some((part) => part.startsWith('.') && matches(segmentTokens(part), '..'))
  );
}

function hiddenProblem(fence: Fence, { literal, real }: PathSpellings): string | undefined {
  const hidden = fence.hidden.find((one) => isInside(real, one));
  if (hidden === undefined) return undefined;
  const way = relative(hidden, real);
  if (/^\.claude\/worktrees(\/|$)/.test(toPosix(way))) {
    return `${literal} belongs to the tree of another agent; this one works in ${fence.workspace}`;
  }
  if (/^\.git(\/|$)/.test(toPosix(way))) {
    return `${literal} is git's own data of the main checkout; use git commands in ${fence.workspace}`;
  }
  const tree = mainCheckout(fence.workspace)?.tree ?? fence.workspace;
  return `${literal} is in the main checkout, and this agent works in a tree of its own: use ${resolve(join(tree, way))}`;
}
