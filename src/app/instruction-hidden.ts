import type { EnforcedHold } from '../context/enforced/policy.js';
import type { InstructionBook } from '../context/instructions/book.js';
import { skip } from '../context/instructions/reader.js';
import type {
  LoadedFiles,
  LoadedInstruction,
  SkippedInstruction,
} from '../context/instructions/types.js';
import { hiddenBy, type IsHidden } from '../permissions/paths/hidden-files.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { dirname } from '../platform/fs/paths.js';
import type { SourcedRule } from '../settings/types.js';
import type { CompileEnforced } from './instruction-rules.js';

export interface NearHidingParts {
  readonly book: Pick<InstructionBook, 'enforcedNear'>;
  readonly compile: CompileEnforced;
  readonly hold: EnforcedHold;
  readonly fs: FileSystem;
  readonly home: string;
}

/**
 * What the files on the way to a path keep from being read, for one search or listing: each directory
 * is looked at once. Rules that hold for some files only are not among them.
 */
export function nearHiding(
  { book, compile, hold, fs, home }: NearHidingParts,
  { roots }: { readonly roots: readonly string[] },
): IsHidden {
  const call = {};
  const byDirectory = new Map<string, Promise<IsHidden | undefined>>();
  const byRules = new Map<string, IsHidden | undefined>();
  const inDirectory = async (directory: string): Promise<IsHidden | undefined> => {
    const look = { kindOf: () => 'directory' as const, call };
    const found = hold.with(await book.enforcedNear([directory], look));
    const rules = [...found.deny, ...found.ask];
    if (rules.length + found.problems.length === 0) return undefined;
    const key = JSON.stringify([rules.map(nameOf), found.problems]);
    if (byRules.has(key)) return byRules.get(key);
    const compiled = compile(found);
    const isBroken = [...found.problems, ...compiled.problems].some(
      ({ severity }) => severity === 'fatal',
    );
    // fail-closed: a restriction that cannot be honoured may have been one on these files.
    const isHidden = isBroken ? async () => true : hiddenBy(compiled.rules, { fs, roots, home });
    byRules.set(key, isHidden);
    return isHidden;
  };
  return async (path) => {
    const directory = dirname(path);
    const looked = byDirectory.get(directory) ?? inDirectory(directory);
    byDirectory.set(directory, looked);
    return (await (await looked)?.(path)) === true;
  };
}

function nameOf({ value, file, line }: SourcedRule): readonly unknown[] {
  return [value.text, value.root, file, line];
}

/** Files without those that are kept from somebody, and without what only those bring in. */
export async function withoutHiddenFiles(
  { files, skipped }: LoadedFiles,
  isKept: (file: LoadedInstruction) => Promise<boolean>,
): Promise<LoadedFiles> {
  const shown: LoadedInstruction[] = [];
  const left: SkippedInstruction[] = [];
  const kept = new Set<string>();
  for (const file of files) {
    const isBelow = file.parent !== undefined && kept.has(file.parent);
    if (!isBelow && !(await isKept(file))) {
      shown.push(file);
      continue;
    }
    kept.add(file.path);
    left.push(skip(file, 'hidden', 'a permission rule keeps it from being read'));
  }
  return left.length === 0 ? { files, skipped } : { files: shown, skipped: [...skipped, ...left] };
}

/** Whether somebody chose to show a file, or it says itself that it counts; rules hide only the former. */
export async function wasChosen(
  { scope, parent, loadReason, path }: LoadedInstruction,
  fs: Pick<FileSystem, 'lstat'>,
): Promise<boolean> {
  if (scope === 'managed') return false;
  if (parent !== undefined || loadReason === 'nested_traversal') return true;
  try {
    return (await fs.lstat(path))?.kind === 'symlink';
  } catch {
    // fail-closed: what cannot be looked at may be a link to anything.
    return true;
  }
}
