import { own } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { editDistance, nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
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

/** Edit distance up to which an unknown flag counts as a misspelt restricting one. */
const NEAR_MISS = 2;

/**
 * Parses the main command line: a table over a few lines, because every start pays for them and not for a
 * library. `--flag value` and `--flag=value` are the same, empty values included. An unknown flag is an error;
 * for a program that drives the session it is a warning, so that newer clients can start us, unless it looks
 * like a misspelt restriction.
 */
export function parseArgs(argv: readonly string[]): Result<ParsedArgs, string> {
  const switches = new Set<string>();
  const values = new Map<string, readonly string[]>();
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
      if (inline === undefined && argv[i + 1]?.startsWith('-') === false) i++;
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
    const taken = inline === undefined ? takeValues(spec, argv.slice(i + 1)) : ok([inline]);
    if (!taken.ok) return taken;
    const wrong = wrongChoice(spec, taken.value);
    if (wrong !== undefined) return err(wrong);
    if (inline === undefined) i += taken.value.length;
    const adds = spec.kind === 'list' || spec.kind === 'repeat';
    const given = taken.value.length === 0 ? [''] : taken.value;
    values.set(spec.name, [...(adds ? (values.get(spec.name) ?? []) : []), ...given]);
  }
  return ok({ switches, values, positionals, rest, warnings });
}

function lookUp(word: string) {
  const equals = word.indexOf('=');
  const flag = equals < 0 ? word : word.slice(0, equals);
  const inline = equals < 0 ? undefined : word.slice(equals + 1);
  const name = flag.replace(/^--?/, '');
  const spec = flag.startsWith('--')
    ? FLAGS.find((row) => row.name === name || row.aliases?.includes(name) === true)
    : FLAGS.find((row) => row.short === name);
  return { spec, name, inline };
}

/** The words that belong to a flag; none where an optional value is left out. */
function takeValues(spec: FlagSpec, words: readonly string[]): Result<readonly string[], string> {
  const [next] = words;
  if (spec.kind === 'optional-value')
    return ok(next === undefined || next.startsWith('-') ? [] : [next]);
  if (next === undefined)
    return err(`--${spec.name} needs a value: --${spec.name} <${spec.value ?? 'value'}>`);
  // A value may itself begin with a dash (a negative number, a prompt); only a known flag ends it.
  if (next === '--' || (next.startsWith('-') && next !== '-' && lookUp(next).spec !== undefined))
    return err(`--${spec.name} needs a value, but the flag ${next} follows`);
  if (spec.kind !== 'list') return ok([next]);
  const end = words.findIndex((word, at) => at > 0 && (word.startsWith('-') || word === ''));
  return ok(words.slice(0, end < 0 ? words.length : end));
}

function wrongChoice(spec: FlagSpec, values: readonly string[]): string | undefined {
  const { choices = [], refusedValues = {} } = spec;
  const wrong = values.find((value) => choices.length > 0 && !choices.includes(value));
  if (wrong === undefined) return undefined;
  const why = own(refusedValues, wrong);
  if (why !== undefined) return `--${spec.name}: "${wrong}" is not available: ${why}`;
  const meant = nearest(wrong, choices);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `--${spec.name}: "${visible(wrong)}" is not one of ${choices.join(', ')}${hint}`;
}

/** Whether a program drives the session: prompts are frames, and no word of the command line is one. */
export function isDrivenBy(argv: readonly string[]): boolean {
  // What follows a bare -- is a prompt.
  const flags = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return flags.some(
    (word, index) =>
      word === '--input-format=stream-json' ||
      (word === '--input-format' && flags[index + 1] === 'stream-json'),
  );
}

function unknownFlag(word: string, name: string): { readonly text: string; isFatal: boolean } {
  const rows = FLAGS.flatMap((spec) =>
    [spec.name, ...(spec.aliases ?? [])].map((known) => ({ spec, known, plain: plain(known) })),
  );
  // A name of one letter is near to every other.
  const isLong = word.startsWith('--') || name.length > 2;
  const close = isLong
    ? nearest(
        plain(name),
        rows.map((row) => row.plain),
      )
    : undefined;
  const meant = rows.find((row) => row.plain === close);
  // fail-closed: a misspelt restriction must not be ignored.
  const isFatal =
    meant?.spec.restricts === true && editDistance(plain(name), meant.plain) <= NEAR_MISS;
  const hint = meant === undefined ? '' : `; did you mean --${meant.known}?`;
  return { text: `unknown option '${visible(word.split('=')[0] ?? '')}'${hint}`, isFatal };
}

/** `--strictMcpConfig`, `-strict-mcp-config` and `--STRICT_MCP_CONFIG` are one name, wrongly written. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
