import { messageOf, systemCodeOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { readTextSync } from '../../platform/fs/node-fs.js';
import { join } from '../../platform/fs/paths.js';
import { setAside } from '../../platform/fs/set-aside.js';
import type { Invoker } from '../invoke/find.js';
import type { Skill } from '../skill.js';
import {
  addCounts,
  type LeftOutWhy,
  ledgerText,
  MOST_LEDGER_BYTES,
  NOTHING_LEFT_OUT,
  readRecords,
  recordKey,
  type SkillRecord,
  startsOf,
} from './ledger-record.js';
import type { SkillListing } from './listing.js';

/** Which skills the model was shown, which were started and which not, over all sessions of this user. */
export interface SkillLedger {
  /** How often each was started before, by name; as it was when first asked for: a list must not change by itself. */
  counts(): ReadonlyMap<string, number>;
  /** The model is about to be shown this list, made of these skills. Nothing is done about it yet. */
  listed(skills: readonly Skill[], listing: SkillListing): void;
  started(skill: Skill, by: Invoker): void;
  /** Writes down what is not yet. */
  keep(): Promise<void>;
  /** The session is over; `waiting`: skills that waited for a file to the end. To be kept afterwards. */
  end(waiting: readonly Skill[]): void;
}

interface LedgerPlace {
  readonly fs: Pick<FileSystem, 'readText' | 'writeAtomic'>;
  /** Where the program keeps state of its own. */
  readonly stateDirectory: string;
}

interface LedgerParts extends LedgerPlace {
  /** Whether this session is counted: not one that leaves nothing behind. */
  readonly counts: boolean;
  now(): number;
  /** What people should know. */
  tell(text: string): void;
}

/** Long enough that no request waits for it. */
const KEEP_AFTER_MS = 1_000;
/** Whoever has it writes one small file. */
const LOCK = { staleMs: 10_000, waitMs: 2_000 };

/** Nothing depends on it but whose description is cut first, so a session goes on without it. */
export function openSkillLedger(parts: LedgerParts): SkillLedger {
  const tally = openSessionTally();
  let known: ReadonlyMap<string, number> | undefined;
  let writing = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = async (): Promise<void> => {
    const tallies = tally.take();
    if (tallies.length === 0 || !parts.counts) return;
    try {
      const done = await withFileLock(`${fileIn(parts)}.lock`, LOCK, () => add(parts, tallies));
      if (done === undefined) throw new Error('another program holds it');
    } catch (thrown) {
      parts.tell(`the ledger of skills cannot be written: ${messageOf(thrown)}`);
    }
  };
  const keep = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    ...tally,
    counts() {
      known ??= readStarts(parts);
      return known;
    },
    started(skill, by) {
      tally.started(skill, by);
      if (parts.counts) timer ??= setTimeout(keep, KEEP_AFTER_MS).unref();
    },
    keep,
  };
}

/** What stands in the ledger, the most started first. An error: why it is not used. */
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

/** Adds to what other sessions have written. Only for whoever holds the lock. */
async function add(parts: LedgerParts, tallies: readonly Tally[]): Promise<void> {
  const file = fileIn(parts);
  const before = await readSkillLedger(parts);
  if (!before.ok) {
    const aside = setAside(file);
    parts.tell(`the ledger of skills begins anew, the old one is ${aside}: ${before.error}`);
  }
  const records = new Map((before.ok ? before.value : []).map((one) => [recordKey(one), one]));
  const last = new Date(parts.now()).toISOString().slice(0, 'YYYY-MM-DD'.length);
  for (const tally of tallies) {
    const key = recordKey(tally);
    const before = records.get(key);
    records.set(key, { ...(before === undefined ? tally : addCounts(tally, before)), last });
  }
  await parts.fs.writeAtomic(file, ledgerText(records.values()), { mode: 0o600 });
}

function readStarts(place: LedgerPlace): ReadonlyMap<string, number> {
  const options = { maxBytes: MOST_LEDGER_BYTES, noLink: true };
  try {
    const records = readRecords(readTextSync(fileIn(place), options).text);
    return startsOf(records.ok ? records.value : []);
  } catch {
    // Not there yet; whoever writes it tells of everything else.
    return new Map();
  }
}

/** What is to be added to the record of a skill. */
type Tally = Omit<SkillRecord, 'last'>;

/** What a session has done with skills. A session counts once, however often it lists a skill. */
interface SessionTally {
  listed(skills: readonly Skill[], listing: SkillListing): void;
  started(skill: Skill, by: Invoker): void;
  /** Nothing more will be listed: what was left out to the end, and what waited for a file. */
  end(waiting: readonly Skill[]): void;
  /** What was not taken before. */
  take(): readonly Tally[];
}

type Named = Pick<Skill, 'name' | 'file'>;

function openSessionTally(): SessionTally {
  const fresh = new Map<string, Tally>();
  const offered = new Set<string>();
  const shortened = new Set<string>();
  const taken = new Set<string>();
  const startedHere = new Map<string, Named>();
  const leftOut = new Map<string, { readonly skill: Named; readonly why: LeftOutWhy }>();

  const add = (skill: Named, change: (before: Tally) => Partial<Tally>): void => {
    const key = recordKey(skill);
    const before = fresh.get(key) ?? emptyTally(skill);
    fresh.set(key, { ...before, ...change(before) });
  };
  const once = (seen: Set<string>, skill: Named, field: 'offered' | 'shortened' | 'taken') => {
    const key = recordKey(skill);
    if (seen.has(key)) return;
    seen.add(key);
    add(skill, (before) => ({ [field]: before[field] + 1 }));
  };
  const tally = (skills: readonly Skill[], { shown, cut, hidden }: SkillListing): void => {
    const byName = new Map(skills.map((skill) => [skill.name, skill]));
    const withSkill = (name: string, use: (skill: Skill) => void): void => {
      const skill = byName.get(name);
      if (skill !== undefined) use(skill);
    };
    const omit = (name: string, why: LeftOutWhy): void =>
      withSkill(name, (skill) => leftOut.set(recordKey(skill), { skill, why }));
    for (const { name } of shown) withSkill(name, (skill) => once(offered, skill, 'offered'));
    for (const { name, how } of cut) {
      if (how === 'left out') omit(name, 'room');
      else withSkill(name, (skill) => once(shortened, skill, 'shortened'));
    }
    for (const { name, why } of hidden) omit(name, why);
  };
  const countTaken = (): void => {
    for (const [key, skill] of startedHere) if (offered.has(key)) once(taken, skill, 'taken');
  };
  return {
    listed: tally,
    started({ name, file }, by) {
      const skill = { name, file };
      startedHere.set(recordKey(skill), skill);
      add(skill, (before) => ({ [by]: before[by] + 1 }));
    },
    end(waiting) {
      countTaken();
      for (const skill of waiting) leftOut.set(recordKey(skill), { skill, why: 'file' });
      for (const [key, { skill, why }] of leftOut) {
        if (offered.has(key)) continue;
        add(skill, (before) => ({
          leftOut: { ...before.leftOut, [why]: before.leftOut[why] + 1 },
        }));
      }
      leftOut.clear();
    },
    take() {
      countTaken();
      const tallies = [...fresh.values()];
      fresh.clear();
      return tallies;
    },
  };
}

function emptyTally({ name, file }: Named): Tally {
  const leftOut = NOTHING_LEFT_OUT;
  return { name, file, offered: 0, taken: 0, model: 0, person: 0, shortened: 0, leftOut };
}
