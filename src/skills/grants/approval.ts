import { own } from '../../lib/own.js';
import { type Guard, NOTHING, type Resolver } from '../../permissions/gate/guard.js';
import { sha256 } from '../../platform/hash.js';
import { FIELDS, knownField } from '../head/fields.js';
import { findCommands } from '../invoke/render.js';
import type { Skill, SkillBook } from '../skill.js';

export const SKILL_TOOL = 'Skill';

/** Changes with any effective part of a skill's file, and with the file's location. */
export async function skillFingerprint(skill: Skill): Promise<string> {
  return fingerprintOf(skill, await skill.body());
}

/** The same for a body that was read already. */
export function fingerprintOf(skill: Skill, body: string): string {
  const { name, origin, source, file, directory, head, trusted } = skill;
  return sha256(JSON.stringify([name, origin, source, file, directory, trusted, head, body]));
}

/** Ensures that the skill that runs is the one that was approved. */
export interface SkillApprovals {
  /** Records the content that a call is judged with; never refuses a call. */
  readonly guard: Guard;
  /** Allows skills that need no question. */
  readonly resolver: Resolver;
  /** The content that this call was judged with; undefined for calls of other tools. */
  contentOf(toolUseId: string): string | undefined;
  /** Returns and forgets the content when the call runs. */
  take(toolUseId: string): string | undefined;
}

/** Limits the entries that refused calls leave behind. */
const MOST_NOTED = 256;

export function createSkillApprovals(book: Pick<SkillBook, 'find'>): SkillApprovals {
  /** By call: its skill, with the fingerprint at the time of judging. */
  const judged = new Map<string, { readonly skill: Skill; readonly content: string }>();
  const take = (toolUseId: string): string | undefined => {
    const content = judged.get(toolUseId)?.content;
    judged.delete(toolUseId);
    return content;
  };
  return {
    guard: {
      name: 'skill content',
      onFailure: 'deny',
      async decide({ call: { tool, toolUseId, input } }) {
        const isNamed = tool.name === SKILL_TOOL && typeof input.skill === 'string';
        const skill = isNamed ? await book.find(String(input.skill)) : undefined;
        if (skill === undefined) return NOTHING;
        judged.delete(toolUseId);
        judged.set(toolUseId, { skill, content: await skillFingerprint(skill) });
        const [oldest] = judged.keys();
        if (judged.size > MOST_NOTED && oldest !== undefined) judged.delete(oldest);
        return NOTHING;
      },
    },
    resolver: {
      name: 'plain skills',
      async decide({ call }) {
        const noted = call.tool.name === SKILL_TOOL ? judged.get(call.toolUseId) : undefined;
        if (noted === undefined) return undefined;
        const { skill, content } = noted;
        const body = await skill.body();
        const source = `skill ${skill.name} (${skill.file})`;
        // fail-closed: a changed text is not the one that was judged.
        if (fingerprintOf(skill, body) !== content) {
          return { decision: 'pass', reason: `the ${source} has changed`, source };
        }
        const reasons = reasonsToAsk(skill, body);
        return reasons.length === 0
          ? { decision: 'allow', reason: 'the skill is nothing but text', source }
          : { decision: 'pass', reason: `the ${source} ${reasons.join(', ')}`, source };
      },
    },
    contentOf: (toolUseId) => judged.get(toolUseId)?.content,
    take,
  };
}

/** Why a call of the model needs a question; empty for a skill that is only text. */
export function reasonsToAsk(skill: Pick<Skill, 'head'>, body: string): readonly string[] {
  const reasons: string[] = [];
  const keys = skill.head.keys.filter((key) => {
    // Unknown fields have no effect here.
    const field = own(FIELDS, knownField(key) ?? '');
    if (field === undefined || field.isHarmless === true) return false;
    // A value counts as a whole or is lost as a whole; a lost grant grants nothing.
    return key !== 'allowed-tools' || skill.head.allowedTools !== undefined;
  });
  if (keys.length > 0) reasons.push(`sets ${keys.join(', ')}`);
  const commands = findCommands(body).length;
  if (commands > 0) reasons.push(`runs ${commands === 1 ? 'a command' : `${commands} commands`}`);
  return reasons;
}
