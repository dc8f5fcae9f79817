import { visible } from '../../lib/text/visible.js';
import type { InputMessage } from '../../loop/types.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { InstructionBook } from '../instructions/book.js';
import { instructionsReminder } from '../instructions/reminder.js';
import type { LoadedFiles, LoadedInstruction } from '../instructions/types.js';
import { type EnvironmentFacts, environmentReminder, movedReminder } from './reminders.js';

export interface FirstMessagesParts {
  readonly facts: EnvironmentFacts;
  /** The session's instructions. */
  readonly book: Pick<InstructionBook, 'open'>;
  /** Undefined for a new session. */
  readonly resumedFrom: { readonly cwd: string | undefined } | undefined;
  emit(news: SessionNews): void;
  uuid(): string;
}

/** The messages before the first prompt of this process; empty when the history already has them. */
export interface FirstMessages {
  readonly messages: readonly InputMessage[];
  /** The instruction files among it. */
  readonly paths: readonly string[];
  /** The same with all that is known about them. */
  readonly loaded: readonly LoadedInstruction[];
}

export async function createFirstMessages(parts: FirstMessagesParts): Promise<FirstMessages> {
  const { facts, resumedFrom } = parts;
  const note = (...texts: readonly string[]): InputMessage => ({
    uuid: parts.uuid(),
    content: texts.map((text) => ({ type: 'text', text })),
    meta: true,
  });
  if (resumedFrom !== undefined) {
    // The history already holds the instructions; only a move is news.
    const moved = resumedFrom.cwd !== undefined && resumedFrom.cwd !== facts.cwd;
    const messages = moved ? [note(movedReminder(facts))] : [];
    return { messages, paths: [], loaded: [] };
  }
  const found = await parts.book.open();
  for (const text of instructionWarnings(found)) {
    parts.emit({ type: 'notice', level: 'warning', text });
  }
  const instructions = instructionsReminder(found.files, { occasion: 'start' });
  const environment = environmentReminder(facts);
  return {
    messages: [note(environment, ...(instructions === undefined ? [] : [instructions]))],
    paths: found.files.filter(({ kind }) => kind !== 'setting').map(({ path }) => path),
    loaded: found.files,
  };
}

/** What a person should be told about the instructions: what was left out or is wrong with them. */
export function instructionWarnings({ files, skipped }: LoadedFiles): readonly string[] {
  const left = skipped
    .filter(({ warn }) => warn)
    .map(({ path, reason, parent }) => {
      const by = parent === undefined ? '' : `, which ${visible(parent)} includes,`;
      return `${visible(path)}${by} was not read: ${visible(reason)}`;
    });
  const noted = files.flatMap(({ path, notes }) =>
    notes.map((text) => `${visible(path)}: ${visible(text)}`),
  );
  return [...left, ...noted];
}
