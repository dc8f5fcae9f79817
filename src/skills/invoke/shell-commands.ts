import { embeddedCommands } from '../../lib/embedded-commands.js';

/** A command that stands in the text of a skill. Positions are those of the text. */
export interface CommandSpan {
  /** The whole of it, marks included; the output takes its place. */
  readonly start: number;
  readonly end: number;
  /** The command itself. */
  readonly from: number;
  readonly to: number;
}

/**
 * The commands of a skill's text that are run, in order. Looked for in what the author wrote, before
 * anything is put in, so that no argument can begin, end or be a command.
 */
export function findCommands(text: string): readonly CommandSpan[] {
  return embeddedCommands(text).filter(({ runs }) => runs);
}
