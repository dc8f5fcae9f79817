import { BANS, canonicalName, isNearName } from '../../lib/frontmatter/fields.js';
import type { DoubtfulLine } from '../../lib/frontmatter/head-text.js';
import { firstWord } from '../../lib/frontmatter/tolerant-head.js';
import { oneLine } from '../../skills/discovery/names.js';
import {
  type AgentFinding,
  DEFAULT_FIELDS,
  type DefinitionFields,
  type FieldContext,
} from './definition.js';
import { typeProblem } from './names.js';
import { didYouMean, FIELDS, type FieldName, type FieldValue, OWN_NAMES } from './schema.js';

/** The source of a definition: the front matter of a file, or an object of a host. */
export interface WrittenFields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** False: invalid YAML, read line by line. */
  readonly isExact: boolean;
  /** Fields whose value is ambiguous. */
  readonly unclear: readonly string[];
  lineOf(written: string, inner?: string): number | undefined;
}

export interface FieldOptions {
  /** In a file the text below the front matter is the prompt. */
  readonly isFile: boolean;
  readonly knownTools: readonly string[];
}

export interface ReadFields {
  /** The type name if it is clear, also of an invalid definition. */
  readonly name: string | undefined;
  readonly fields?: DefinitionFields | undefined;
  readonly findings: readonly AgentFinding[];
}

/** fail-closed: a restricting field that cannot be understood disables the whole definition. */
export function readFields(written: WrittenFields, options: FieldOptions): ReadFields {
  const reader = new FieldReader(written, options);
  const fields = reader.read();
  const isWhole = !reader.findings.some(({ severity }) => severity === 'error');
  return {
    name: reader.name,
    fields: isWhole ? fields : undefined,
    findings: fewFindings(reader.findings),
  };
}

/** Limit, so that one file cannot fill a list. */
const MOST_FINDINGS = 20;

/** The first findings and all shown to people, always including an error that disables the definition. */
function fewFindings(findings: readonly AgentFinding[]): readonly AgentFinding[] {
  const error = findings.find(({ severity }) => severity === 'error');
  const shown = findings.filter((one, at) => at < MOST_FINDINGS || one === error || one.told);
  const more = findings.length - shown.length;
  if (more === 0) return findings;
  return [...shown, { severity: 'warning', message: `${more} more like these are not listed` }];
}

class FieldReader {
  readonly findings: AgentFinding[] = [];
  name: string | undefined;
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
    const tell = (severity: AgentFinding['severity'], message: string) =>
      this.#find({ severity, line: this.#written.lineOf(written), message });
    if (field === undefined) {
      const limit = limitMeant(written);
      const isTold = limit !== undefined || this.findings.length < MOST_FINDINGS;
      const hint = isTold ? (limit ?? didYouMean(written, DEFINITION_FIELDS)) : '';
      // fail-closed: the author wanted a restriction, and without it the agent could do more.
      const severity = limit === undefined ? 'warning' : 'error';
      tell(severity, `"${oneLine(written)}" is not a field of an agent${hint}`);
      return;
    }
    if (WITHOUT_EFFECT.includes(field)) {
      tell('warning', `"${field}" has no effect here`);
      return;
    }
    if (field === 'prompt' && this.#options.isFile) {
      tell('warning', 'the prompt of an agent is the text below the head, not "prompt"');
      return;
    }
    const other = this.#fields.get(field);
    if (other !== undefined) {
      tell(severityOf(field), `"${written}" and "${other.written}" are the same field`);
      if (other.written === field) return;
    }
    const isNothing = value === null || (typeof value === 'string' && value.trim() === '');
    // fail-closed: the value may have been in the lines that the reader skipped.
    if (!this.#written.isExact && LIMITS.includes(field) && isNothing) {
      tell('error', `"${written}" has no value that can be understood`);
    }
    this.#fields.set(field, { value, written });
  }

  #takeUnclear(written: string): void {
    // Single words followed by a colon occur in ordinary text.
    const near = isCompound(written) ? nearLimit(written) : undefined;
    const field = knownField(written) ?? near;
    if (field === undefined) return;
    const line = this.#written.lineOf(written);
    this.#find({ severity: severityOf(field), line, message: `"${written}" cannot be understood` });
  }

  #readName(): void {
    const name = this.#value('name')?.normalize('NFC');
    const isEmpty = this.#fields.has('name') ? 'the name is empty' : undefined;
    const problem = name === undefined ? isEmpty : typeProblem(name);
    if (problem !== undefined) this.#error('name', problem);
    else this.name = name;
  }

  /** The parsed value of a field; undefined when it is absent or wrong, which is reported. */
  #value<Name extends FieldName>(field: Name): FieldValue<Name> | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const lineOf = (inner: string | undefined) => this.#written.lineOf(found.written, inner);
    const context: FieldContext = {
      field,
      knownTools: this.#options.knownTools,
      isExact: this.#written.isExact,
      error: (message, inner) => this.#find({ severity: 'error', line: lineOf(inner), message }),
      warn: (message, { inner, ...more } = {}) =>
        this.#find({ severity: 'warning', line: lineOf(inner), message, ...more }),
    };
    return FIELDS[field].read(found.value, context) as FieldValue<Name>;
  }

  #error(field: string, message: string): void {
    const line = this.#written.lineOf(this.#fields.get(field)?.written ?? field);
    this.#find({ severity: 'error', line, message });
  }

  #find(finding: AgentFinding): undefined {
    this.findings.push(finding);
    return undefined;
  }
}

export const DEFINITION_FIELDS: readonly string[] = Object.keys(FIELDS);

/** Fields of other programs that have no effect here. */
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

function severityOf(field: string): AgentFinding['severity'] {
  return HARMLESS.includes(field) ? 'warning' : 'error';
}

const byPlainName = new Map<string, string>([
  ...[...DEFINITION_FIELDS, ...WITHOUT_EFFECT].map(
    (field) => [canonicalName(field), field] as const,
  ),
  ['omitinstructions', 'omitClaudeMd'],
]);

/** The documented name of a field, in any spelling of case and separators. */
export function knownField(written: string): string | undefined {
  return byPlainName.get(canonicalName(written));
}

/** A remedy when an unknown field was probably meant as a restriction; undefined otherwise. */
function limitMeant(written: string): string | undefined {
  const name = canonicalName(written);
  if (name.length > LONGEST) return undefined;
  const [first = '', ...inner] = name.split(/[.:/]/);
  if (inner.length > 0 && isNearName(first, 'portcullis', LONG)) {
    return `; write "${oneLine(inner.join('.'))}" in a map below "portcullis:"`;
  }
  const ours = OWN_NAMES.find((one) => canonicalName(one) === name);
  if (ours !== undefined) return `; "${ours}" belongs below "portcullis:"`;
  const close = nearLimit(name);
  return close === undefined ? undefined : `; the field is called ${close}`;
}

/** The restricting field that a name misspells or paraphrases. */
function nearLimit(written: string): string | undefined {
  const name = canonicalName(written);
  if (name.length > LONGEST) return undefined;
  const close = spellings.find((one) => isNearName(name, one.plain, LONG))?.field;
  return close ?? (BANS.test(name) ? 'disallowedTools' : undefined);
}

/** Compound words do not occur in ordinary sentences. */
function isCompound(word: string): boolean {
  return /[a-z][A-Z]|[-_]/.test(word);
}

/** Longer names are not considered misspellings. */
const LONGEST = 40;
/** Shorter names resemble too many other words. */
const LONG = 10;

const spellings = [
  ...LIMITS.map((field) => ({ field, plain: canonicalName(field) })),
  // The names of this field in skills.
  { field: 'tools', plain: 'allowedtools' },
  { field: 'tools', plain: 'fencetools' },
];

const MOST_UNPARSED = 5;

/**
 * Restricting fields that the line reader could not parse: a line that names one without `field: value`
 * (`maxTurns = 3`), or an unindented line below one that is no part of its value. Other such lines
 * mostly continue a description. fail-closed: each disables the definition.
 */
export function unparsedLimits(
  doubtful: readonly DoubtfulLine[],
  knownTools: readonly string[],
): readonly AgentFinding[] {
  const found: AgentFinding[] = [];
  for (const { text, line, below } of doubtful) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const above = below === undefined || /^(?:[ \t]|-(?: |$))/.test(text) ? '' : below;
    const field = limitNamed(text, knownTools) ?? nearLimit(above);
    if (field === undefined) continue;
    const message = `a line about "${field}" cannot be understood; write "${field}: value"`;
    found.push({ severity: 'error', line, message });
  }
  return found.slice(0, MOST_UNPARSED);
}

const VALUES: ReadonlySet<string> = new Set(['worktree', 'none', 'asks', 'budget', 'workspace']);

function limitNamed(line: string, knownTools: readonly string[]): string | undefined {
  const { word, rest, isSeparated } = firstWord(line);
  const limit = nearLimit(word);
  if (limit === undefined) return undefined;
  // Ordinary sentences may begin with "tools" and similar words.
  if (isCompound(word) || isSeparated) return limit;
  const next = /^\s+["'[]?([\w*]+)/.exec(rest)?.[1] ?? '';
  return VALUES.has(next) || knownTools.includes(next) ? limit : undefined;
}
