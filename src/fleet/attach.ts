import { EventLog } from '../client/event-log.js';
import type { Envelope, SessionEvent } from '../client/events.js';
import type { AnyAnswer } from '../client/questions.js';
import type {
  CommandName,
  Commands,
  EventOptions,
  HistoryEntry,
  SessionClient,
  SessionSnapshot,
} from '../client/session-client.js';
import { messageOf, PortcullisError } from '../errors.js';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { mailOf } from './order.js';
import type { Fleet, FleetSession, OpenAsk, SessionPhase } from './types.js';

const POLL_MS = 1_000;

/**
 * A client of a session that a worker somewhere drives. It sees what the worker stores for it, may answer questions
 * and send messages, and leaves without ending anything.
 */
export class FleetClient implements SessionClient {
  readonly name: string;
  readonly sessionId: string;
  /** Resolves when the client has left, or the session was cancelled. */
  readonly closed: Promise<void>;
  readonly #fleet: Fleet;
  readonly #by: string;
  readonly #log = new EventLog(Date.now);
  readonly #left = new AbortController();
  readonly #asks = new Map<string, OpenAsk>();
  #session: FleetSession;
  #after = 0;
  #end: () => void = () => undefined;

  private constructor(fleet: Fleet, session: FleetSession, by: string) {
    this.name = `fleet ${by}`;
    this.#fleet = fleet;
    this.#session = session;
    this.#by = by;
    this.sessionId = session.order.id;
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** How many subscriptions are open. */
  get followers(): number {
    return this.#log.listeners;
  }

  /** Joins a session and follows it until `close`. */
  static async attach(fleet: Fleet, session: FleetSession, by: string): Promise<FleetClient> {
    const client = new FleetClient(fleet, session, by);
    // What was stored for earlier clients is in the transcript as well.
    client.#after = (await fleet.watch(client.sessionId, 0)).at(-1)?.seq ?? 0;
    client.#log.append({ type: 'state', state: stateOf(session.phase) });
    void client.#follow();
    return client;
  }

  async snapshot(): Promise<SessionSnapshot> {
    return {
      seq: this.#log.seq,
      replayFrom: this.#log.replayFrom,
      state: this.#session.phase === 'cancelled' ? 'closed' : stateOf(this.#session.phase),
      queue: [],
      calls: [],
      tasks: [],
      agents: [],
      questions: [...this.#asks.values()].map(({ question }) => question),
      usage: { costUsd: this.#session.spentUsd, unknownModels: [], modelUsage: {} },
    };
  }

  subscribe(listener: (envelope: Envelope) => void, options?: EventOptions): () => void {
    return this.#log.subscribe(listener, options);
  }

  events(options?: EventOptions & { readonly signal?: AbortSignal }): AsyncIterable<Envelope> {
    return this.#log.events(options, this.#left.signal);
  }

  async send<K extends CommandName>(
    name: K,
    params: Commands[K]['params'],
  ): Promise<Commands[K]['result']> {
    const handler = this.#handlers[name];
    if (handler === undefined) {
      throw new PortcullisError('usage', `a session of the fleet takes no ${name} from here`, {
        remedy: 'send it a message, answer its questions, or cancel it',
      });
    }
    return await (handler as (given: typeof params) => Promise<Commands[K]['result']>)(params);
  }

  /** `shown`: what the person saw, and who they are, where this client answers for several people. */
  async answer(
    id: string,
    answer: AnyAnswer,
    shown?: { readonly hash: string; readonly person: string },
  ): Promise<'accepted' | 'closed'> {
    if (shown !== undefined) {
      const ask = (await this.#fleet.asks(this.sessionId)).find((one) => one.id === id);
      if (ask === undefined) return 'closed';
      // fail-closed: an answer holds only for the call that was shown.
      if (ask.callHash !== shown.hash) {
        throw new PortcullisError('usage', 'the question has changed since it was shown', {
          remedy: 'read it again, then answer',
        });
      }
    }
    const by = shown === undefined ? this.#by : `${this.#by} (${shown.person})`;
    return await this.#fleet.answer(id, { by, answer, at: new Date().toISOString() });
  }

  close(): void {
    this.#left.abort();
    this.#end();
  }

  readonly #handlers: {
    readonly [K in CommandName]?: (params: Commands[K]['params']) => Promise<Commands[K]['result']>;
  } = {
    prompt: async ({ content, priority }) => {
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      const mail = mailOf(text, { from: this.#by, when: priority === 'later' ? 'later' : 'next' });
      if (!(await this.#fleet.send(this.sessionId, mail))) {
        throw new PortcullisError('session', 'the session was cancelled');
      }
      return { id: mail.id };
    },
    history: async ({ limit = 100 }) => {
      const entries = await this.#fleet.entries(this.sessionId);
      return entries
        .filter(({ agent }) => agent === '')
        .flatMap(({ line }) => historyOf(line))
        .slice(-limit);
    },
    complete: async () => [],
    interrupt: async () => ({ interrupted: false, stillQueued: [] }),
    cancelPrompt: async () => ({ cancelled: false }),
    command: async ({ line }) => ({
      text: `${line.split(' ')[0]} is not available for sessions of the fleet`,
      failed: true,
    }),
    end: async () => null,
  };

  async #follow(): Promise<void> {
    const { signal } = this.#left;
    let problem = '';
    while (!signal.aborted && this.#session.phase !== 'cancelled') {
      try {
        await this.#read();
        problem = '';
      } catch (thrown) {
        const text = `the fleet does not answer: ${messageOf(thrown)}`;
        if (text !== problem) this.#log.append({ type: 'notice', level: 'warning', text });
        problem = text;
      }
      await this.#fleet.wait(POLL_MS, signal, this.sessionId);
    }
  }

  async #read(): Promise<void> {
    for (const { seq, event } of await this.#fleet.watch(this.sessionId, this.#after)) {
      this.#after = seq;
      const parsed = parseJson(event);
      // Questions come from the inbox, under the ids that answers go by.
      const isShown =
        parsed.ok && isRecord(parsed.value) && !LOCAL_EVENTS.has(String(parsed.value.type));
      if (isShown) this.#log.append(parsed.value as unknown as SessionEvent);
    }
    const open = await this.#fleet.asks(this.sessionId);
    for (const ask of open.filter(({ id }) => !this.#asks.has(id))) {
      this.#asks.set(ask.id, ask);
      this.#log.append({ type: 'question', question: ask.question });
    }
    for (const id of [...this.#asks.keys()].filter((one) => !open.some((ask) => ask.id === one))) {
      this.#asks.delete(id);
      this.#log.append({ type: 'question_closed', id, outcome: 'answered' });
    }
    const session = await this.#fleet.show(this.sessionId);
    if (session !== undefined) this.#changed(session);
  }

  #changed(session: FleetSession): void {
    const { phase, reason, epoch } = session;
    const before = this.#session;
    this.#session = session;
    if (phase === before.phase && reason === before.reason && epoch === before.epoch) return;
    const why = reason === '' ? '' : `: ${reason}`;
    this.#log.append({ type: 'notice', level: 'info', text: `the session is ${phase}${why}` });
    this.#log.append({ type: 'state', state: stateOf(phase) });
    if (phase === 'cancelled') {
      this.#log.append({ type: 'closed', reason: 'cancelled' });
      this.#end();
    }
  }
}

/** A drive that ends does not end the session. */
const LOCAL_EVENTS: ReadonlySet<string> = new Set([
  'question',
  'question_closed',
  'closing',
  'closed',
  'state',
]);

function stateOf(phase: SessionPhase): 'idle' | 'running' | 'requires_action' {
  if (phase === 'running' || phase === 'ready') return 'running';
  return phase === 'parked' ? 'requires_action' : 'idle';
}

function historyOf(line: string): readonly HistoryEntry[] {
  const parsed = parseJson(line);
  const entry = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  const role = entry.type;
  if ((role !== 'user' && role !== 'assistant') || entry.isMeta === true) return [];
  const content = isRecord(entry.message) ? entry.message.content : undefined;
  const blocks =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : Array.isArray(content)
        ? content
        : [];
  const texts = blocks.filter(isRecord).filter(({ type }) => type === 'text');
  const tools = blocks
    .filter(isRecord)
    .flatMap(({ type, name }) => (type === 'tool_use' ? [String(name)] : []));
  const text = texts
    .map((block) => String(block.text))
    .filter((one) => !one.startsWith('<system-reminder>'))
    .join('\n');
  return text === '' && tools.length === 0
    ? []
    : [{ role, text, ...(tools.length > 0 && { tools }) }];
}
