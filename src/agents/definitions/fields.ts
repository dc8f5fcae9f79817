import { BANS, canonicalName, isNearName } from '../../lib/field-names.js';
import type { DoubtfulLine } from '../../lib/frontmatter.js';
import { firstWord } from '../../lib/tolerant-head.js';
import { oneLine } from '../../skills/discovery/names.js';
import { type AgentFinding, DEFAULT_FIELDS, type DefinitionFields } from './definition.js';
import { typeProblem } from './names.js';
import { didYouMean, FIELDS, type FieldName, type FieldValue, OWN_NAMES } from './schema.js';

/** What a definition is read from: the head of a file, or an object of a host. */
export interface WrittenFields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** False: not what YAML allows, and read line by line. */
  readonly isExact: boolean;
  /** Written, but nobody can say what they mean. */
  readonly unclear: readonly string[];
  lineOf(written: string, inner?: string): number | undefined;
}

export interface FieldOptions {
  /** In a file the text below the head is the prompt. */
  readonly isFile: boolean;
  readonly knownTools: readonly string[];
}

export interface ReadFields {
  /** The type, where it is clear, also of a definition that is not whole. */
  readonly name: string | undefined;
  /** Absent where there is an error. */
  readonly fields?: DefinitionFields;
  readonly findings: readonly AgentFinding[];
}

/** fail-closed: a field that holds back and is not understood takes the whole definition out. */
export function readFields(written: WrittenFields, options: FieldOptions): ReadFields {
  const reader = new FieldReader(written, options);
  const fields = reader.read();
  const { name } = reader;
  const findings = reader.told();
  const isWhole = !findings.some(({ severity }) => severity === 'error');
  return { name, findings, ...(isWhole ? { fields } : {}) };
}

/** Of one file. */
const MOST_FINDINGS = 20;

class FieldReader {
  readonly findings: AgentFinding[] = [];
  name: string | undefined;
  #untold = 0;
  readonly #written: WrittenFields;
  readonly #options: FieldOptions;
  readonly #fields = new Map<string, { readonly value: unknown; readonly written: string }>();

  constructor(written: WrittenFields, options: FieldOptions) {
    this.#written = written;
    this.#options = options;
    for (const [name, value] of Object.entries(written.fields)) this.#take(name, value);
    for (const name of written.unclear) this.#takeUnclear(name);
  }

  read(): DefinitionFields {
    this.#readName();
    const description = this.#value('description');
    if (description === undefined) this.#error('name', 'it has no description');
    const own = this.#value('portcullis') ?? {};
    const isolation = this.#value('isolation');
    const workspace = own.workspace ?? { kind: isolation === 'worktree' ? 'worktree' : 'inherit' };
    const background = this.#value('background') ?? false;
    if (isolation === 'worktree' && workspace.kind !== 'worktree') {
      this.#error('isolation', '"isolation" and "portcullis.workspace" contradict each other');
    }
    if (background && own.foregroundOnly === true) {
      this.#error('background', '"background" and "portcullis.foreground-only" exclude each other');
    }
    return {
      ...DEFAULT_FIELDS,
      ...own,
      name: this.name ?? '',
      description: description ?? '',
      tools: this.#value('tools'),
      disallowedTools: this.#value('disallowedTools') ?? [],
      model: this.#value('model'),
      effort: this.#value('effort'),
      permissionMode: this.#value('permissionMode'),
      maxTurns: this.#value('maxTurns'),
      skills: this.#value('skills') ?? [],
      mcpServers: this.#value('mcpServers') ?? [],
      hooks: this.#value('hooks'),
      memory: this.#value('memory'),
      background,
      isolation: workspace.kind === 'worktree' ? 'worktree' : undefined,
      color: this.#value('color'),
      initialPrompt: this.#value('initialPrompt'),
      omitInstructions: this.#value('omitClaudeMd') ?? false,
      workspace,
    };
  }

  #take(written: string, value: unknown): void {
    const field = knownField(written);
    const at = this.#written.lineOf(written);
    if (field === undefined) {
      this.#passOver(written, at);
      return;
    }
    if (WITHOUT_EFFECT.includes(field)) {
      this.#find('warning', at, `"${field}" has no effect here`);
      return;
    }
    if (field === 'prompt' && this.#options.isFile) {
      this.#find('warning', at, 'the prompt of an agent is the text below the head, not "prompt"');
      return;
    }
    const other = this.#fields.get(field);
    if (other !== undefined) {
      const severity = isHarmless(field) ? 'warning' : 'error';
      this.#find(severity, at, `"${written}" and "${other.written}" are the same field`);
      if (other.written === field) return;
    }
    const isNothing = value === null || (typeof value === 'string' && value.trim() === '');
    // fail-closed: where lines were passed over, its value may have been among them.
    if (!this.#written.isExact && LIMITS.includes(field) && isNothing) {
      this.#find('error', at, `"${written}" has no value that can be understood`);
    }
    this.#fields.set(field, { value, written });
  }

  #passOver(written: string, at: number | undefined): void {
    const limit = limitMeant(written);
    if (limit === undefined && this.#isFull()) {
      this.#untold++;
      return;
    }
    const hint = limit === undefined ? didYouMean(written, DEFINITION_FIELDS) : `; ${limit}`;
    // fail-closed: whoever wrote it wanted a limit, and without one the agent may do more.
    const severity = limit === undefined ? 'warning' : 'error';
    this.#find(severity, at, `"${oneLine(written)}" is not a field of an agent${hint}`);
  }

  #takeUnclear(written: string): void {
    // A single word with a colon behind it may stand in any text.
    const near = isCompound(written) ? nearLimit(written) : undefined;
    const field = knownField(written) ?? near;
    if (field === undefined) return;
    const severity = isHarmless(field) ? 'warning' : 'error';
    this.#find(severity, this.#written.lineOf(written), `"${written}" cannot be understood`);
  }

  #readName(): void {
    const name = this.#value('name')?.normalize('NFC');
    const isEmpty = this.#fields.has('name') ? 'the name is empty' : undefined;
    const problem = name === undefined ? isEmpty : typeProblem(name);
    if (problem !== undefined) this.#error('name', problem);
    else this.name = name;
  }

  /** What a field says; undefined: it is absent, or wrong, which is told. */
  #value<Name extends FieldName>(field: Name): FieldValue<Name> {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const { knownTools } = this.#options;
    const { isExact, lineOf } = this.#written;
    const read = FIELDS[field].read(found.value, { knownTools, isExact }, field);
    for (const { severity, message, inner, told } of read.findings ?? []) {
      const line = lineOf(found.written, inner);
      if (told === true) this.findings.push({ severity, line, message, told });
      else this.#find(severity, line, message);
    }
    return read.value as FieldValue<Name>;
  }

  #error(field: string, message: string): void {
    this.#find('error', this.#written.lineOf(this.#fields.get(field)?.written ?? field), message);
  }

  #find(severity: AgentFinding['severity'], line: number | undefined, message: string): void {
    // An error that takes the definition out is told, however much there is.
    const isNew = severity === 'error' && !this.findings.some((one) => one.severity === 'error');
    if (this.#isFull() && !isNew) this.#untold++;
    else this.findings.push({ severity, line, message });
  }

  /** So that one file cannot fill a list, nor take long by what is wrong with it. */
  #isFull(): boolean {
    return this.findings.length >= MOST_FINDINGS;
  }

  told(): readonly AgentFinding[] {
    if (this.#untold === 0) return this.findings;
    const message = `${this.#untold} more like these are not listed`;
    return [...this.findings, { severity: 'warning', message }];
  }
}

export const DEFINITION_FIELDS: readonly string[] = Object.keys(FIELDS);

/** Fields that others know and that change nothing here. */
const WITHOUT_EFFECT: readonly string[] = [
  'autoCompactWindow',
  'observer',
  'observerMessage',
  'criticalSystemReminder_EXPERIMENTAL',
];

const fieldsOf = (role: 'limit' | 'harmless'): readonly string[] =>
  Object.entries(FIELDS).flatMap(([name, spec]) =>
    'role' in spec && spec.role === role ? [name] : [],
  );
const LIMITS = fieldsOf('limit');
const HARMLESS = [...fieldsOf('harmless'), ...WITHOUT_EFFECT];

function isHarmless(field: string): boolean {
  return HARMLESS.includes(field);
}

const byPlainName = new Map<string, string>([
  ...[...DEFINITION_FIELDS, ...WITHOUT_EFFECT].map(
    (field) => [canonicalName(field), field] as const,
  ),
  ['omitinstructions', 'omitClaudeMd'],
]);

/** The documented name of a field, in whichever way it is written. */
export function knownField(written: string): string | undefined {
  return byPlainName.get(canonicalName(written));
}

/** The limit that an unknown field was meant to be, as a remedy; undefined when it was none. */
function limitMeant(written: string): string | undefined {
  const name = canonicalName(written);
  if (name.length > LONGEST) return undefined;
  const [first = '', ...inner] = name.split(/[.:/]/);
  if (inner.length > 0 && isNearName(first, 'portcullis', LONG)) {
    return `write "${oneLine(inner.join('.'))}" in a map below "portcullis:"`;
  }
  const ours = OWN_NAMES.find((one) => canonicalName(one) === name);
  if (ours !== undefined) return `"${ours}" stands below "portcullis:"`;
  const close = nearLimit(name);
  return close === undefined ? undefined : `the field is called ${close}`;
}

/** The limit that a name is a mistake or two away from, or another word for. */
function nearLimit(written: string): string | undefined {
  const name = canonicalName(written);
  if (name.length > LONGEST) return undefined;
  const close = spellings.find((one) => isNearName(name, one.plain, LONG))?.field;
  return close ?? (BANS.test(name) ? 'disallowedTools' : undefined);
}

/** Several words in one, as no sentence has them. */
function isCompound(word: string): boolean {
  return /[a-z][A-Z]|[-_]/.test(word);
}

/** More is no slip of the pen. */
const LONGEST = 40;
/** Shorter names are as near to other words. */
const LONG = 10;

const spellings = [
  ...LIMITS.map((field) => ({ field, plain: canonicalName(field) })),
  // Of skills, which call it so.
  { field: 'tools', plain: 'allowedtools' },
  { field: 'tools', plain: 'fencetools' },
];

/** A line of a head that was read line by line, of which nothing was taken. */
export interface LostLimit {
  /** The limit that it begins or goes on with. */
  readonly field: string;
  /** From 1, in the file. */
  readonly line: number;
}

/**
 * Limits that the reader of lines has passed over: a line that names one without being `field: value`
 * (`maxTurns = 3`), and one at the left edge below a limit that is no part of its value. Other lines
 * are mostly a description that goes on at the left edge.
 */
export function unparsedLimits(
  doubtful: readonly DoubtfulLine[],
  knownTools: readonly string[],
): readonly LostLimit[] {
  const found: LostLimit[] = [];
  for (const { text, line, below } of doubtful) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const above = below === undefined || CONTINUED.test(text) ? undefined : limitOf(below);
    const lost = limitNamed(text, knownTools) ?? above;
    if (lost !== undefined) found.push({ field: lost, line });
    if (found.length >= MOST) break;
  }
  return found;
}

const MOST = 5;
const CONTINUED = /^(?:[ \t]|-(?: |$))/;
const VALUES: ReadonlySet<string> = new Set(['worktree', 'none', 'asks', 'budget', 'workspace']);

function limitOf(name: string): string | undefined {
  return LIMITS.find((one) => canonicalName(one) === canonicalName(name)) ?? nearLimit(name);
}

function limitNamed(line: string, knownTools: readonly string[]): string | undefined {
  const { word, rest, isSeparated } = firstWord(line);
  const limit = word === '' ? undefined : limitOf(word);
  if (limit === undefined) return undefined;
  // Many a sentence begins with "tools" and the like.
  if (isCompound(word) || isSeparated) return limit;
  const next = /^\s+["'[]?([\w*]+)/.exec(rest)?.[1] ?? '';
  return VALUES.has(next) || knownTools.includes(next) ? limit : undefined;
}
