import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';

const REASONS = ['room', 'people', 'settings', 'file'] as const;

/**
 * Why a session did not list a skill. `room`: the list was full. `people`: its front matter leaves it to
 * people. `settings`: `skillOverrides` or the host. `file`: no file matching its `paths` was touched.
 */
export type LeftOutWhy = (typeof REASONS)[number];

export interface SkillCounts {
  /** Sessions in which the model was shown it. */
  readonly offered: number;
  /** Those of them in which it was started. */
  readonly taken: number;
  /** How often the model and people started it. */
  readonly model: number;
  readonly person: number;
  /** Sessions in which its description was shortened. */
  readonly shortened: number;
  readonly leftOut: Readonly<Record<LeftOutWhy, number>>;
}

/** The counts of one skill over all sessions. */
export interface SkillRecord extends SkillCounts {
  readonly name: string;
  /** Separates skills of one name in two projects. */
  readonly file: string;
  /** The day of the last change. */
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

/** The most records; the least started and then the longest unused are dropped. */
const MOST_RECORDS = 1_000;
export const MOST_LEDGER_BYTES = 512 * 1024;

/** Sessions in which it was offered and not started. */
export function skippedOf({ offered, taken }: SkillRecord): number {
  return Math.max(0, offered - taken);
}

export function recordKey({ name, file }: Pick<SkillRecord, 'name' | 'file'>): string {
  return `${name}\0${file}`;
}

/** The sum of both counts; with `times` -1 the difference. */
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

/** The ledger as text, the most started first; records beyond the limit are dropped. */
export function ledgerText(records: Iterable<SkillRecord>): string {
  const sorted = [...records].sort(
    (a, b) =>
      b.model + b.person - a.model - a.person || (a.last < b.last ? 1 : a.last > b.last ? -1 : 0),
  );
  let text = '';
  // In UTF-8 a character takes at most three bytes for each UTF-16 unit.
  for (const { leftOut, ...record } of sorted.slice(0, MOST_RECORDS)) {
    const reasons = withoutZeros(leftOut);
    const isListed = Object.keys(reasons).length === 0;
    const line = `${JSON.stringify(withoutZeros(isListed ? record : { ...record, leftOut: reasons }))}\n`;
    if ((text.length + line.length) * 3 > MOST_LEDGER_BYTES) break;
    text += line;
  }
  return text;
}

/** Drops zero counts, which are the majority. */
function withoutZeros(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== 0));
}

/** Parses one record per line; an error names the first invalid line. */
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

/** A missing count is zero; undefined for an invalid one. */
function countsIn<Name extends string>(
  said: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Record<Name, number> | undefined {
  const counts = names.map((name) => [name, said[name] ?? 0] as const);
  const isCount = ([, count]: readonly [Name, unknown]) =>
    Number.isSafeInteger(count) && Number(count) >= 0;
  return counts.every(isCount) ? (Object.fromEntries(counts) as Record<Name, number>) : undefined;
}
