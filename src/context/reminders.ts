import { head } from '../util/truncate.js';
import type { Instruction } from './instructions.js';

/** Longest text of one instruction file that is shown. */
export const INSTRUCTION_CAP = 40_000;

export interface EnvironmentFacts {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly platform: string;
  readonly date: string;
  readonly gitBranch: string | undefined;
  readonly model: string;
}

/**
 * What stands before the first prompt, in the same user message: facts and instructions. It is
 * recorded with the conversation, so a resumed session sends the same bytes again.
 */
export function sessionReminder(
  facts: EnvironmentFacts,
  instructions: readonly Instruction[],
): string {
  return reminder([environmentText(facts), ...instructionTexts(instructions)].join('\n\n'));
}

/** Shown when a session goes on in another place than where it was left. */
export function movedReminder(facts: EnvironmentFacts): string {
  return reminder(`The session continues in another environment.\n${environmentText(facts)}`);
}

/** Marks text that comes from the runtime and not from the user. */
export function reminder(text: string): string {
  // Names and files are quoted in it: none of them may close the mark or open one of its own.
  const quoted = text.replace(/<(\/?)system-reminder/gi, '&lt;$1system-reminder');
  return `<system-reminder>\n${quoted}\n</system-reminder>`;
}

function environmentText(facts: EnvironmentFacts): string {
  const lines = [
    `Working directory: ${facts.cwd}`,
    ...facts.additionalDirectories.map((directory) => `Additional directory: ${directory}`),
    `Git branch: ${facts.gitBranch ?? 'none (not a repository)'}`,
    `Platform: ${facts.platform}`,
    `Date: ${facts.date}`,
    `Model: ${facts.model}`,
  ];
  return lines.join('\n');
}

function instructionTexts(instructions: readonly Instruction[]): string[] {
  if (instructions.length === 0) return [];
  return [
    'Instructions of the user and the project. They override your defaults; follow them as written.',
    ...instructions.map(
      ({ path, scope, text }) =>
        `Contents of ${path} (${scope}):\n\n${head(text, INSTRUCTION_CAP)}`,
    ),
  ];
}
