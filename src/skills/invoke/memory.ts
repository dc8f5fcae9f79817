import { withoutHidden } from '../../context/instructions/text.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { sha256 } from '../../platform/hash.js';
import { someNames } from '../discovery/names.js';

/** Which texts of skills stand in the conversation of which agent. */
export interface SaidBefore {
  has(agentPath: string, skill: string, text: string): boolean;
  add(agentPath: string, skill: string, text: string): void;
  remove(agentPath: string, skill: string, text: string): void;
  /** A summary took the place of the conversation: what skills said in it, the newest first. */
  summarised(agentPath: string): readonly SaidText[];
  /** The conversation has ended: nothing stands there any more. Absent: of everybody. */
  forget(agentPath?: string): void;
}

interface Said {
  /** Of whole texts. */
  readonly keys: Set<string>;
  /** The last one of each skill, as far as it is shown again; the newest last. */
  readonly texts: Map<string, string>;
}

export function createSaidBefore(): SaidBefore {
  const said = new Map<string, Said>();
  const keyOf = (skill: string, text: string): string => `${sha256(text)} ${skill}`;
  return {
    has: (agentPath, skill, text) => said.get(agentPath)?.keys.has(keyOf(skill, text)) === true,
    add(agentPath, skill, text) {
      const mine = said.get(agentPath) ?? { keys: new Set(), texts: new Map() };
      mine.keys.add(keyOf(skill, text));
      mine.texts.delete(skill);
      // One more than is shown: whoever shows it sees that there is more.
      mine.texts.set(skill, text.slice(0, LONGEST_AGAIN + 1));
      said.set(agentPath, mine);
    },
    remove(agentPath, skill, text) {
      const mine = said.get(agentPath);
      mine?.keys.delete(keyOf(skill, text));
      mine?.texts.delete(skill);
    },
    summarised(agentPath) {
      const mine = said.get(agentPath);
      mine?.keys.clear();
      return [...(mine?.texts ?? [])].map(([skill, text]) => ({ skill, text })).reverse();
    },
    forget(agentPath) {
      if (agentPath === undefined) said.clear();
      else said.delete(agentPath);
    },
  };
}

/** What a skill has said in a conversation. */
export interface SaidText {
  readonly skill: string;
  /** Its first part, where it is long. */
  readonly text: string;
}

const CHARS_PER_TOKEN = 4;
/** Of one skill: 5,000 tokens. */
export const LONGEST_AGAIN = 5_000 * CHARS_PER_TOKEN;
/** Of all together: 25,000 tokens, and no more than a tenth of the window. */
const MOST_TOKENS = 25_000;
const SHARE = 0.1;

/**
 * The texts of skills that a summary has taken out of a conversation, to be shown again: the newest
 * first, while there is room. Undefined when there is none.
 */
export function skillsAgain(
  said: readonly SaidText[],
  windowTokens: number | undefined,
): string | undefined {
  const tokens = Math.min(MOST_TOKENS, (windowTokens ?? Number.POSITIVE_INFINITY) * SHARE);
  let room = Math.floor(tokens * CHARS_PER_TOKEN);
  const shown: string[] = [];
  const named: string[] = [];
  for (const { skill, text } of said) {
    const kept = sliceWhole(text, 0, Math.min(LONGEST_AGAIN, room));
    // A few words of it would be taken for all there is.
    if (kept.length < Math.min(text.length, LEAST_CHARS)) {
      named.push(skill);
      continue;
    }
    room -= kept.length;
    const more = kept.length < text.length ? '\n… [the rest is left out; start it again]' : '';
    shown.push(`## Skill ${skill}\n\n${kept}${more}`);
  }
  if (shown.length + named.length === 0) return undefined;
  const others =
    named.length === 0
      ? []
      : [`Without their texts, for want of room: ${someNames(named, MOST_NAMED)}`];
  return [HEADER, ...shown, ...others].join('\n\n');
}

const LEAST_CHARS = 400;
const HEADER =
  'These skills were started before the summary. Their texts hold on, the newest first; do not begin them anew.';
const MOST_NAMED = 30;

/**
 * A skill's text as the model gets it: without what a person who reads the file cannot see, and
 * without marks of ours, so that neither its author nor the output of a command speaks as the
 * program. Commands were run as they are written.
 */
export function shownText(text: string): { readonly text: string; readonly removed: number } {
  const { text: seen, removed } = withoutHidden(text);
  return { text: seen.replace(MARK, '&lt;$1system-reminder'), removed };
}

const MARK = /<(\s{0,9}\/?\s{0,9})system-reminder/gi;
