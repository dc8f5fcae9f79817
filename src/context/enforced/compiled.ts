import { originOf } from '../../lib/sourced.js';
import { hiddenBy, type IsHidden } from '../../permissions/paths/hidden-files.js';
import type { RuleSet } from '../../permissions/rules/rule.js';
import { parseRules } from '../../permissions/rules/rules.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname } from '../../platform/fs/paths.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { refuseBroken } from '../../settings/files/load.js';
import { type ConfigProblem, describeProblem, type SourcedRule } from '../../settings/types.js';
import type { InstructionBook } from '../instructions/book.js';
import { skip } from '../instructions/reader.js';
import type { LoadedFiles, LoadedInstruction, SkippedInstruction } from '../instructions/types.js';
import type { EnforcedRules } from './enforced.js';
import { type EnforcedHold, mergeEnforced } from './policy.js';

type Texts = Pick<EnforcedRules, 'deny' | 'ask'>;

interface Compiled {
  readonly rules: RuleSet;
  readonly problems: readonly ConfigProblem[];
}

export type CompileEnforced = (rules: Texts) => Compiled;

/** A path in a project's file is seen from the directory that the file speaks for, wherever work began. */
export function enforcedCompiler(cwd: string, home: string): CompileEnforced {
  const placeOf = ({ source, value }: SourcedRule): string =>
    source === 'project' || source === 'local' ? value.root : cwd;
  return ({ deny, ask }) => {
    const places = [...new Set([...deny, ...ask].map(placeOf))];
    const parts = places.map((place) => {
      const isHere = (rule: SourcedRule): boolean => placeOf(rule) === place;
      const texts = { allow: [], deny: deny.filter(isHere), ask: ask.filter(isHere) };
      return parseRules(texts, { cwd: place, home });
    });
    return {
      rules: {
        allow: [],
        deny: parts.flatMap(({ rules }) => rules.deny),
        ask: parts.flatMap(({ rules }) => rules.ask),
      },
      problems: parts.flatMap(({ problems }) => problems),
    };
  };
}

export interface EnforcedInForce {
  /** The same object while nothing changes. */
  rules(): RuleSet;
  /** Looks whether the files say something else by now. */
  refresh(): Promise<void>;
}

/**
 * The restrictions of the files that hold from the start. fail-closed: one that cannot be honoured
 * stops the start; later changes only add, and one that cannot be honoured then causes a warning.
 */
export async function openEnforced(
  config: { emit(news: SessionNews): void },
  parts: {
    readonly book: Pick<InstructionBook, 'enforced' | 'enforcedAgain'>;
    readonly compile: CompileEnforced;
    /** What else was wrong at the start. */
    readonly problems: readonly ConfigProblem[];
  },
): Promise<EnforcedInForce> {
  const { book, compile } = parts;
  const atStart = await book.enforced();
  const started = compile(atStart);
  refuseBroken([...parts.problems, ...atStart.problems, ...started.problems], config.emit);
  let texts: Texts = atStart;
  let rules = started.rules;
  const warn = (text: string): void => config.emit({ type: 'notice', level: 'warning', text });
  const told = new Set<string>();
  return {
    rules: () => rules,
    async refresh() {
      const now = await book.enforcedAgain();
      if (now === undefined) return;
      const { rules: joined, gone } = mergeEnforced(texts, now);
      const compiled = compile(joined);
      const broken = [...now.problems, ...compiled.problems].filter(
        ({ severity }) => severity === 'fatal',
      );
      texts = joined;
      rules = compiled.rules;
      for (const problem of broken) {
        warn(`${describeProblem(problem)} The restrictions of before hold.`);
      }
      for (const rule of gone) {
        const text = `${rule.value.text} (${originOf(rule)})`;
        if (broken.length > 0 || told.has(text)) continue;
        told.add(text);
        warn(`${text} was taken out of its file; it holds until the session ends`);
      }
    },
  };
}

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
export function createHiddenFileCheck(
  { book, compile, hold, fs, home }: NearHidingParts,
  { roots }: { readonly roots: readonly string[] },
): IsHidden {
  const known = new Map();
  const byDirectory = new Map<string, Promise<IsHidden | undefined>>();
  const byRules = new Map<string, IsHidden | undefined>();
  const inDirectory = async (directory: string): Promise<IsHidden | undefined> => {
    const found = hold.with(await book.enforcedNear([directory], known));
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

/** The files without those that rules hide from the reader, and without files that only hidden ones include. */
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

/** Whether a person chose to show the file, instead of the file being found by its name; rules hide only chosen ones. */
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
