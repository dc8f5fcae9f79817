import type { AgentSession } from '../app.js';
import type { CommandCaller, CommandRunner } from './commands/command.js';
import type { QueuedPrompt } from './events.js';
import type { QuestionBroker, Respondent } from './question-broker.js';
import type { Replacement } from './session-slot.js';
import type { SessionState } from './session-state.js';

/** What slash commands need of the turn runner. */
interface CommandHost {
  readonly isRunning: boolean;
  readonly state: SessionState;
  readonly questions: QuestionBroker;
  replace(replacement: Replacement): Promise<void>;
  push(prompt: QueuedPrompt): void;
  open(): Promise<AgentSession>;
  steered(apply: () => Promise<void>): void;
  uuid(): string;
}

/** A command that came as a prompt answers no questions. */
export const PROMPT: Respondent = { name: 'prompt', answers: [] };

export function callerOf(by: Respondent): CommandCaller {
  if (by === PROMPT) return 'prompt';
  return by.answers.includes('permission') ? 'person' : 'client';
}

/** The turn runner as a slash command sees it. `by`: the client that runs the command. */
export function createCommandRunner(host: CommandHost, by: Respondent): CommandRunner {
  return {
    isRunning: () => host.isRunning,
    clear: () => host.replace({ trigger: 'clear', id: host.uuid() }),
    resume: (id) => host.replace({ trigger: 'resume', id }),
    prompt(text) {
      const content = [{ type: 'text' as const, text }];
      const message = { uuid: host.uuid(), content, verbatim: true };
      host.push({ message, priority: 'next', named: false });
    },
    carryOver: (apply) => host.steered(async () => apply(await host.open())),
    tasks: () => host.state.tasks,
    questions: () => host.questions.open,
    answer: async (id, answer) => host.questions.answer(id, answer, by),
    receipts: () => host.state.receipts,
  };
}
