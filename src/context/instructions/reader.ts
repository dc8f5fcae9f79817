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
  SkipKind,
  SkippedInstruction,
  Sought,
  Wanted,
} from './types.js';

/** More than this is not instructions. */
export const MAX_INSTRUCTION_BYTES = 4 * 1024 * 1024;

export interface InstructionText {
  readonly text: string;
  readonly notes: readonly string[];
}

export interface InstructionReader {
  /** Looks, but does not read. */
  locate(wanted: Wanted): Promise<Sought>;
  read(located: Located): Promise<Result<InstructionText, SkippedInstruction>>;
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

/**
 * Reads what goes to the model without a question. fail-closed: only regular files of bounded size,
 * and of a project's own choice only those inside of it; every other needs a person's approval.
 */
export function createInstructionReader(parts: ReaderParts): InstructionReader {
  const { fs } = parts;
  const isExcluded = excludedBy(parts);
  async function judge(
    wanted: Wanted,
    { stat, isLink }: { stat: FileStat; isLink: boolean },
  ): Promise<Sought> {
    const { path, scope, realDirectory } = wanted;
    if (stat.kind !== 'file') {
      const isDirectory = stat.kind === 'directory';
      const what = isDirectory ? 'a directory' : 'no regular file';
      return skip(wanted, 'not regular', `it is ${what}`, { warn: !isDirectory });
    }
    const isPlain = realDirectory !== undefined && !isLink;
    const real = isPlain ? join(realDirectory, basename(path)) : await fs.realPath(path);
    // Where the disk takes `claude.md` for `CLAUDE.md`, we do not.
    const isOtherName = wanted.parent === undefined && basename(real) !== basename(path);
    if (!isLink && isOtherName) return 'absent';
    if (scope !== 'managed') {
      if (isExcluded([path, real], scope)) {
        return skip(wanted, 'excluded', 'claudeMdExcludes names it', { warn: false });
      }
      const refused = await refusal(wanted, { real, stat, isLink });
      if (refused !== undefined) return refused;
    }
    if (stat.size > MAX_INSTRUCTION_BYTES) {
      return skip(wanted, 'too large', `it is larger than ${MAX_INSTRUCTION_BYTES} bytes`);
    }
    const located = { wanted, real, stamp: stampOf(stat), bytes: stat.size };
    if (scope === 'managed' || !(await isHidden(wanted, { real, isLink }))) return located;
    return {
      ...located,
      hidden: skip(wanted, 'hidden', 'a permission rule keeps it from being read'),
    };
  }

  /** No link leads there, but for those that lead to the project itself. */
  function isAsNamed(path: string, real: string): boolean {
    if (path === real) return true;
    const { root, realRoot } = parts;
    return isInside(path, root) && join(realRoot, relative(root, path)) === real;
  }

  /** What the repository chose to show must not be what its user chose to hide. */
  async function isHidden(
    wanted: Wanted,
    { real, isLink }: { real: string; isLink: boolean },
  ): Promise<boolean> {
    const isLedTo = isLink || wasChosen(wanted) || !isAsNamed(wanted.path, real);
    if (!isLedTo || parts.isHidden === undefined) return false;
    const how = { isIncluded: wanted.parent !== undefined };
    return (await parts.isHidden(wanted.path, how)) || (await parts.isHidden(real, how));
  }

  async function refusal(
    wanted: Wanted,
    { real, stat, isLink }: { real: string; stat: FileStat; isLink: boolean },
  ): Promise<SkippedInstruction | undefined> {
    const { path, within } = wanted;
    if (wanted.aboveProject === true && stat.foreign === true) {
      // fail-closed: above the project the user's own word counts, not that of others on the machine.
      return skip(wanted, 'foreign', 'it is outside of the project, and another user may write it');
    }
    const isOut = within !== undefined && !within.some((directory) => isInside(real, directory));
    if (isOut && !(await parts.approvals.approved(parts.realRoot, real))) {
      const how = isLink || real !== path ? `it is a link to ${real}, outside of the project` : OUT;
      const declined = (await parts.approvals.declined?.(parts.realRoot, real)) === true;
      const why = declined ? 'a person has declined it' : `nobody has approved that; ${REMEDY}`;
      // Whoever has said no need not be told again.
      const skipped = skip(wanted, 'external', `${how}, and ${why}`, { warn: !declined });
      return { ...skipped, realPath: real, ...(declined ? { declined } : {}) };
    }
    return undefined;
  }

  return {
    async locate(wanted) {
      try {
        // Only what is a link has to be looked at twice.
        const look = await fs.lstat(wanted.path);
        const isLink = look?.kind === 'symlink';
        const stat = isLink ? await fs.stat(wanted.path) : look;
        return stat === undefined ? 'absent' : await judge(wanted, { stat, isLink });
      } catch (thrown) {
        // A folder that is shut may have none of it; one that is there for such files has.
        const isThere = basename(dirname(wanted.path)) === '.claude';
        return unreadable(wanted, thrown, { isThere });
      }
    },
    async read(located) {
      const { wanted, real } = located;
      try {
        // By its real path: a link that is turned meanwhile leads nowhere else.
        const bytes = await fs.readBytes(real, { maxBytes: MAX_INSTRUCTION_BYTES });
        const decoded = decode(bytes, { strict: wanted.parent !== undefined });
        if (decoded === undefined) return err(skip(wanted, 'not text', 'it is not text in UTF-8'));
        return ok(decoded);
      } catch (thrown) {
        return err(unreadable(wanted, thrown, { isThere: true }));
      }
    },
  };
}

const OUT = 'it is outside of the project';
const REMEDY = '`portcullis context approve <path>` does';

export function skip(
  { path, scope, parent }: Wanted,
  kind: SkipKind,
  reason: string,
  { warn }: { warn: boolean } = { warn: true },
): SkippedInstruction {
  return { path, scope, kind, reason, warn, parent };
}

/**
 * fail-closed: an instruction file of the project, the user or the administrator that is shut may hold
 * restrictions. What a text only names, and what lies above the project, may be anybody's.
 */
export function unreadable(
  wanted: Wanted,
  thrown: unknown,
  { isThere }: { readonly isThere: boolean },
): SkippedInstruction {
  const skipped = skip(wanted, 'unreadable', messageOf(thrown));
  const isElsewhere = wanted.parent !== undefined || wanted.aboveProject === true;
  const isShut = isThere && SHUT.includes(systemCodeOf(thrown) ?? '');
  return isShut && !isElsewhere ? { ...skipped, mayRestrict: true } : skipped;
}

const SHUT: readonly string[] = ['EACCES', 'EPERM', 'EIO'];

export function isLocated(sought: Sought): sought is Located {
  return sought !== 'absent' && 'real' in sought;
}

/** By another file, or by where a session went: a person may have chosen to hide it. */
function wasChosen({ parent, nested }: Wanted): boolean {
  return parent !== undefined || nested === true;
}

const exact = new TextDecoder('utf-8', { fatal: true });
const lenient = new TextDecoder('utf-8');

/** What stands in an instruction file by mistake is replaced; what an include fetches must be text. */
function decode(bytes: Uint8Array, { strict }: { strict: boolean }): InstructionText | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return { text: unixLines(exact.decode(bytes)), notes: [] };
  } catch {
    const notes = ['it is not UTF-8 throughout; what cannot be read is replaced'];
    return strict ? undefined : { text: unixLines(lenient.decode(bytes)), notes };
  }
}

function unixLines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
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
