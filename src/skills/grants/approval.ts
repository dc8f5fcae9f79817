import { own } from '../../lib/own.js';
import { type Guard, NOTHING, type Resolver } from '../../permissions/gate/guard.js';
import { sha256 } from '../../platform/hash.js';
import { FIELDS, knownField } from '../head/fields.js';
import { findCommands } from '../invoke/render.js';
import type { Skill, SkillBook } from '../skill.js';

/** The tool that these guards and resolvers are about. */
export const SKILL_TOOL = 'Skill';

/** Changes with anything in the skill's file that has an effect, and with where the file is. */
export async function skillFingerprint(skill: Skill): Promise<string> {
  return fingerprintOf(skill, await skill.body());
}

/** The same with a text that was read already. */
export function fingerprintOf(skill: Skill, body: string): string {
  const { name, origin, source, file, directory, head, trusted } = skill;
  return sha256(JSON.stringify([name, origin, source, file, directory, trusted, head, body]));
}

/** Keeps what is allowed and what is run the same skill. */
export interface SkillApprovals {
  /** Notes which content a call is judged with. Never holds a call back. */
  readonly guard: Guard;
  /** Lets through what needs no question. */
  readonly resolver: Resolver;
  /** The content that this call was judged with; undefined for calls of other tools. */
  contentOf(toolUseId: string): string | undefined;
  /** The same, for the one who runs the call: it is forgotten. */
  take(toolUseId: string): string | undefined;
}

/** Calls that were refused are never run and would stay for ever. */
const MOST_NOTED = 256;

export function createSkillApprovals(book: Pick<SkillBook, 'find'>): SkillApprovals {
  /** The skill of each call, with the fingerprint that it had when the call was judged. */
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
        // fail-closed: a text that is another one by now is not the one that is run.
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

/** Why a call of the model asks first; empty for a skill that is nothing but text. */
export function reasonsToAsk(skill: Pick<Skill, 'head'>, body: string): readonly string[] {
  const reasons: string[] = [];
  const keys = skill.head.keys.filter((key) => {
    // A field that the reader of heads does not know has no effect here.
    const field = own(FIELDS, knownField(key) ?? '');
    if (field === undefined || field.isHarmless === true) return false;
    // What a key says counts or is lost as a whole; a grant that came to nothing is none.
    return key !== 'allowed-tools' || skill.head.allowedTools !== undefined;
  });
  if (keys.length > 0) reasons.push(`sets ${keys.join(', ')}`);
  const commands = findCommands(body).length;
  if (commands > 0) reasons.push(`runs ${commands === 1 ? 'a command' : `${commands} commands`}`);
  return reasons;
}
