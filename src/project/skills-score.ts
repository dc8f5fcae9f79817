import type { SkillListing } from '../skills/listing/listing.js';

/** One prompt, and the skill that a model should take for it. */
export interface SkillTest {
  readonly line: number;
  readonly prompt: string;
  /** Undefined: none. */
  readonly skill: string | undefined;
  /** A file that is touched first, for skills that wait for one. */
  readonly touch?: string;
}

/** One prompt, shown once to a model. */
export interface Trial {
  readonly test: SkillTest;
  readonly chosen: readonly string[];
  readonly listing: SkillListing;
  /** The model did not answer. */
  readonly failure?: string;
}

export interface SkillScore {
  readonly trials: number;
  readonly passed: number;
  /** Of the skills that should have been taken, the part that was. */
  readonly recall: number;
  /** Of the skills that were taken, the part that should have been. */
  readonly precision: number;
  readonly ledger: readonly LedgerRow[];
}

/** What became of one skill. */
export interface LedgerRow {
  readonly skill: string;
  /** How often the model was shown it. */
  readonly offered: number;
  /** How often it was the right one. */
  readonly expected: number;
  readonly chosen: number;
  /** It was the right one and was not taken. */
  readonly skipped: number;
  /** It was taken and was not the right one. */
  readonly wrong: number;
}

/** The right skill and no other; none where none is right. */
export function hasPassed({ test, chosen, failure }: Trial): boolean {
  if (failure !== undefined) return false;
  return test.skill === undefined
    ? chosen.length === 0
    : chosen.length === 1 && chosen[0] === test.skill;
}

/** The right skill, where the model answered and did not take it. */
export function skippedIn({ test, chosen, failure }: Trial): string | undefined {
  const isTaken = test.skill === undefined || chosen.includes(test.skill);
  return isTaken || failure !== undefined ? undefined : test.skill;
}

export function scoreOf(trials: readonly Trial[]): SkillScore {
  const names = new Set(
    trials.flatMap(({ listing, chosen, test }) => [
      ...listing.shown.map(({ name }) => name),
      ...chosen,
      ...(test.skill === undefined ? [] : [test.skill]),
    ]),
  );
  const ledger = [...names].sort().map((skill) => rowOf(skill, trials));
  const sum = (field: 'expected' | 'chosen' | 'skipped' | 'wrong'): number =>
    ledger.reduce((total, row) => total + row[field], 0);
  const right = sum('chosen') - sum('wrong');
  return {
    trials: trials.length,
    passed: trials.filter(hasPassed).length,
    recall: ratio(right, sum('expected')),
    precision: ratio(right, sum('chosen')),
    ledger,
  };
}

function rowOf(skill: string, trials: readonly Trial[]): LedgerRow {
  const count = (holds: (trial: Trial) => boolean): number => trials.filter(holds).length;
  const isRight = ({ test }: Trial): boolean => test.skill === skill;
  const isChosen = ({ chosen }: Trial): boolean => chosen.includes(skill);
  return {
    skill,
    offered: count(({ listing }) => listing.shown.some(({ name }) => name === skill)),
    expected: count(isRight),
    chosen: count(isChosen),
    skipped: count((trial) => skippedIn(trial) === skill),
    wrong: count((trial) => !isRight(trial) && isChosen(trial)),
  };
}

/** Nothing that could go wrong did not go wrong. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}
