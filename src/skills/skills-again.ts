import { sliceWhole } from '../lib/truncate.js';
import { someNames } from './names.js';

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
