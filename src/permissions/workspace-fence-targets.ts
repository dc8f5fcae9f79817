import { linksStay } from './links-below.js';
import type { PathSpellings } from './paths.js';
import { directoriesAfter } from './shell/directories.js';
import { nameOf, type ShellWord, type SimpleCommand } from './shell/model.js';
import type { CallView } from './view.js';
import { type Fence, type FenceFiles, leadsUp, readProblem } from './workspace-fence-paths.js';
import { unreadable } from './workspace-fence-views.js';

export interface FencePlace {
  readonly fence: Fence;
  readonly view: Pick<CallView, 'judge' | 'home' | 'call' | 'facts'>;
  readonly fs: FenceFiles;
}

/** Whether links below these paths lead to what is hidden, or may do so. */
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
      if (!(await linksStay(starts, view.judge, { isFine }))) return true;
    }
  }
  return false;
}

/** The paths in a text that may be files: nothing is, whose first directory is not there. */
export async function existing(
  paths: readonly string[],
  { fs }: FencePlace,
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const path of paths) {
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
