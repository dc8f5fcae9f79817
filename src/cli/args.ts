import { editDistance, nearest } from '../util/nearest.js';
import { own } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';
import { FLAGS, type FlagSpec } from './flags.js';

export interface ParsedArgs {
  readonly switches: ReadonlySet<string>;
  /** By flag name: one value, or all of a list or repeated flag. An optional value left out is ''. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  /** The words after a bare `--`. */
  readonly rest: readonly string[] | undefined;
  readonly warnings: readonly string[];
}

/** Distance from which an unknown flag is taken for a misspelling of one that restricts. */
const NEAR_MISS = 2;

/**
 * Parses `--flag value` and `--flag=value` alike, empty values included. A wrong value of a known flag
 * is an error, and so is an unknown flag. Only for a program that drives us it is a warning, so that
 * newer clients can start us, unless it looks like a misspelt restriction.
 */
export function parseArgs(argv: readonly string[]): Result<ParsedArgs, string> {
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const warnings: string[] = [];
  let rest: string[] | undefined;
  const isDriven = isDrivenBy(argv);
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') {
      rest = argv.slice(i + 1);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const { spec, name, inline } = lookUp(word);
    if (spec === undefined) {
      const problem = unknownFlag(word, name);
      if (!isDriven || problem.isFatal) return err(problem.text);
      warnings.push(`${problem.text}; it is ignored`);
      // Its value must not become a prompt.
      const next = argv[i + 1];
      if (inline === undefined && next !== undefined && !next.startsWith('-')) i++;
      continue;
    }
    // fail-closed: a flag that would change who acts is not ignored.
    if (spec.notYet === 'refused') return err(`--${spec.name} is not available yet`);
    if (spec.notYet === 'loud') warnings.push(`--${spec.name} has no effect yet`);
    if (spec.kind === 'switch') {
      if (inline !== undefined && inline !== 'true') return err(`--${spec.name} takes no value`);
      switches.add(spec.name);
      continue;
    }
    const taken = takeValues(spec, inline, argv.slice(i + 1));
    if (!taken.ok) return taken;
    i += taken.value.used;
    const known = values.get(spec.name) ?? [];
    const replaces = spec.kind === 'value' || spec.kind === 'optional-value';
    values.set(spec.name, replaces ? [...taken.value.values] : [...known, ...taken.value.values]);
  }
  return ok({ switches, values, positionals, rest, warnings });
}

function lookUp(word: string): {
  spec: FlagSpec | undefined;
  name: string;
  inline: string | undefined;
} {
  const equals = word.indexOf('=');
  const flag = equals < 0 ? word : word.slice(0, equals);
  const inline = equals < 0 ? undefined : word.slice(equals + 1);
  const name = flag.replace(/^--?/, '');
  const spec = flag.startsWith('--')
    ? FLAGS.find((row) => row.name === name || row.aliases?.includes(name) === true)
    : FLAGS.find((row) => row.short === name);
  return { spec, name, inline };
}

function takeValues(
  spec: FlagSpec,
  inline: string | undefined,
  following: readonly string[],
): Result<{ values: readonly string[]; used: number }, string> {
  if (inline !== undefined) return checked(spec, [inline], 0);
  const next = following[0];
  if (spec.kind === 'optional-value') {
    return next === undefined || next.startsWith('-')
      ? ok({ values: [''], used: 0 })
      : checked(spec, [next], 1);
  }
  if (next === undefined)
    return err(`--${spec.name} needs a value: --${spec.name} <${spec.value ?? 'value'}>`);
  // A value may itself begin with a dash (a negative number, a prompt); only a known flag ends it.
  if (isKnownFlag(next)) return err(`--${spec.name} needs a value, but the flag ${next} follows`);
  if (spec.kind !== 'list') return checked(spec, [next], 1);
  const end = following.findIndex(
    (word, index) => index > 0 && (word.startsWith('-') || word === ''),
  );
  const words = following.slice(0, end < 0 ? following.length : end);
  return checked(spec, words, words.length);
}

function isKnownFlag(word: string): boolean {
  return (
    word === '--' || (word.startsWith('-') && word.length > 1 && lookUp(word).spec !== undefined)
  );
}

function checked(
  spec: FlagSpec,
  values: readonly string[],
  used: number,
): Result<{ values: readonly string[]; used: number }, string> {
  const wrong =
    spec.choices === undefined ? undefined : values.find((value) => !spec.choices?.includes(value));
  if (wrong === undefined) return ok({ values, used });
  const why = own(spec.refusedValues ?? {}, wrong);
  if (why !== undefined) return err(`--${spec.name}: "${wrong}" is not available: ${why}`);
  const meant = nearest(wrong, spec.choices ?? []);
  return err(
    `--${spec.name}: "${wrong}" is not one of ${spec.choices?.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}

/** A program drives us: prompts are frames, and no word of the command line is one. */
export function isDrivenBy(argv: readonly string[]): boolean {
  return argv.some(
    (word, index) =>
      word === '--input-format=stream-json' ||
      (word === '--input-format' && argv[index + 1] === 'stream-json'),
  );
}

function unknownFlag(word: string, name: string): { readonly text: string; isFatal: boolean } {
  const names = FLAGS.flatMap((row) => [row.name, ...(row.aliases ?? [])]);
  const close = word.startsWith('--') ? nearest(name, names) : undefined;
  const spec = FLAGS.find(
    (row) => row.name === close || row.aliases?.includes(close ?? '') === true,
  );
  // fail-closed: a misspelt restriction must not be ignored.
  const isFatal =
    spec?.restricts === true && close !== undefined && editDistance(name, close) <= NEAR_MISS;
  const hint = close === undefined ? '' : `; did you mean --${close}?`;
  return { text: `unknown flag ${word.split('=')[0]}${hint}`, isFatal };
}
