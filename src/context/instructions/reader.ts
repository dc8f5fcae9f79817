import { messageOf, systemCodeOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { Sourced } from '../../lib/sourced.js';
import { type FileStat, type FileSystem, stampOf } from '../../platform/fs/fs.js';
import {
  basename,
  dirname,
  expandHome,
  isAbsolute,
  isInside,
  join,
  relative,
  toPosix,
} from '../../platform/fs/paths.js';
import type { IncludeApprovals } from './include-approvals.js';
import { gitignoreMatcher } from './path-matcher.js';
import type {
  InstructionScope,
  Located,
  Place,
  SkipKind,
  SkippedInstruction,
  Sought,
} from './types.js';

/** More than this is not instructions. */
const MAX_INSTRUCTION_BYTES = 4 * 1024 * 1024;

export interface InstructionText {
  readonly text: string;
  readonly notes: readonly string[];
}

export interface InstructionReader {
  /** Looks, but does not read. `realDirectory`: its directory behind all links, where that is known. */
  locate(place: Place, realDirectory?: string): Promise<Sought>;
  read(place: Place, located: Located): Promise<Result<InstructionText, SkippedInstruction>>;
}

export interface ReaderParts {
  readonly fs: FileSystem;
  readonly home: string;
  /** The project's root; as it is named, and resolved. */
  readonly root: string;
  readonly realRoot: string;
  /** Patterns of files that are not read. */
  readonly excludes: readonly Sourced<string>[];
  readonly approvals: IncludeApprovals;
  /** Whether a rule keeps the file from being read. `isIncluded`: another file brings it in. */
  isHidden?(path: string, how: { readonly isIncluded: boolean }): Promise<boolean>;
}

/** What a path leads to. */
interface Look {
  readonly stat: FileStat;
  readonly isLink: boolean;
  readonly real: string;
}

/**
 * Reads what goes to the model without a question. fail-closed: only regular files of bounded size,
 * and of a project's own choice only those inside of it; every other needs a person's approval.
 */
export function createInstructionReader(parts: ReaderParts): InstructionReader {
  const { fs, root, realRoot } = parts;
  const isExcluded = excludedBy(parts);

  async function judge(place: Place, { stat, isLink, real }: Look): Promise<Sought> {
    const { path, scope } = place;
    // Where the disk takes `claude.md` for `CLAUDE.md`, we do not.
    const isOtherName = place.parent === undefined && basename(real) !== basename(path);
    if (!isLink && isOtherName) return 'absent';
    if (scope !== 'managed') {
      if (isExcluded([path, real], scope)) {
        return skip(place, 'excluded', 'claudeMdExcludes names it', { warn: false });
      }
      const refused = await refusal(place, { stat, isLink, real });
      if (refused !== undefined) return refused;
    }
    if (stat.size > MAX_INSTRUCTION_BYTES) {
      return skip(place, 'too large', `it is larger than ${MAX_INSTRUCTION_BYTES} bytes`);
    }
    const located = { real, stamp: stampOf(stat), bytes: stat.size };
    if (scope === 'managed' || !(await isHidden(place, { isLink, real }))) return located;
    const reason = 'a permission rule keeps it from being read';
    return { ...located, hidden: skip(place, 'hidden', reason) };
  }

  /** Rules hide what the repository or a link chose to show, not what says itself that it counts. */
  async function isHidden(
    { path, parent, nested }: Place,
    { isLink, real }: Pick<Look, 'isLink' | 'real'>,
  ): Promise<boolean> {
    const isAsNamed =
      path === real || (isInside(path, root) && join(realRoot, relative(root, path)) === real);
    const isLedTo = isLink || parent !== undefined || nested === true || !isAsNamed;
    if (!isLedTo || parts.isHidden === undefined) return false;
    const how = { isIncluded: parent !== undefined };
    return (await parts.isHidden(path, how)) || (await parts.isHidden(real, how));
  }

  async function refusal(
    place: Place,
    { stat, isLink, real }: Look,
  ): Promise<SkippedInstruction | undefined> {
    const { path, within } = place;
    if (place.aboveProject === true && stat.foreign === true) {
      // fail-closed: above the project the user's own word counts, not that of others on the machine.
      return skip(place, 'foreign', 'it is outside of the project, and another user may write it');
    }
    if (within === undefined || within.some((directory) => isInside(real, directory))) {
      return undefined;
    }
    const answer = await parts.approvals.answerTo(realRoot, real);
    if (answer === 'approve') return undefined;
    const how = isLink || real !== path ? `it is a link to ${real}, outside of the project` : OUT;
    const isDeclined = answer === 'decline';
    const why = isDeclined ? 'a person has declined it' : `no person has approved it; ${REMEDY}`;
    const skipped = skip(place, 'external', `${how}, and ${why}`, { warn: !isDeclined });
    return { ...skipped, realPath: real, ...(isDeclined ? { declined: true } : {}) };
  }

  return {
    async locate(place, realDirectory) {
      const { path } = place;
      try {
        const own = await fs.lstat(path);
        const isLink = own?.kind === 'symlink';
        const stat = isLink ? await fs.stat(path) : own;
        if (stat === undefined) return 'absent';
        if (stat.kind !== 'file') {
          const isDirectory = stat.kind === 'directory';
          const what = isDirectory ? 'a directory' : 'no regular file';
          return skip(place, 'not regular', `it is ${what}`, { warn: !isDirectory });
        }
        const isPlain = realDirectory !== undefined && !isLink;
        const real = isPlain ? join(realDirectory, basename(path)) : await fs.realPath(path);
        return await judge(place, { stat, isLink, real });
      } catch (thrown) {
        // A folder that is shut may hold no such file; one that is there for such files does.
        const isThere = basename(dirname(path)) === '.claude';
        return unreadable(place, thrown, { isThere });
      }
    },
    async read(place, { real }) {
      try {
        // By its real path: a link that is turned meanwhile leads nowhere else.
        const bytes = await fs.readBytes(real, { maxBytes: MAX_INSTRUCTION_BYTES });
        const decoded = decode(bytes, { strict: place.parent !== undefined });
        if (decoded === undefined) return err(skip(place, 'not text', 'it is not text in UTF-8'));
        return ok(decoded);
      } catch (thrown) {
        return err(unreadable(place, thrown, { isThere: true }));
      }
    },
  };
}

const OUT = 'it is outside of the project';
const REMEDY = '`portcullis context approve <path>` does';

export function skip(
  { path, scope, parent }: Pick<Place, 'path' | 'scope' | 'parent'>,
  kind: SkipKind,
  reason: string,
  { warn }: { warn: boolean } = { warn: true },
): SkippedInstruction {
  return { path, scope, kind, reason, warn, parent };
}

/**
 * fail-closed: an unreadable instruction file of the project, the user or the administrator may hold
 * restrictions. Included files and files above the project may belong to others.
 */
export function unreadable(
  place: Pick<Place, 'path' | 'scope' | 'parent' | 'aboveProject'>,
  thrown: unknown,
  { isThere }: { readonly isThere: boolean },
): SkippedInstruction {
  const skipped = skip(place, 'unreadable', messageOf(thrown));
  const isElsewhere = place.parent !== undefined || place.aboveProject === true;
  const isShut = isThere && SHUT.includes(systemCodeOf(thrown) ?? '');
  return isShut && !isElsewhere ? { ...skipped, mayRestrict: true } : skipped;
}

const SHUT: readonly string[] = ['EACCES', 'EPERM', 'EIO'];

export function isLocated(sought: Sought): sought is Located {
  return sought !== 'absent' && 'real' in sought;
}

const exact = new TextDecoder('utf-8', { fatal: true });
const lenient = new TextDecoder('utf-8');

/** Invalid bytes in an instruction file are replaced; an included file must be valid text. */
function decode(bytes: Uint8Array, { strict }: { strict: boolean }): InstructionText | undefined {
  if (bytes.includes(0)) return undefined;
  const textIn = (decoder: typeof exact) => decoder.decode(bytes).replace(/\r\n?/g, '\n');
  try {
    return { text: textIn(exact), notes: [] };
  } catch {
    const notes = ['it is not UTF-8 throughout; what cannot be read is replaced'];
    return strict ? undefined : { text: textIn(lenient), notes };
  }
}

/** fail-closed: a project's settings do not take away what its user has written for himself. */
function excludedBy({
  excludes,
  home,
}: ReaderParts): (paths: readonly string[], scope: InstructionScope) => boolean {
  const compiled = (list: readonly Sourced<string>[]) =>
    gitignoreMatcher(list.map(({ value }) => absolutePattern(value, home)));
  const all = compiled(excludes);
  const own = compiled(excludes.filter(({ source }) => source !== 'project' && source !== 'local'));
  return (paths, scope) => {
    const isFitting = scope === 'user' || scope === 'memory' ? own : all;
    return paths.some((path) => isFitting(toPosix(path)));
  };
}

/** From the root of the file system; what does not say where it begins may begin anywhere. */
function absolutePattern(pattern: string, home: string): string {
  const path = toPosix(expandHome(pattern.trim(), home));
  return isAbsolute(path) || path.startsWith('**/') ? path : `**/${path}`;
}
