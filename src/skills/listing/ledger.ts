import { messageOf, systemCodeOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { readTextSync } from '../../platform/fs/node-fs.js';
import { join } from '../../platform/fs/paths.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import type { Invoker } from '../invoke/find.js';
import type { Skill } from '../skill.js';
import {
  addCounts,
  isNothing,
  type LeftOutWhy,
  ledgerText,
  MOST_LEDGER_BYTES,
  NO_COUNTS,
  NOTHING_LEFT_OUT,
  readRecords,
  recordKey,
  type SkillCounts,
  type SkillRecord,
  startsOf,
} from './ledger-record.js';
import type { SkillListing } from './listing.js';

interface LedgerPlace {
  readonly fs: Pick<FileSystem, 'readText' | 'writeAtomic'>;
  readonly stateDirectory: string;
}

interface LedgerParts extends LedgerPlace {
  /** Whether this session is counted; false for sessions without persistence. */
  readonly counts: boolean;
  now(): number;
  /** Shows a text to the person. */
  tell(text: string): void;
}

/** Long enough not to delay a request. */
const KEEP_AFTER_MS = 1_000;
/** The holder writes one small file. */
const LOCK = { staleMs: 10_000, waitMs: 2_000 };

/** A session's own counts for a skill; listing it repeatedly counts once. */
interface Tally {
  readonly name: string;
  readonly file: string;
  offered: 0 | 1;
  shortened: 0 | 1;
  model: number;
  person: number;
  why?: LeftOutWhy;
  /** The part that was written already. */
  written: SkillCounts;
}

/**
 * Counts which skills the model was shown and which were started, over all sessions of this user. Only the
 * order of shortening depends on it, so a session continues when it fails.
 */
export class SkillLedger {
  readonly #parts: LedgerParts;
  readonly #tallies = new Map<string, Tally>();
  #counts: ReadonlyMap<string, number> | undefined;
  #writing = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /** Starts in earlier sessions, by name; read once, so that the listing stays stable. */
  readonly counts = (): ReadonlyMap<string, number> => {
    this.#counts ??= readStarts(this.#parts);
    return this.#counts;
  };

  /** Counts a listing that the model is about to be shown; nothing is written yet. */
  listed(skills: readonly Skill[], { shown, cut, hidden }: SkillListing): void {
    const byName = new Map(skills.map((skill) => [skill.name, this.#tallyOf(skill)]));
    const set = (name: string, change: Partial<Tally>): void => {
      Object.assign(byName.get(name) ?? {}, change);
    };
    for (const { name } of shown) set(name, { offered: 1 });
    for (const { name, how } of cut) {
      set(name, how === 'left out' ? { why: 'room' } : { shortened: 1 });
    }
    for (const { name, why } of hidden) set(name, { why });
  }

  started(skill: Skill, by: Invoker): void {
    this.#tallyOf(skill)[by]++;
    this.keepSoon();
  }

  /** Writes unsaved counts a little later, while the model works. */
  keepSoon(): void {
    if (this.#parts.counts) this.#timer ??= setTimeout(() => this.keep(), KEEP_AFTER_MS).unref();
  }

  keep(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Counts the skills that stayed dormant; call `keep` afterwards. */
  end(waiting: readonly Skill[]): void {
    for (const skill of waiting) this.#tallyOf(skill).why = 'file';
    this.#isOver = true;
  }

  #tallyOf({ name, file }: Pick<Skill, 'name' | 'file'>): Tally {
    const key = recordKey({ name, file });
    const none = { name, file, offered: 0, shortened: 0, model: 0, person: 0 } as const;
    const tally = this.#tallies.get(key) ?? { ...none, written: NO_COUNTS };
    this.#tallies.set(key, tally);
    return tally;
  }

  async #write(): Promise<void> {
    const news = [...this.#tallies.values()].flatMap((tally) => {
      const counts = countsOf(tally, { isOver: this.#isOver });
      const fresh = addCounts(counts, tally.written, -1);
      tally.written = counts;
      return isNothing(fresh) ? [] : [{ ...fresh, name: tally.name, file: tally.file }];
    });
    const { counts, tell } = this.#parts;
    if (news.length === 0 || !counts) return;
    try {
      const lock = `${fileIn(this.#parts)}.lock`;
      const done = await withFileLock(lock, LOCK, () => add(this.#parts, news));
      if (done === undefined) throw new Error('another program holds it');
    } catch (thrown) {
      tell(`the ledger of skills cannot be written: ${messageOf(thrown)}`);
    }
  }
}

function countsOf(
  { offered, shortened, model, person, why }: Tally,
  { isOver }: { readonly isOver: boolean },
): SkillCounts {
  const taken = offered === 1 && model + person > 0 ? 1 : 0;
  const isLeftOut = isOver && offered === 0 && why !== undefined;
  const leftOut = isLeftOut ? { ...NOTHING_LEFT_OUT, [why]: 1 } : NOTHING_LEFT_OUT;
  return { offered, taken, model, person, shortened, leftOut };
}

/** The records of the ledger, the most started first; an error says why it is not used. */
export async function readSkillLedger(
  place: Pick<LedgerPlace, 'stateDirectory'> & { readonly fs: Pick<FileSystem, 'readText'> },
): Promise<Result<readonly SkillRecord[], string>> {
  const file = fileIn(place);
  try {
    const records = readRecords(await place.fs.readText(file, { maxBytes: MOST_LEDGER_BYTES }));
    return records.ok ? records : err(`${file}: ${records.error}`);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? ok([]) : err(messageOf(thrown));
  }
}

function fileIn({ stateDirectory }: Pick<LedgerPlace, 'stateDirectory'>): string {
  return join(stateDirectory, 'skill-ledger.jsonl');
}

/** Adds counts to those of other sessions; requires the lock. */
async function add(parts: LedgerParts, news: readonly Omit<SkillRecord, 'last'>[]): Promise<void> {
  const file = fileIn(parts);
  const before = await readSkillLedger(parts);
  if (!before.ok) {
    const aside = stateFiles.setAside(file);
    parts.tell(`the ledger of skills begins anew, the old one is ${aside}: ${before.error}`);
  }
  const records = new Map((before.ok ? before.value : []).map((one) => [recordKey(one), one]));
  const last = new Date(parts.now()).toISOString().slice(0, 'YYYY-MM-DD'.length);
  for (const one of news) {
    const { name, file: skillFile } = one;
    const counts = addCounts(one, records.get(recordKey(one)) ?? NO_COUNTS);
    records.set(recordKey(one), { ...counts, name, file: skillFile, last });
  }
  await parts.fs.writeAtomic(file, ledgerText(records.values()), { mode: 0o600 });
}

function readStarts(place: LedgerPlace): ReadonlyMap<string, number> {
  const options = { maxBytes: MOST_LEDGER_BYTES, noLink: true };
  try {
    const records = readRecords(readTextSync(fileIn(place), options).text);
    return startsOf(records.ok ? records.value : []);
  } catch {
    // The file does not exist yet; writing it reports all other errors.
    return new Map();
  }
}
