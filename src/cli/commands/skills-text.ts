import {
  type LeftOutWhy,
  NOTHING_LEFT_OUT,
  type SkillRecord,
  skippedOf,
} from '../../skills/ledger-record.js';
import type { Skill } from '../../skills/skill.js';

/** A skill without its text, for machines. */
export function skillData(skill: Skill): Readonly<Record<string, unknown>> {
  const { name, origin, source, file, directory, head, trusted, bodyLine, problems } = skill;
  return { name, origin, source, file, directory, trusted, bodyLine, head, problems };
}

/** What became of a skill in sessions, for machines; of one that no session knew, too. */
export function recordData(record: SkillRecord | undefined): Readonly<Record<string, unknown>> {
  return {
    offered: record?.offered ?? 0,
    chosen: { model: record?.model ?? 0, person: record?.person ?? 0 },
    skipped: record === undefined ? 0 : skippedOf(record),
    shortened: record?.shortened ?? 0,
    leftOut: record?.leftOut ?? NOTHING_LEFT_OUT,
    ...(record === undefined ? {} : { last: record.last }),
  };
}

/** In one line. */
export function recordText(record: SkillRecord): string {
  const { offered, model, person } = record;
  const chosen = `chosen ${model} × by the model, ${person} × by people`;
  return [
    `so far: offered in ${offered} sessions`,
    chosen,
    `skipped in ${skippedOf(record)}`,
    ...shortfalls(record),
  ].join('; ');
}

/** In how many sessions it was not shown, or not in full, and why. */
export function shortfalls({ shortened, leftOut }: SkillRecord): readonly string[] {
  const left = LEFT_OUT_WORDS.flatMap(([why, words]) =>
    leftOut[why] === 0 ? [] : [`left out of ${leftOut[why]}: ${words}`],
  );
  return shortened === 0 ? left : [`shortened in ${shortened}`, ...left];
}

const LEFT_OUT_WORDS: readonly (readonly [LeftOutWhy, string])[] = [
  ['room', 'no room in the list'],
  ['people', 'only people start it'],
  ['settings', 'settings or the host hide it'],
  ['file', 'no file that it waits for was touched'],
];
