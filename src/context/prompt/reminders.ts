import { visible } from '../../lib/text/visible.js';
import type { Message } from '../../protocol/content.js';

export interface EnvironmentFacts {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly platform: string;
  readonly date: string;
  readonly gitBranch: string | undefined;
  readonly model: string;
}

/**
 * Sent before the first prompt and recorded with the conversation, so that a resumed session sends the same
 * bytes again.
 */
export function environmentReminder(facts: EnvironmentFacts): string {
  return reminder(environmentText(facts));
}

/** Whether a message shows the environment as the start of a session does; other runtimes' messages do not. */
export function hasEnvironmentReminder({ role, content }: Message): boolean {
  return (
    role === 'user' &&
    content.some((block) => block.type === 'text' && block.text.startsWith(OPENING_START))
  );
}

/** Shown when a session goes on in another place than where it was left. */
export function movedReminder(facts: EnvironmentFacts): string {
  return reminder(`The session continues in another environment.\n${environmentText(facts)}`);
}

/** Marks text that comes from the runtime and not from the user. */
export function reminder(text: string): string {
  return reminderOf([text]);
}

/** The same for lines, which are put together once: there may be a thousand names in them. */
export function reminderOf(lines: readonly string[]): string {
  const whole = [OPEN, ...lines, CLOSE].join('\n');
  const inside = whole.slice(OPEN.length + 1, -CLOSE.length - 1);
  // Names and files are quoted in it: none of them may close the mark or open one of its own.
  const quoted = inside.replace(/<(\s{0,9}\/?\s{0,9})system-reminder/gi, '&lt;$1system-reminder');
  return quoted === inside ? whole : `${OPEN}\n${quoted}\n${CLOSE}`;
}

const OPEN = '<system-reminder>';
const CLOSE = '</system-reminder>';
const FIRST_FACT = 'Primary working directory: ';
const OPENING_START = `${OPEN}\n${FIRST_FACT}`;

/** One line each: the name of a folder is no place to give orders from. */
export function environmentText(facts: EnvironmentFacts): string {
  const lines = [
    `${FIRST_FACT}${visible(facts.cwd)}`,
    ...facts.additionalDirectories.map((one) => `Additional directory: ${visible(one)}`),
    `Git branch: ${visible(facts.gitBranch ?? 'none (not a repository)')}`,
    `Platform: ${facts.platform}`,
    `Date: ${facts.date}`,
    `Model: ${facts.model}`,
  ];
  return lines.join('\n');
}
