import {
  type Approval,
  type Finding,
  type Guard,
  NOTHING,
  type Resolver,
} from '../../permissions/guard.js';
import type { GateCall } from '../../permissions/types.js';
import { sha256 } from '../../platform/hash.js';
import { knownField } from '../head/fields.js';
import { findCommands } from '../invoke/shell-commands.js';
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

interface NotedSkill {
  readonly skill: Skill;
  /** The fingerprint that it had when the call was judged. */
  readonly content: string;
}

export function createSkillApprovals(book: Pick<SkillBook, 'find'>): SkillApprovals {
  const judged = new Map<string, NotedSkill>();
  const note = async ({ toolUseId, input }: GateCall): Promise<Finding> => {
    const skill = typeof input.skill === 'string' ? await book.find(input.skill) : undefined;
    if (skill === undefined) return NOTHING;
    judged.delete(toolUseId);
    judged.set(toolUseId, { skill, content: await skillFingerprint(skill) });
    for (const [oldest] of judged) {
      if (judged.size <= MOST_NOTED) break;
      judged.delete(oldest);
    }
    return NOTHING;
  };
  return {
    guard: {
      name: 'skill content',
      onFailure: 'deny',
      decide: async ({ call }) => (call.tool.name === SKILL_TOOL ? note(call) : NOTHING),
    },
    resolver: plainSkillResolver((toolUseId) => judged.get(toolUseId)),
    contentOf: (toolUseId) => judged.get(toolUseId)?.content,
    take(toolUseId) {
      const content = judged.get(toolUseId)?.content;
      judged.delete(toolUseId);
      return content;
    },
  };
}

/** Opens the call of a skill that is nothing but text. */
function plainSkillResolver(noted: (toolUseId: string) => NotedSkill | undefined): Resolver {
  return {
    name: 'plain skills',
    async decide({ call }) {
      if (call.tool.name !== SKILL_TOOL) return undefined;
      // The content that the call is judged with, and not what is in the file a moment later.
      const found = noted(call.toolUseId);
      return found === undefined ? undefined : openingFor(found);
    },
  };
}

async function openingFor({ skill, content }: NotedSkill): Promise<Approval> {
  const body = await skill.body();
  const source = `skill ${skill.name} (${skill.file})`;
  // fail-closed: a text that is another one by now is not the one that is run.
  if (fingerprintOf(skill, body) !== content) {
    return { decision: 'pass', reason: `the ${source} has changed`, source };
  }
  const [first, ...others] = reasonsToAsk(skill, body);
  if (first === undefined) {
    return { decision: 'allow', reason: 'the skill is nothing but text', source };
  }
  return { decision: 'pass', reason: `the ${source} ${[first, ...others].join(', ')}`, source };
}

/** Keys that neither grant nor start anything: words, and who is offered the skill when. */
const HARMLESS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'whentouse',
  'arguments',
  'argumenthint',
  'model',
  'effort',
  'license',
  'compatibility',
  'metadata',
  'paths',
  'disablemodelinvocation',
  'userinvocable',
]);

/** Why a call of the model asks first; empty for a skill that is nothing but text. */
export function reasonsToAsk(skill: Pick<Skill, 'head'>, body: string): readonly string[] {
  const reasons: string[] = [];
  // A field that the reader of heads does not know has no effect here.
  const keys = skill.head.keys.filter(
    (key) => knownField(key) !== undefined && !HARMLESS.has(folded(key)) && hasEffect(key, skill),
  );
  if (keys.length > 0) reasons.push(`sets ${keys.join(', ')}`);
  const commands = findCommands(body).length;
  if (commands > 0) reasons.push(`runs ${commands === 1 ? 'a command' : `${commands} commands`}`);
  return reasons;
}

/**
 * Of a head with mistakes every key is known, and what a key says counts or is lost as a whole. A
 * grant that came to nothing is none.
 */
function hasEffect(key: string, { head }: Pick<Skill, 'head'>): boolean {
  return key !== 'allowed-tools' || head.allowedTools !== undefined;
}

/** `when_to_use`, `whenToUse` and `when-to-use` are one name. */
function folded(key: string): string {
  return key.toLowerCase().replace(/[-_\s]/g, '');
}
