import type { FileSystem } from '../env/fs.js';
import type { InputMessage } from '../loop/types.js';
import type { SessionNews } from '../protocol/session-events.js';
import { loadInstructions } from './instructions.js';
import { type EnvironmentFacts, movedReminder, sessionReminder } from './reminders.js';

export interface OpeningParts {
  readonly fs: FileSystem;
  readonly configDir: string;
  readonly sources: readonly string[];
  readonly facts: EnvironmentFacts;
  /** Undefined for a new session. */
  readonly resumedFrom: { readonly cwd: string | undefined } | undefined;
  emit(news: SessionNews): void;
  uuid(): string;
}

/** What stands before the first prompt of this process; nothing when the history already says it. */
export interface Opening {
  readonly messages: readonly InputMessage[];
  /** The instruction files among it. */
  readonly paths: readonly string[];
}

export async function openOpening(parts: OpeningParts): Promise<Opening> {
  const { facts, resumedFrom } = parts;
  const note = (text: string): InputMessage => ({
    uuid: parts.uuid(),
    content: [{ type: 'text', text }],
    meta: true,
  });
  if (resumedFrom !== undefined) {
    // The history already holds the instructions; only a move is news.
    const moved = resumedFrom.cwd !== undefined && resumedFrom.cwd !== facts.cwd;
    return { messages: moved ? [note(movedReminder(facts))] : [], paths: [] };
  }
  const instructions = await loadInstructions({
    fs: parts.fs,
    cwd: facts.cwd,
    configDirectory: parts.configDir,
    sources: parts.sources,
    onSkipped: (path, reason) =>
      parts.emit({ type: 'notice', level: 'warning', text: `${path} was not read: ${reason}` }),
  });
  return {
    messages: [note(sessionReminder(facts, instructions))],
    paths: instructions.map((instruction) => instruction.path),
  };
}
