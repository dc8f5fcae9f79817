import type { FileVersion } from '../env/file-version.js';
import type { FileStat } from '../env/fs.js';
import { messageOf, systemCodeOf } from '../errors.js';
import type { SkillFiles, SkillRoot } from './find-roots.js';
import type { Homes } from './homes.js';
import type { Looks } from './looks.js';
import type { SkippedSkill } from './skill.js';

/** A file that holds a skill, before it is read. */
export interface Candidate {
  /** What it is called by, as far as its place says. */
  readonly name: string;
  readonly root: SkillRoot;
  readonly file: string;
  readonly directory: string;
  /** The file behind all links: what is the same file is the same skill. */
  readonly real: string;
  /** As it was just looked at; absent where a link has to be followed first. */
  readonly look?: FileVersion | undefined;
}

export interface Found {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly SkippedSkill[];
  /** Set where nothing but this directory and the files of the candidates was looked at. */
  readonly by?: 'absence' | SeenFolder;
}

/** A directory before it was listed, and where it really is. */
export interface SeenFolder {
  readonly stat: FileStat;
  readonly real: string;
}

export interface FindDeps {
  readonly fs: SkillFiles;
  readonly homes: Homes;
  readonly looks?: Looks | undefined;
}

export type Entry = Awaited<ReturnType<SkillFiles['list']>>[number];

export const NOTHING: Found = { candidates: [], skipped: [] };
const ABSENT: Found = { ...NOTHING, by: 'absence' };

/** In place of a name, where something is said about a whole directory. */
export const ALL = '*';
/** More than anybody has; a limit, so that a start stays quick. */
export const MOST_ENTRIES = 5_000;
/** Directories and files that are looked at side by side. */
export const AT_ONCE = 16;

export function joined(found: readonly Found[]): Found {
  const some = found.filter((one) => one.candidates.length > 0 || one.skipped.length > 0);
  // Mostly one place has them all, and there may be hundreds.
  if (some.length === 1 && some[0] !== undefined) return some[0];
  return {
    candidates: some.flatMap((one) => one.candidates),
    skipped: some.flatMap((one) => one.skipped),
  };
}

export function passedOver(name: string, file: string, reason: string): Found {
  return { candidates: [], skipped: [{ name, file, reason }] };
}

export type Listed =
  | { readonly ok: true; readonly entries: readonly Entry[]; readonly stat: FileStat }
  | { readonly ok: false; readonly found: Found };

/** The entries of a directory; what is not there holds nothing. */
export async function listed(
  directory: string,
  fs: Pick<SkillFiles, 'stat' | 'list'>,
): Promise<Listed> {
  try {
    // Asking first is cheaper than an exception for each directory that is not there.
    const stat = await fs.stat(directory);
    if (stat === undefined) return { ok: false, found: ABSENT };
    if (stat.kind !== 'directory') return { ok: false, found: NOTHING };
    return { ok: true, entries: await fs.list(directory), stat };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ok: false, found: NOTHING };
    const reason = `it cannot be listed: ${messageOf(thrown)}`;
    return { ok: false, found: passedOver(ALL, directory, reason) };
  }
}
