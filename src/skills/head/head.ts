import { isUniversal } from '../../context/instructions/path-matcher.js';
import { booleanOf, listOf, textOf } from '../../lib/field-values.js';
import { type Frontmatter, findFieldLine, loadFrontmatter } from '../../lib/frontmatter.js';
import { nearest } from '../../lib/nearest.js';
import { isRecord, own } from '../../lib/own.js';
import type { ParseYaml } from '../../lib/parse-yaml.js';
import { oneLine } from '../discovery/names.js';
import type { SkillHead, SkillProblem } from '../skill.js';
import { FIELDS, HEAD_FIELDS, hookFaults, knownField } from './fields.js';
import { fewProblems, firstWords, lostRestriction, namedRestrictions } from './head-problems.js';
import {
  FENCE,
  GRANT,
  hiddenRestriction,
  isFence,
  isNearGrant,
  nearRestriction,
  RESTRICTIONS,
  WHO_MAY_CALL,
} from './restrictions.js';

/** What a file of a skill says about itself. */
export interface ReadSkill {
  readonly head: SkillHead;
  readonly body: string;
  readonly bodyLine: number;
  readonly problems: readonly SkillProblem[];
  /** A restriction in it cannot be read: it must not be used. */
  readonly refusal?: SkillProblem;
}

export interface ReadHeadOptions {
  readonly parseYaml?: ParseYaml | undefined;
  /** Of a command `paths` mean nothing. */
  readonly isCommand?: boolean;
}

/**
 * Reads the head of a skill. A head that cannot be read leaves a skill that people can type and that
 * is not offered to the model; what of it can be understood line by line counts, but for grants.
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
  /** As it stands in the file. */
  readonly written: string;
}

class HeadReader {
  readonly problems: SkillProblem[] = [];
  refusal: SkillProblem | undefined;
  readonly #read: Frontmatter;
  readonly #whole: string;
  readonly #lines: ReadonlyMap<string, number>;
  readonly #fields = new Map<string, Field>();

  constructor(read: Frontmatter, text: string) {
    this.#read = read;
    this.#whole = text;
    this.#lines = read.lines;
    if (read.problem !== undefined) {
      const { line, message } = read.problem;
      const remedy = 'Correct the head; quote texts that hold a colon.';
      const about = { line, message: `its head cannot be read as YAML: ${message}`, remedy };
      this.problems.push(read.how === 'none' ? { ...about, told: true } : about);
    }
    for (const [written, value] of Object.entries(read.fields)) this.#take(written, value);
    this.#unclear();
    const lost = lostRestriction(read, text);
    if (lost !== undefined) this.#refuse(lost.line, lost.message);
  }

  head({ isCommand }: ReadHeadOptions): SkillHead {
    const isBroken = this.#read.how === 'none' && this.#read.problem !== undefined;
    const head: Record<string, unknown> = {};
    const say = (name: string, value: unknown): void => {
      if (value !== undefined) head[name] = value;
    };
    const description = this.#text('description') ?? (isBroken ? '' : firstWords(this.#read.body));
    say('description', description.trim() === '' ? undefined : description.trim());
    if (this.#fields.has('portcullis') || this.#fields.has(FENCE)) say('fenceTools', this.#fence());
    const lines: Record<string, number> = {};
    for (const [field, { line }] of this.#fields) {
      if (line !== undefined) lines[field] = line;
      if (field === 'paths' && isCommand === true) continue;
      const { as } = own(FIELDS, field) ?? {};
      if (as !== undefined) say(as, this.#valueOf(field));
    }
    // fail-closed: a head that is not understood may have said that only people run it.
    if (isBroken) head.disableModelInvocation = true;
    head.keys = [...new Set([...Object.keys(this.#read.fields), ...this.#read.unclear.keys()])];
    if (Object.keys(lines).length > 0) head.lines = lines;
    return head as unknown as SkillHead;
  }

  /** What a field says that stands in the head. */
  #valueOf(field: string): unknown {
    const { kind, choices, inDoubt } = own(FIELDS, field) ?? {};
    switch (kind) {
      case 'hint':
        return this.#hint();
      case 'list':
        return this.#list(field);
      case 'grant':
        return this.#grant();
      case 'restriction':
        return this.#restriction(field);
      case 'flag':
        return this.#flag(field, inDoubt);
      case 'hooks':
        return this.#hooks();
      case 'paths':
        return this.#paths();
      default:
        return choices === undefined ? this.#text(field) : this.#choice(field, choices);
    }
  }

  #take(written: string, value: unknown): void {
    const line = this.#lines.get(written);
    const field = knownField(written);
    if (field === undefined && isFence(written)) {
      this.#note(line, `"${written}" belongs under portcullis:`);
      if (this.#fields.has(FENCE)) this.#refuse(line, 'fence-tools stands twice');
      this.#fields.set(FENCE, { value, line, written });
      return;
    }
    if (field === undefined) {
      const meant = nearest(written, HEAD_FIELDS);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      this.#note(line, `"${written}" is not a field of a skill${hint}`);
      this.#takeMeant({ written, value, line });
      return;
    }
    if (field !== written && field === GRANT) {
      // fail-closed: a grant is read to the letter, and many who write it mean a restriction.
      this.#refuse(line, `"${written}" is not a field; write ${field}`);
      return;
    }
    const other = this.#fields.get(field);
    if (other !== undefined) {
      this.#note(line, `"${written}" and "${other.written}" are the same field`);
      if (RESTRICTIONS.includes(field)) this.#refuse(line, `${field} stands twice`);
    }
    // fail-closed: of two words about who may call it neither counts, so the stricter one is taken.
    const isUnclear = other !== undefined && WHO_MAY_CALL.includes(field);
    if (other?.written === field && !isUnclear) return;
    this.#fields.set(field, { value: isUnclear ? undefined : value, line, written });
  }

  /** fail-closed: who writes a restriction with a mistake in its name believes that it holds. */
  #takeMeant(found: Field): void {
    const { written, value, line } = found;
    const hidden = hiddenRestriction(written, value);
    if (hidden !== undefined) this.#refuse(line, `"${written}" does not set ${hidden}`);
    const field = nearRestriction(written) ?? (isNearGrant(written) ? GRANT : undefined);
    if (field === undefined) return;
    if (!WHO_MAY_CALL.includes(field)) {
      this.#refuse(line, `"${written}" is not a field; write ${field}`);
      return;
    }
    const other = this.#fields.get(field);
    this.#fields.set(field, other === undefined ? found : { ...other, value: undefined });
  }

  /** What stands in the file and did not come out of the reader. */
  #unclear(): void {
    const { how, unclear, doubtful } = this.#read;
    const lost = how === 'lines' ? namedRestrictions(doubtful) : [];
    for (const [written, line] of [...unclear, ...lost]) {
      if (Object.hasOwn(this.#read.fields, written)) continue;
      const field = knownField(written) ?? nearRestriction(written);
      if (field === FENCE || RESTRICTIONS.includes(field ?? '')) {
        this.#refuse(line, `"${written}" is not clear`);
      } else if (field !== undefined)
        this.#lost(line, `"${written}" is not clear and does not count`);
      // fail-closed: it said something about who may call it, and nobody knows what.
      if (field !== undefined && WHO_MAY_CALL.includes(field)) {
        this.#fields.set(field, { value: undefined, line, written });
      }
    }
  }

  #text(field: string): string | undefined {
    const found = this.#fields.get(field);
    if (found === undefined || found.value === null) return undefined;
    const text = textOf(found.value);
    if (text === undefined) this.#note(found.line, `"${field}" is no text`);
    return text?.trim() === '' ? undefined : text?.trim();
  }

  /** `[file] [branch]` is a list for YAML and a hint for people. */
  #hint(): string | undefined {
    const found = this.#fields.get('argument-hint');
    if (!Array.isArray(found?.value)) return this.#text('argument-hint');
    return `[${found.value.map((item) => textOf(item) ?? '').join(', ')}]`;
  }

  #list(field: string): readonly string[] | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const items = listOf(found.value);
    if (items.ok) return items.value.length === 0 ? undefined : items.value;
    this.#note(found.line, `"${field}" ${items.error}`);
    return undefined;
  }

  #grant(): readonly string[] | undefined {
    const rules = this.#list(GRANT);
    const odd = rules?.find((rule) => rule.startsWith('*'));
    if (this.#read.how === 'yaml' || odd === undefined) return rules;
    // fail-closed: to YAML this is a pointer to another value, not a rule.
    const line = this.#fields.get(GRANT)?.line;
    this.#lost(line, `"${GRANT}" does not count: put "${oneLine(odd)}" in quotes`);
    return undefined;
  }

  /** What fits every file is no condition. */
  #paths(): readonly string[] | undefined {
    const globs = this.#list('paths');
    return globs?.some(isUniversal) === true ? undefined : globs;
  }

  #restriction(field: string): readonly string[] | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const items = listOf(found.value);
    if (items.ok) return items.value;
    // fail-closed: what was to be taken away would stay.
    this.#refuse(found.line, `"${field}" ${items.error}`);
    return undefined;
  }

  #hooks(): unknown {
    const found = this.#fields.get('hooks');
    for (const { stops, message, at } of hookFaults(found?.value)) {
      const line = findFieldLine(this.#whole, found?.line, at);
      if (stops) this.#refuse(line, `hooks: ${message}`);
      else this.problems.push({ line, message: `hooks: ${message}`, field: 'hooks' });
    }
    return found?.value ?? undefined;
  }

  /** An empty fence lets nothing through. */
  #fence(): readonly string[] | undefined {
    const found = this.#fields.get('portcullis');
    if (found === undefined) return this.#restriction(FENCE);
    if (!isRecord(found.value)) {
      this.#refuse(found.line, '"portcullis" is no map');
      return undefined;
    }
    for (const [name, value] of Object.entries(found.value)) {
      const isOne = isFence(name);
      if (isOne && this.#fields.has(FENCE)) this.#refuse(found.line, `${FENCE} stands twice`);
      if (isOne) this.#fields.set(FENCE, { value, line: found.line, written: name });
      else this.#refuse(found.line, `"portcullis.${name}" is not a field; a skill knows ${FENCE}`);
    }
    return this.#restriction(FENCE);
  }

  #flag(field: string, inDoubt?: boolean): boolean | undefined {
    const found = this.#fields.get(field);
    if (found === undefined) return undefined;
    const value = booleanOf(found.value);
    if (value !== undefined) return value;
    const taken = inDoubt === undefined ? 'it is passed over' : `taken for ${inDoubt}`;
    this.#note(found.line, `"${field}" is neither true nor false; ${taken}`);
    return inDoubt;
  }

  #choice(field: string, choices: readonly string[]): string | undefined {
    const text = this.#text(field);
    if (text === undefined || choices.includes(text)) return text;
    const line = this.#fields.get(field)?.line;
    this.#note(line, `"${field}" knows ${choices.join(' and ')}, not "${oneLine(text)}"`);
    return undefined;
  }

  #note(line: number | undefined, message: string): void {
    this.problems.push({ line, message });
  }

  /** A field that people would believe to count. */
  #lost(line: number | undefined, message: string): void {
    this.problems.push({ line, message, told: true });
  }

  #refuse(line: number | undefined, message: string): void {
    const remedy = 'Correct it: it restricts what may be called.';
    this.refusal ??= { line, message: `a restriction cannot be read: ${message}`, remedy };
  }
}
