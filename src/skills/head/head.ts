import { isUniversal } from '../../context/instructions/path-matcher.js';
import { booleanOf, listOf, textOf } from '../../lib/frontmatter/fields.js';
import {
  type Frontmatter,
  findFieldLine,
  loadFrontmatter,
} from '../../lib/frontmatter/frontmatter.js';
import type { ParseYaml } from '../../lib/frontmatter/parse-yaml.js';
import { isRecord, own } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { oneLine } from '../discovery/names.js';
import type { SkillHead, SkillProblem } from '../skill.js';
import {
  FENCE,
  FIELDS,
  GRANT,
  HEAD_FIELDS,
  hiddenRestriction,
  hookFaults,
  isFence,
  knownField,
  nearField,
  nearRestriction,
  RESTRICTIONS,
  WHO_MAY_CALL,
} from './fields.js';
import { fewProblems, firstWords, lostRestriction, namedRestrictions } from './head-problems.js';

/** The parsed file of a skill. */
export interface ReadSkill {
  readonly head: SkillHead;
  readonly body: string;
  readonly bodyLine: number;
  readonly problems: readonly SkillProblem[];
  /** A restriction that cannot be read, because of which the skill must not be used. */
  readonly refusal?: SkillProblem;
}

export interface ReadHeadOptions {
  readonly parseYaml?: ParseYaml | undefined;
  /** Commands ignore `paths`. */
  readonly isCommand?: boolean;
}

/**
 * Reads a skill's front matter. An unreadable one leaves a skill that people can type and the model is not
 * offered; fields that can be read line by line count, except grants.
 */
export async function readSkill(text: string, options: ReadHeadOptions = {}): Promise<ReadSkill> {
  const read = await loadFrontmatter(text, options);
  const reader = new HeadReader(read, text);
  const head = reader.head(options);
  const { body, bodyLine } = read;
  const { refusal } = reader;
  return { head, body, bodyLine, problems: fewProblems(reader.problems), refusal };
}

interface Field {
  readonly value: unknown;
  readonly line: number | undefined;
  /** The field's name as written. */
  readonly written: string;
}

class HeadReader {
  readonly problems: SkillProblem[] = [];
  refusal: SkillProblem | undefined;
  readonly #read: Frontmatter;
  readonly #whole: string;
  readonly #fields = new Map<string, Field>();

  constructor(read: Frontmatter, text: string) {
    this.#read = read;
    this.#whole = text;
    if (read.problem !== undefined) {
      const { line, message } = read.problem;
      const remedy = 'Correct the head; quote texts that hold a colon.';
      const about = { line, message: `its head cannot be read as YAML: ${message}`, remedy };
      this.problems.push(read.how === 'none' ? { ...about, told: true } : about);
    }
    for (const [written, value] of Object.entries(read.fields)) {
      this.#take({ written, value, line: read.lines.get(written) });
    }
    this.#takeUnclear();
    this.#takeFence();
    const lost = lostRestriction(read, text);
    if (lost !== undefined) this.#refuse(lost.line, lost.message);
  }

  head({ isCommand }: ReadHeadOptions): SkillHead {
    const { how, problem, body, fields, unclear } = this.#read;
    const isBroken = how === 'none' && problem !== undefined;
    const described = this.#fields.get('description');
    const written = described && this.#text('description', described);
    const description = (written ?? (isBroken ? '' : firstWords(body))).trim();
    const fence = this.#fields.get(FENCE);
    const head: Record<string, unknown> = {};
    if (description !== '') head.description = description;
    if (fence !== undefined) head.fenceTools = this.#restriction(FENCE, fence);
    const lines: Record<string, number> = {};
    for (const [name, field] of this.#fields) {
      if (field.line !== undefined) lines[name] = field.line;
      const { as } = own(FIELDS, name) ?? {};
      if (as === undefined || (name === 'paths' && isCommand === true)) continue;
      const value = this.#valueOf(name, field);
      if (value !== undefined) head[as] = value;
    }
    // fail-closed: unreadable front matter may have contained `disable-model-invocation`.
    if (isBroken) head.disableModelInvocation = true;
    head.keys = [...new Set([...Object.keys(fields), ...unclear.keys()])];
    if (Object.keys(lines).length > 0) head.lines = lines;
    return head as unknown as SkillHead;
  }

  #take(found: Field): void {
    const { written, value, line } = found;
    const name = knownField(written) ?? (isFence(written) ? FENCE : undefined);
    if (name === undefined) {
      const meant = nearest(written, HEAD_FIELDS);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      this.#note(line, `"${written}" is not a field of a skill${hint}`);
      this.#takeMeant(found);
      return;
    }
    if (name === FENCE) this.#note(line, `"${written}" belongs under portcullis:`);
    if (name === GRANT && written !== GRANT) {
      // fail-closed: a misspelt grant is refused, because many authors mean a restriction by it.
      this.#refuse(line, `"${written}" is not a field; write ${name}`);
      return;
    }
    const other = this.#fields.get(name);
    if (other !== undefined) {
      this.#note(line, `"${written}" and "${other.written}" are the same field`);
      if (name === FENCE || RESTRICTIONS.includes(name)) this.#refuse(line, `${name} is set twice`);
    }
    // fail-closed: of two contradicting values about who may call the skill, the stricter default counts.
    const isUnclear = other !== undefined && WHO_MAY_CALL.includes(name);
    if (other?.written === name && !isUnclear) return;
    this.#fields.set(name, { value: isUnclear ? undefined : value, line, written });
  }

  /** fail-closed: the author of a misspelt restriction believes that it holds. */
  #takeMeant(found: Field): void {
    const { written, value, line } = found;
    const hidden = hiddenRestriction(written, value);
    if (hidden !== undefined) this.#refuse(line, `"${written}" does not set ${hidden}`);
    const name = nearField(written);
    if (name === undefined) return;
    if (!WHO_MAY_CALL.includes(name)) {
      this.#refuse(line, `"${written}" is not a field; write ${name}`);
      return;
    }
    const other = this.#fields.get(name);
    this.#fields.set(name, other === undefined ? found : { ...other, value: undefined });
  }

  /** Reports fields that could not be parsed. */
  #takeUnclear(): void {
    const { how, unclear, doubtful, fields } = this.#read;
    const lost = how === 'lines' ? namedRestrictions(doubtful) : [];
    for (const [written, line] of [...unclear, ...lost]) {
      const name = knownField(written) ?? nearRestriction(written);
      if (name === undefined || Object.hasOwn(fields, written)) continue;
      if (name === FENCE || RESTRICTIONS.includes(name)) {
        this.#refuse(line, `"${written}" is not clear`);
      } else this.#lost(line, `"${written}" is not clear and does not count`);
      // fail-closed: the field's value is unknown, so the stricter default counts.
      if (WHO_MAY_CALL.includes(name)) this.#fields.set(name, { value: undefined, line, written });
    }
  }

  /** Reads `fence-tools` under `portcullis`; an empty list allows nothing. */
  #takeFence(): void {
    const found = this.#fields.get('portcullis');
    if (found === undefined) return;
    const { value: map, line } = found;
    if (!isRecord(map)) {
      this.#refuse(line, '"portcullis" is no map');
      return;
    }
    for (const [written, value] of Object.entries(map)) {
      if (!isFence(written)) {
        this.#refuse(line, `"portcullis.${written}" is not a field; a skill knows ${FENCE}`);
      } else {
        if (this.#fields.has(FENCE)) this.#refuse(line, `${FENCE} is set twice`);
        this.#fields.set(FENCE, { value, line, written });
      }
    }
  }

  #valueOf(name: string, field: Field): unknown {
    switch (FIELDS[name]?.kind) {
      case 'hint':
        return this.#hint(name, field);
      case 'list':
        return this.#list(name, field);
      case 'grant':
        return this.#grant(name, field);
      case 'restriction':
        return this.#restriction(name, field);
      case 'flag':
        return this.#flag(name, field);
      case 'hooks':
        return this.#hooks(field);
      case 'paths': {
        // A pattern that matches every file is no condition.
        const globs = this.#list(name, field);
        return globs?.some(isUniversal) === true ? undefined : globs;
      }
      default:
        return this.#text(name, field);
    }
  }

  #text(name: string, { value, line }: Field): string | undefined {
    if (value === null || value === undefined) return undefined;
    const text = textOf(value)?.trim();
    if (text === undefined) this.#note(line, `"${name}" is not a text`);
    if (text === undefined || text === '') return undefined;
    const choices = FIELDS[name]?.choices;
    if (choices === undefined || choices.includes(text)) return text;
    this.#note(line, `"${name}" knows ${choices.join(' and ')}, not "${oneLine(text)}"`);
    return undefined;
  }

  /** YAML parses `[file] [branch]` as a list, but it is a hint for people. */
  #hint(name: string, field: Field): string | undefined {
    const { value } = field;
    if (!Array.isArray(value)) return this.#text(name, field);
    return `[${value.map((item) => textOf(item) ?? '').join(', ')}]`;
  }

  #list(name: string, { value, line }: Field): readonly string[] | undefined {
    const items = listOf(value);
    if (!items.ok) this.#note(line, `"${name}" ${items.error}`);
    return items.ok && items.value.length > 0 ? items.value : undefined;
  }

  #grant(name: string, field: Field): readonly string[] | undefined {
    const rules = this.#list(name, field);
    const odd = rules?.find((rule) => rule.startsWith('*'));
    if (this.#read.how === 'yaml' || odd === undefined) return rules;
    // fail-closed: YAML reads this as an alias instead of a rule.
    this.#lost(field.line, `"${name}" does not count: put "${oneLine(odd)}" in quotes`);
    return undefined;
  }

  #restriction(name: string, { value, line }: Field): readonly string[] | undefined {
    const items = listOf(value);
    if (items.ok) return items.value;
    // fail-closed: tools that were to be disallowed would stay.
    this.#refuse(line, `"${name}" ${items.error}`);
    return undefined;
  }

  #hooks({ value, line: begin }: Field): unknown {
    for (const { stops, message, at } of hookFaults(value)) {
      const line = findFieldLine(this.#whole, begin, at);
      if (stops) this.#refuse(line, `hooks: ${message}`);
      else this.problems.push({ line, message: `hooks: ${message}`, field: 'hooks' });
    }
    return value ?? undefined;
  }

  #flag(name: string, { value, line }: Field): boolean | undefined {
    const said = booleanOf(value);
    if (said !== undefined) return said;
    const inDoubt = FIELDS[name]?.inDoubt;
    const taken = inDoubt === undefined ? 'it is passed over' : `taken for ${inDoubt}`;
    this.#note(line, `"${name}" is neither true nor false; ${taken}`);
    return inDoubt;
  }

  #note(line: number | undefined, message: string): void {
    this.problems.push({ line, message });
  }

  /** Reports a field that people would wrongly rely on. */
  #lost(line: number | undefined, message: string): void {
    this.problems.push({ line, message, told: true });
  }

  #refuse(line: number | undefined, message: string): void {
    const remedy = 'Correct it: it restricts what may be called.';
    this.refusal ??= { line, message: `a restriction cannot be read: ${message}`, remedy };
  }
}
