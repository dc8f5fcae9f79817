import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';

const REASONS = ['room', 'people', 'settings', 'file'] as const;

/**
 * Why a session did not list a skill. `room`: the list was full. `people`: its head leaves it to
 * people. `settings`: `skillOverrides` or the host. `file`: none that its `paths` name was touched.
 */
export type LeftOutWhy = (typeof REASONS)[number];

/** How often what became of a skill. */
export interface SkillCounts {
  /** Sessions in which the model was shown it. */
  readonly offered: number;
  /** Those of them in which somebody started it. */
  readonly taken: number;
  /** How often the model, and how often a person, started it. */
  readonly model: number;
  readonly person: number;
  /** Sessions in which its description was cut. */
  readonly shortened: number;
  readonly leftOut: Readonly<Record<LeftOutWhy, number>>;
}

/** What became of one skill, over all sessions. */
export interface SkillRecord extends SkillCounts {
  readonly name: string;
  /** Two projects may have skills of one name. */
  readonly file: string;
  /** The day on which something last became of it. */
  readonly last: string;
}

const COUNTS = ['offered', 'taken', 'model', 'person', 'shortened'] as const;

export const NOTHING_LEFT_OUT: SkillCounts['leftOut'] = {
  room: 0,
  people: 0,
  settings: 0,
  file: 0,
};

export const NO_COUNTS: SkillCounts = {
  offered: 0,
  taken: 0,
  model: 0,
  person: 0,
  shortened: 0,
  leftOut: NOTHING_LEFT_OUT,
};

/** More than these are not kept: the least started give way, of them the longest unseen. */
const MOST_RECORDS = 1_000;
export const MOST_LEDGER_BYTES = 512 * 1024;

/** Sessions in which it was offered and nobody started it. */
export function skippedOf({ offered, taken }: SkillRecord): number {
  return Math.max(0, offered - taken);
}

export function recordKey({ name, file }: Pick<SkillRecord, 'name' | 'file'>): string {
  return `${name}\0${file}`;
}

/** The counts of both together; `times` -1: what is new since the other ones. */
export function addCounts(one: SkillCounts, other: SkillCounts, times = 1): SkillCounts {
  const add = <Name extends string>(
    names: readonly Name[],
    a: Readonly<Record<Name, number>>,
    b: Readonly<Record<Name, number>>,
  ) => Object.fromEntries(names.map((name) => [name, a[name] + times * b[name]]));
  const leftOut = add(REASONS, one.leftOut, other.leftOut) as SkillCounts['leftOut'];
  return { ...one, ...add(COUNTS, one, other), leftOut };
}

export function isNothing({ leftOut, ...counts }: SkillCounts): boolean {
  return [...COUNTS.map((name) => counts[name]), ...Object.values(leftOut)].every((n) => n === 0);
}

/** How often skills were started, by name. */
export function startsOf(records: Iterable<SkillRecord>): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const { name, model, person } of records) {
    starts.set(name, (starts.get(name) ?? 0) + model + person);
  }
  return starts;
}

/** The most started first. What there is no room for is left out. */
export function ledgerText(records: Iterable<SkillRecord>): string {
  const sorted = [...records].sort(
    (a, b) =>
      b.model + b.person - a.model - a.person || (a.last < b.last ? 1 : a.last > b.last ? -1 : 0),
  );
  let text = '';
  // A character has at most three bytes in UTF-8 for each unit of its length.
  for (const { leftOut, ...record } of sorted.slice(0, MOST_RECORDS)) {
    const reasons = withoutZeros(leftOut);
    const isListed = Object.keys(reasons).length === 0;
    const line = `${JSON.stringify(withoutZeros(isListed ? record : { ...record, leftOut: reasons }))}\n`;
    if ((text.length + line.length) * 3 > MOST_LEDGER_BYTES) break;
    text += line;
  }
  return text;
}

/** Without what never happened, which is most of it. */
function withoutZeros(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== 0));
}

/** One line for each; an error names the first line that is none. */
export function readRecords(text: string): Result<readonly SkillRecord[], string> {
  const records: SkillRecord[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const record = recordIn(line);
    if (record === undefined) return err(`line ${index + 1} is not a record of a skill`);
    records.push(record);
  }
  return ok(records);
}

function recordIn(line: string): SkillRecord | undefined {
  const said = parseJson(line);
  if (!said.ok || !isRecord(said.value)) return undefined;
  const { name, file, last, leftOut = {} } = said.value;
  if (typeof name !== 'string' || typeof file !== 'string' || typeof last !== 'string') {
    return undefined;
  }
  const counts = countsIn(said.value, COUNTS);
  const reasons = isRecord(leftOut) ? countsIn(leftOut, REASONS) : undefined;
  if (counts === undefined || reasons === undefined) return undefined;
  return { name, file, ...counts, leftOut: reasons, last };
}

/** What is not there never happened. Undefined: something is there that is no count. */
function countsIn<Name extends string>(
  said: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Record<Name, number> | undefined {
  const counts = names.map((name) => [name, said[name] ?? 0] as const);
  const isCount = ([, count]: readonly [Name, unknown]) =>
    Number.isSafeInteger(count) && Number(count) >= 0;
  return counts.every(isCount) ? (Object.fromEntries(counts) as Record<Name, number>) : undefined;
}
