import { withoutHidden } from '../../context/instructions/text.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { sha256 } from '../../platform/hash.js';
import { someNames } from '../discovery/names.js';

/** Which skill texts are in which agent's conversation. */
export interface SaidBefore {
  has(agentPath: string, skill: string, text: string): boolean;
  add(agentPath: string, skill: string, text: string): void;
  remove(agentPath: string, skill: string, text: string): void;
  /** After a summary: the skill texts of the conversation, the newest first. */
  summarised(agentPath: string): readonly SaidText[];
  /** Forgets an ended conversation, or all of them. */
  forget(agentPath?: string): void;
}

interface Said {
  /** Hashes of whole texts. */
  readonly keys: Set<string>;
  /** Each skill's last text, truncated for showing it again; the newest last. */
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
      // One character more than is shown, which marks a truncated text.
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

export interface SaidText {
  readonly skill: string;
  readonly text: string;
}

const CHARS_PER_TOKEN = 4;
/** For one skill: 5,000 tokens. */
export const LONGEST_AGAIN = 5_000 * CHARS_PER_TOKEN;
/** For all together: 25,000 tokens, and at most a tenth of the window. */
const MOST_TOKENS = 25_000;
const SHARE = 0.1;

/**
 * Skill texts that a summary removed from a conversation, to be shown again: the newest first, within the
 * budget. Undefined when there are none.
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
    // A short fragment could be mistaken for the whole text.
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
 * A skill's text for the model: without hidden characters and with our tags escaped, so that neither its
 * author nor a command's output can imitate the program. Commands ran as written.
 */
export function shownText(text: string): { readonly text: string; readonly removed: number } {
  const { text: seen, removed } = withoutHidden(text);
  return { text: seen.replace(MARK, '&lt;$1system-reminder'), removed };
}

const MARK = /<(\s{0,9}\/?\s{0,9})system-reminder/gi;
