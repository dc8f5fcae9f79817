import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';

/**
 * Why a session did not list a skill. `room`: the list was full. `people`: its head leaves it to
 * people. `settings`: `skillOverrides` or the host. `file`: none that its `paths` name was touched.
 */
export type LeftOutWhy = 'room' | 'people' | 'settings' | 'file';

/** What became of one skill, over all sessions. */
export interface SkillRecord {
  readonly name: string;
  /** Two projects may have skills of one name. */
  readonly file: string;
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
  /** The day on which something last became of it. */
  readonly last: string;
}

const COUNTS = ['offered', 'taken', 'model', 'person', 'shortened'] as const;
const REASONS = ['room', 'people', 'settings', 'file'] as const;

export const NOTHING_LEFT_OUT: SkillRecord['leftOut'] = {
  room: 0,
  people: 0,
  settings: 0,
  file: 0,
};

/** More than these are not kept: the least started give way, of them the longest unseen. */
const MOST_RECORDS = 1_000;
export const MOST_LEDGER_BYTES = 512 * 1024;

/** Sessions in which it was offered and nobody started it. */
export function skippedOf({ offered, taken }: SkillRecord): number {
  return Math.max(0, offered - taken);
}

function chosenOf({ model, person }: SkillRecord): number {
  return model + person;
}

export function recordKey({ name, file }: Pick<SkillRecord, 'name' | 'file'>): string {
  return `${name}\0${file}`;
}

/** What happened before and what happened now, together. */
export function addCounts(
  now: Omit<SkillRecord, 'last'>,
  before: SkillRecord,
): Omit<SkillRecord, 'last'> {
  const both = <Name extends string>(
    names: readonly Name[],
    one: Readonly<Record<Name, number>>,
    other: Readonly<Record<Name, number>>,
  ) => Object.fromEntries(names.map((name) => [name, one[name] + other[name]]));
  const leftOut = { ...now.leftOut, ...both(REASONS, now.leftOut, before.leftOut) };
  return { ...now, ...both(COUNTS, now, before), leftOut };
}

/** One line for each; an error names the first line that is none. */
export function readRecords(text: string): Result<readonly SkillRecord[], string> {
  const records: SkillRecord[] = [];
  let number = 0;
  for (const line of text.split('\n')) {
    number++;
    if (line === '') continue;
    const record = recordIn(line);
    if (record === undefined) return err(`line ${number} is not a record of a skill`);
    records.push(record);
  }
  return ok(records);
}

/** How often skills were started, by name. */
export function startsOf(records: Iterable<SkillRecord>): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const record of records) {
    starts.set(record.name, (starts.get(record.name) ?? 0) + chosenOf(record));
  }
  return starts;
}

/** The most started first. What there is no room for is left out. */
export function ledgerText(records: Iterable<SkillRecord>): string {
  const sorted = [...records].sort(
    (a, b) => chosenOf(b) - chosenOf(a) || (a.last < b.last ? 1 : a.last > b.last ? -1 : 0),
  );
  let text = '';
  // A character has at most three bytes in UTF-8 for each unit of its length.
  for (const record of sorted.slice(0, MOST_RECORDS)) {
    const line = `${JSON.stringify(written(record))}\n`;
    if ((text.length + line.length) * 3 > MOST_LEDGER_BYTES) break;
    text += line;
  }
  return text;
}

/** Without what never happened, which is most of it. */
function written({ name, file, last, leftOut, ...counts }: SkillRecord): unknown {
  const reasons = happened(leftOut);
  return {
    name,
    file,
    ...happened(counts),
    ...(Object.keys(reasons).length === 0 ? {} : { leftOut: reasons }),
    last,
  };
}

function happened(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function recordIn(line: string): SkillRecord | undefined {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(said)) return undefined;
  const { name, file, last, leftOut = {} } = said;
  if (typeof name !== 'string' || typeof file !== 'string' || typeof last !== 'string') {
    return undefined;
  }
  if (!isRecord(leftOut)) return undefined;
  const counts = countsIn(said, COUNTS);
  const reasons = countsIn(leftOut, REASONS);
  if (counts === undefined || reasons === undefined) return undefined;
  return { name, file, ...counts, leftOut: reasons, last };
}

/** What is not there never happened. Undefined: something is there that is no count. */
function countsIn<Name extends string>(
  said: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Record<Name, number> | undefined {
  const counts: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const count = said[name] ?? 0;
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) return undefined;
    counts[name] = count;
  }
  return counts as Record<Name, number>;
}
