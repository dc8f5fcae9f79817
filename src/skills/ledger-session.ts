import type { Invoker } from './invoke-find.js';
import { type LeftOutWhy, NOTHING_LEFT_OUT, recordKey, type SkillRecord } from './ledger-record.js';
import type { SkillListing } from './listing.js';
import type { Skill } from './skill.js';

/** What is to be added to the record of a skill. */
export type Tally = Omit<SkillRecord, 'last'>;

/** What a session has done with skills. A session counts once, however often it lists a skill. */
export interface SessionTally {
  listed(skills: readonly Skill[], listing: SkillListing): void;
  started(skill: Skill, by: Invoker): void;
  /** Nothing more will be listed: what was left out to the end, and what waited for a file. */
  end(waiting: readonly Skill[]): void;
  /** What was not taken before. */
  take(): readonly Tally[];
}

/** Of a session that is not counted. */
export const NO_TALLY: SessionTally = {
  listed: () => undefined,
  started: () => undefined,
  end: () => undefined,
  take: () => [],
};

type Named = Pick<Skill, 'name' | 'file'>;

export function openSessionTally(): SessionTally {
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
