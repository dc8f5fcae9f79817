import type { Result } from '../../lib/result.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { PERMISSION_MODES } from '../../protocol/permissions.js';
import { oneLine } from '../../skills/discovery/names.js';
import { booleanOf, listOf, textOf } from '../../skills/head/values.js';
import { bareFields, compact } from './defaults.js';
import { DEFINITION_FIELDS, HARMLESS, knownField, WITHOUT_EFFECT } from './field-names.js';
import { hookFindings } from './hooks.js';
import { typeProblem } from './names.js';
import { bansOf, toolsOf } from './tools.js';
import type { AgentFinding, DefinitionFields } from './types.js';
import { isCompound, LIMITS, limitMeant, nearLimit } from './unknown-fields.js';
import { meant, numberOf, type OwnFields, ownFields, serversOf } from './values.js';

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

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const COLORS = ['red', 'blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan'];
/** Modes that allow no more than any other does. */
export const STRICT_MODES: readonly string[] = ['plan', 'dontAsk'];

/** Of one file. */
const MOST_FINDINGS = 20;

interface Field {
  readonly value: unknown;
  readonly written: string;
}

class FieldReader {
  readonly findings: AgentFinding[] = [];
  name: string | undefined;
  #untold = 0;
  readonly #written: WrittenFields;
  readonly #options: FieldOptions;
  readonly #fields = new Map<string, Field>();

  constructor(written: WrittenFields, options: FieldOptions) {
    this.#written = written;
    this.#options = options;
    for (const [name, value] of Object.entries(written.fields)) this.#take(name, value);
    for (const name of written.unclear) this.#takeUnclear(name);
  }

  read(): DefinitionFields {
    this.#readName();
    const description = this.#text('description');
    if (description === undefined) this.#error('name', 'it has no description');
    const named = { name: this.name ?? '', description: description ?? '' };
    // Most say nothing but what they are called and when to use them.
    if (this.#isBare()) return bareFields(named);
    const own = this.#own();
    const isolation = this.#choice('isolation', ['worktree', 'none'], 'error');
    const workspace = own.workspace ?? { kind: isolation === 'worktree' ? 'worktree' : 'inherit' };
    const background = this.#flag('background') ?? false;
    if (isolation === 'worktree' && workspace.kind !== 'worktree') {
      this.#error('isolation', '"isolation" and "portcullis.workspace" contradict each other');
    }
    if (background && own.foregroundOnly === true) {
      this.#error('background', '"background" and "portcullis.foreground-only" exclude each other');
    }
    return compact({
      ...named,
      tools: this.#tools(),
      disallowedTools: this.#bans(),
      model: this.#text('model'),
      effort: this.#effort(),
      permissionMode: this.#mode(),
      maxTurns: this.#turns(),
      skills: this.#value('skills', listOf) ?? [],
      mcpServers: this.#value('mcpServers', serversOf) ?? [],
      hooks: this.#hooks(),
      memory: this.#choice('memory', ['user', 'project', 'local'], 'error'),
      background,
      isolation: workspace.kind === 'worktree' ? 'worktree' : undefined,
      color: this.#choice('color', COLORS, 'warning'),
      initialPrompt: this.#text('initialPrompt'),
      omitInstructions: this.#flag('omitClaudeMd') ?? false,
      foregroundOnly: own.foregroundOnly ?? false,
      workspace,
      budget: own.budget ?? {},
      asks: own.asks ?? 'bubble',
    });
  }

  #isBare(): boolean {
    for (const field of this.#fields.keys()) {
      if (field !== 'name' && field !== 'description') return false;
    }
    return true;
  }

  #knownTools(): readonly string[] {
    return this.#options.knownTools;
  }

  #take(written: string, value: unknown): void {
    const field = knownField(written);
    const at = this.#lineOf(written);
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
      const severity = HARMLESS.has(field) ? 'warning' : 'error';
      this.#find(severity, at, `"${written}" and "${other.written}" are the same field`);
      if (other.written === field) return;
    }
    // fail-closed: where lines were passed over, its value may have been among them.
    if (!this.#written.isExact && LIMITS.includes(field) && isNothing(value)) {
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
    const hint = limit === undefined ? meant(written, DEFINITION_FIELDS) : `; ${limit}`;
    // fail-closed: whoever wrote it wanted a limit, and without one the agent may do more.
    const severity = limit === undefined ? 'warning' : 'error';
    this.#find(severity, at, `"${oneLine(written)}" is not a field of an agent${hint}`);
  }

  #takeUnclear(written: string): void {
    // A single word with a colon behind it may stand in any text.
    const near = isCompound(written) ? nearLimit(written) : undefined;
    const field = knownField(written) ?? near;
    if (field === undefined) return;
    const severity = HARMLESS.has(field) ? 'warning' : 'error';
    this.#find(severity, this.#lineOf(written), `"${written}" cannot be understood`);
  }

  #readName(): void {
    const name = this.#text('name')?.normalize('NFC');
    if (name === undefined) {
      if (this.#fields.has('name')) this.#error('name', 'the name is empty');
      return;
    }
    const problem = typeProblem(name);
    if (problem !== undefined) this.#error('name', problem);
    else this.name = name;
  }

  #tools(): readonly string[] | undefined {
    const read = this.#value('tools', (value) => toolsOf(value, this.#knownTools()));
    if (read?.isBare === true) {
      const line = this.#lineOf(this.#fields.get('tools')?.written ?? 'tools');
      const message = 'it has no tools: none of those that "tools" names is known here';
      this.findings.push({
        severity: 'warning',
        line,
        message,
        told: true,
      });
    }
    for (const warning of read?.warnings ?? []) this.#warn('tools', warning);
    return read?.tools;
  }

  #bans(): readonly string[] {
    const read = this.#value('disallowedTools', (value) => bansOf(value, this.#knownTools()));
    for (const warning of read?.warnings ?? []) this.#warn('disallowedTools', warning);
    return read?.bans ?? [];
  }

  #mode(): PermissionMode | undefined {
    const written = this.#text('permissionMode');
    if (written === undefined) {
      if (this.#fields.has('permissionMode')) this.#error('permissionMode', 'it names no mode');
      return undefined;
    }
    if (written === 'auto') {
      this.#warn('permissionMode', 'the mode "auto" is not known here; it is taken for default');
    }
    const mode = written === 'manual' || written === 'auto' ? 'default' : written;
    const known = PERMISSION_MODES.find((one) => one === mode);
    if (known === undefined) {
      const hint = meant(mode, PERMISSION_MODES);
      this.#error('permissionMode', `"${oneLine(mode)}" is no permission mode${hint}`);
      return undefined;
    }
    if (this.#written.isExact || STRICT_MODES.includes(known)) return known;
    // fail-closed: in a head that is no YAML nobody can be sure what was granted.
    this.#warn('permissionMode', `the mode ${known} does not count in a head that is not YAML`);
    return undefined;
  }

  #turns(): number | undefined {
    const found = this.#fields.get('maxTurns');
    if (found === undefined) return undefined;
    const turns = numberOf(found.value);
    if (turns !== undefined && Number.isInteger(turns) && turns > 0) return turns;
    this.#error('maxTurns', '"maxTurns" is no whole number above 0');
    return undefined;
  }

  #effort(): string | undefined {
    const found = this.#fields.get('effort');
    if (typeof found?.value === 'number' && Number.isInteger(found.value) && found.value > 0) {
      return String(found.value);
    }
    return this.#choice('effort', EFFORTS, 'warning');
  }

  #own(): OwnFields {
    const found = this.#fields.get('portcullis');
    if (found === undefined) return {};
    const read = ownFields(found.value);
    if (read.ok) return read.value;
    const line = this.#lineOf(found.written, read.error.key);
    this.#find('error', line, read.error.message);
    return {};
  }

  #text(field: string): string | undefined {
    const found = this.#fields.get(field);
    if (found === undefined || found.value === null) return undefined;
    const text = textOf(found.value);
    if (text === undefined) this.#error(field, `"${field}" is no text`);
    return text?.trim() === '' ? undefined : text?.trim();
  }

  #choice<T extends string>(
    field: string,
    choices: readonly T[],
    severity: AgentFinding['severity'],
  ): T | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const choice = choices.find((one) => one === found.value);
    if (choice !== undefined) return choice;
    const shown = oneLine(textOf(found.value) ?? typeof found.value);
    const message = `"${field}" knows ${choices.join(', ')}, not "${shown}"`;
    this.#find(severity, this.#lineOf(found.written), message);
    return undefined;
  }

  #flag(field: string): boolean | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const flag = booleanOf(found.value);
    if (flag === undefined) this.#error(field, `"${field}" is neither true nor false`);
    return flag;
  }

  #hooks(): Readonly<Record<string, unknown>> | undefined {
    const hooks = this.#record('hooks');
    const written = this.#fields.get('hooks')?.written ?? 'hooks';
    for (const { severity, message, at } of hookFindings(hooks ?? {}, this.#options.knownTools)) {
      this.#find(severity, this.#lineOf(written, at), message);
    }
    return hooks;
  }

  #record(field: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#fields.get(field)?.value;
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
    this.#error(field, `"${field}" is no map`);
    return undefined;
  }

  #value<T>(field: string, read: (value: unknown) => Result<T, string>): T | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const value = read(found.value);
    if (value.ok) return value.value;
    this.#error(field, `"${field}" ${value.error}`);
    return undefined;
  }

  #lineOf(written: string, inner?: string): number | undefined {
    return this.#written.lineOf(written, inner);
  }

  #error(field: string, message: string): void {
    this.#find('error', this.#lineOf(this.#fields.get(field)?.written ?? field), message);
  }

  #warn(field: string, message: string): void {
    this.#find('warning', this.#lineOf(this.#fields.get(field)?.written ?? field), message);
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

function isNothing(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}
