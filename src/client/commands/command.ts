import type { AgentSession } from '../../app.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import type { Receipt } from '../../protocol/permissions.js';
import type { BackgroundTask } from '../../protocol/session-events.js';
import type { CommandOutput } from '../events.js';
import type { AnyAnswer, Question } from '../questions.js';
import type { Completion, CompletionQuery } from '../session-client.js';

/** A slash command: works in every client that can show text. */
export interface SlashCommand {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** A verb first, no full stop. */
  readonly summary: string;
  /** `[name]`, `<path>`. */
  readonly argumentHint?: string;
  /** It waits until no turn runs. */
  readonly needsIdle?: boolean;
  /** Who may run it with an argument, which changes something. Absent: any caller. */
  readonly argumentFrom?: 'client' | 'person';
  /** What the argument could be; those that do not begin with what is typed are left out. */
  complete?(context: CommandContext, typed: string): Promise<readonly ArgumentOption[]>;
  /** Rejects with a `PortcullisError` fit to be shown. */
  run(context: CommandContext, argument: string): Promise<CommandOutput>;
}

export interface ArgumentOption {
  readonly text: string;
  readonly description?: string;
}

/** What slash commands may use of the session and of the turn runner that owns it. */
export interface CommandContext {
  readonly session: AgentSession;
  readonly runner: CommandRunner;
  readonly caller: CommandCaller;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Who runs a command: the text of a prompt, which anyone may have written; a client that answers no permission
 * questions, such as a pipe; or a client that answers them for a person.
 */
export type CommandCaller = 'prompt' | 'client' | 'person';

/** What slash commands may ask of the turn runner. */
export interface CommandRunner {
  /** Whether a turn runs. */
  isRunning(): boolean;
  /** Opens an empty conversation in the place of this one. */
  clear(): Promise<void>;
  /** Opens an earlier conversation in the place of this one. */
  resume(sessionId: string): Promise<void>;
  /** Queues a prompt in which no command and no mention is looked for. */
  prompt(text: string): void;
  /** Makes a change again in every session that takes the place of this one. A refusal ends that session. */
  carryOver(apply: (session: AgentSession) => Promise<void>): void;
  tasks(): readonly BackgroundTask[];
  /** Open questions, oldest first. */
  questions(): readonly Question[];
  answer(id: string, answer: AnyAnswer): Promise<'accepted' | 'closed'>;
  /** Decisions about tool calls in this session, oldest first. */
  receipts(): readonly Receipt[];
}

/** The slash commands of a program. */
export interface SlashCommandTable {
  /** The command that a line names and its argument; undefined: it is no command of the runtime. */
  find(line: string): FoundCommand | undefined;
  /** What the word before the cursor could become. */
  complete(context: CommandContext, query: CompletionQuery): Promise<readonly Completion[]>;
}

export interface FoundCommand {
  readonly command: SlashCommand;
  readonly argument: string;
}

export function defineCommand(command: SlashCommand): SlashCommand {
  return command;
}

/** Output that is text alone. */
export function text(lines: string | readonly string[]): CommandOutput {
  const whole = typeof lines === 'string' ? lines : lines.join('\n');
  return { text: whole.trimEnd() };
}

/** Output that says why the command did nothing. */
export function failed(message: string): CommandOutput {
  return { text: message, failed: true };
}

/** Runs a command. A refusal becomes output that says why, and what to do about it. */
export async function runCommand(
  { command, argument }: FoundCommand,
  context: CommandContext,
): Promise<CommandOutput> {
  const { name, argumentFrom } = command;
  const { caller } = context;
  // fail-closed: what no person is known to have typed changes nothing that a person or a host decides.
  if (argument !== '' && argumentFrom !== undefined && caller !== 'person') {
    if (caller === 'prompt') {
      return failed(`A prompt cannot run /${name} with an argument. Type it in a conversation.`);
    }
    if (argumentFrom === 'person') return failed(`/${name} with an argument needs a terminal.`);
  }
  try {
    return await command.run(context, argument);
  } catch (thrown) {
    const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
    const hint = remedy === undefined ? '' : ` · ${remedy}`;
    return failed(visible(`${messageOf(thrown)}${hint}`));
  }
}
