import { knownLimits } from '../app.js';
import { PortcullisError } from '../errors.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { textOf } from '../protocol/content.js';
import { callerOf } from './command-runner.js';
import type { CommandOutput, Envelope } from './events.js';
import type { Respondent } from './question-broker.js';
import type { AnyAnswer, QuestionKind } from './questions.js';
import { type AskFile, remember } from './remember.js';
import type {
  CommandName,
  Commands,
  EventOptions,
  HistoryEntry,
  SessionClient,
  SessionSnapshot,
} from './session-client.js';
import type { TurnRunner } from './turn-runner.js';

/** Every kind of question, for clients that have a person before them. */
export const ALL_QUESTIONS: readonly QuestionKind[] = [
  'permission',
  'plan',
  'choices',
  'form',
  'url',
  'confirm',
];

export interface ClientOptions {
  readonly name: string;
  /** The kinds of questions that it can show and answer; absent: none. */
  readonly answers?: readonly QuestionKind[] | undefined;
}

/** Joins a session in this process. */
export function connectClient(runner: TurnRunner, options: ClientOptions): LocalClient {
  return new LocalClient(runner, options);
}

type Handlers = {
  readonly [K in CommandName]: (
    params: Commands[K]['params'],
    signal: AbortSignal | undefined,
  ) => Promise<Commands[K]['result']>;
};

export class LocalClient implements SessionClient {
  readonly name: string;
  readonly #runner: TurnRunner;
  /** How the question broker knows this client. */
  readonly respondent: Respondent;
  readonly #left = new AbortController();
  readonly #subscriptions = new Set<() => void>();

  constructor(runner: TurnRunner, { name, answers = [] }: ClientOptions) {
    this.name = name;
    this.#runner = runner;
    this.respondent = { name, answers };
    runner.questions.connect(this.respondent);
  }

  get sessionId(): string {
    return this.#runner.current?.id ?? '';
  }

  async snapshot(): Promise<SessionSnapshot> {
    const { log, queue, calls, questions, state, current } = this.#runner;
    const info = current?.info();
    const accounts = current?.accounts();
    const contextWindow = info && knownLimits(info.model)?.contextWindow;
    return {
      seq: log.seq,
      replayFrom: log.replayFrom,
      state: state.phase,
      ...(info && { info }),
      queue: [...queue.all],
      calls: calls.open(),
      tasks: state.tasks,
      agents: state.agents.map((one) => ({
        ...one,
        spent: current?.inspect.spent(one.agent.path),
      })),
      questions: questions.open,
      usage: {
        costUsd: accounts?.cost.knownUsd ?? 0,
        unknownModels: accounts?.cost.unknownModels ?? [],
        modelUsage: accounts?.modelUsage ?? {},
        ...(state.contextTokens !== undefined && { contextTokens: state.contextTokens }),
        ...(contextWindow !== undefined && { contextWindow }),
        main: current?.inspect.spent(MAIN_AGENT.path),
      },
    };
  }

  subscribe(listener: (envelope: Envelope) => void, options?: EventOptions): () => void {
    const stop = this.#runner.log.subscribe(listener, options);
    this.#subscriptions.add(stop);
    return stop;
  }

  events(
    options?: EventOptions & { readonly signal?: AbortSignal },
  ): AsyncGenerator<Envelope, void, void> {
    return this.#runner.log.events(options, this.#left.signal);
  }

  async send<K extends CommandName>(
    name: K,
    params: Commands[K]['params'],
    signal?: AbortSignal,
  ): Promise<Commands[K]['result']> {
    if (this.#left.signal.aborted) throw new PortcullisError('session', `${this.name} has left`);
    const isOver = this.#runner.state.phase === 'closed';
    if (isOver && (name === 'prompt' || name === 'command')) {
      throw new PortcullisError('session', 'the session has ended');
    }
    return await this.#handlers[name](params, signal);
  }

  async answer(
    id: string,
    answer: AnyAnswer,
    /** The person, where the client speaks for several. */
    person?: { readonly by: string },
  ): Promise<'accepted' | 'closed'> {
    return this.#runner.questions.answer(id, answer, this.respondent, person);
  }

  /** This client cannot answer after all; the question stays open for others. */
  decline(id: string, refusal: { readonly message: string; readonly silent: boolean }): void {
    this.#runner.questions.decline(id, this.respondent, refusal);
  }

  close(): void {
    for (const stop of this.#subscriptions) stop();
    this.#left.abort();
    this.#runner.questions.disconnect(this.respondent);
  }

  /** fail-closed: a client that may not answer for a person does not type for one either. */
  #requirePerson(): void {
    if (callerOf(this.respondent) === 'person') return;
    throw new PortcullisError('usage', `${this.name} cannot act for a person`, {
      remedy: 'connect a client that answers permission questions',
    });
  }

  readonly #askFile: AskFile = (question) =>
    this.#runner.questions.confirm(question, { only: this.respondent });

  readonly #handlers: Handlers = {
    prompt: async ({ content, id, priority = 'next', verbatim, typed }) => {
      const uuid = id ?? this.#runner.uuid();
      const message = {
        uuid,
        content,
        ...(verbatim === true && { verbatim }),
        ...(typed !== undefined && { typed }),
      };
      this.#runner.push({ message, priority, named: id !== undefined });
      return { id: uuid };
    },
    cancelPrompt: async ({ id }) => ({ cancelled: this.#runner.cancel(id) }),
    interrupt: async ({ cancelQueued, stopTasks }) => {
      const interrupted = this.#runner.interrupt();
      if (stopTasks === true) this.#runner.current?.requests.stopAgents();
      if (cancelQueued === true) this.#runner.cancelAll();
      return {
        interrupted,
        stillQueued: this.#runner.queue.all.map(({ message }) => message.uuid),
      };
    },
    command: async ({ line }): Promise<CommandOutput> => {
      const output = await this.#runner.command(line, this.respondent);
      if (output !== undefined) return output;
      // A skill or a prompt of a server: the session knows it, or says that it does not.
      await this.#handlers.prompt({ content: [{ type: 'text', text: line }] }, undefined);
      return { text: '' };
    },
    shell: async ({ command }) => {
      this.#requirePerson();
      await this.#runner.shell(command);
      return null;
    },
    remember: async ({ text }) => {
      this.#requirePerson();
      const session = await this.#runner.open();
      return { path: await remember(session, text, this.#askFile) };
    },
    image: async (wanted, signal = this.#left.signal) => {
      this.#requirePerson();
      const read = await (await this.#runner.open()).requests.readImage(wanted, signal);
      if (!read.ok) throw new PortcullisError('tool', read.error);
      return { image: read.value };
    },
    complete: (query, signal = this.#left.signal) =>
      this.#runner.complete({ ...query, signal }, this.respondent),
    configure: async ({ mode, model, title }) => {
      const session = await this.#runner.open();
      if (mode !== undefined) session.setMode(mode);
      if (model !== undefined) {
        const name = model === 'default' ? undefined : model;
        const apply = async (): Promise<void> => {
          await (await this.#runner.open()).setModel(name, 'command');
        };
        await apply();
        this.#runner.steered(apply);
      }
      if (title !== undefined) session.requests.rename(title);
      return session.info();
    },
    history: async ({ limit = 100 }) => {
      const session = await this.#runner.open();
      return session.history().map(historyEntry).filter(isShown).slice(-limit);
    },
    task: async ({ id, action }) => {
      const { requests } = await this.#runner.open();
      if (action === 'stop') return { found: await requests.stopTask(id) };
      const output = await requests.taskOutput(id);
      return output === undefined ? { found: false } : { found: true, output: output.text };
    },
    end: async () => {
      this.#runner.stop('prompt_input_exit');
      return null;
    },
  };
}

function historyEntry(
  message: ReturnType<NonNullable<TurnRunner['current']>['history']>[number],
): HistoryEntry {
  const { role, content } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const tools = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
  const shown = blocks.filter((block) => block.type !== 'text' || !FOR_MODEL.test(block.text));
  const text = textOf(shown).replace(TYPED_SHELL, '! $1');
  return { role, text, ...(tools.length > 0 && { tools }) };
}

/** A shell command that the person typed, with its output. */
const TYPED_SHELL = /<bash-input>(.*?)<\/bash-input>.*?<bash-stderr>.*?<\/bash-stderr>/gs;

/** Reminders and reports of background work are for the model alone. */
const FOR_MODEL = /^<(system-reminder|task-notification)>/;

function isShown({ text, tools }: HistoryEntry): boolean {
  return text !== '' || tools !== undefined;
}
