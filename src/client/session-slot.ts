import type {
  AgentSession,
  Asker,
  AskIncludes,
  LoopEvent,
  SessionConfig,
  SessionNews,
} from '../app.js';
import { PortcullisError } from '../errors.js';
import type { AskElicitation } from '../protocol/elicitation.js';
import type { SessionEvent } from './events.js';
import { jsonEvent } from './json-event.js';
import type { QuestionBroker } from './question-broker.js';

/** What a session gets from the runner that opens it. */
export interface SessionPorts {
  emit(event: LoopEvent | SessionNews): void;
  readonly asker: Asker;
  readonly elicit: AskElicitation;
  readonly askIncludes: AskIncludes;
  /** Asks the clients about the session that is opening: trust, servers. */
  readonly questions: QuestionBroker;
  ready?(): Promise<void> | undefined;
}

/** The session that takes the place of the one before. */
export interface Replacement {
  readonly trigger: 'clear' | 'resume';
  readonly id: string;
}

/** The options of the session that takes the place of the one before. */
export function replaced(
  config: SessionConfig,
  replacement: Replacement | undefined,
): SessionConfig {
  if (replacement === undefined) return config;
  const { trigger, id } = replacement;
  return trigger === 'clear'
    ? { ...config, start: { kind: 'new', id }, fork: false, startedBy: 'clear' }
    : { ...config, start: { kind: 'resume', id, newId: undefined, at: undefined }, fork: false };
}

export interface SlotOptions {
  /** Opens the session once it is needed, and another one each time that it is replaced. */
  open(ports: SessionPorts, replacement: Replacement | undefined): Promise<AgentSession>;
  /** Undefined: every client keeps up. Otherwise resolves when more may be told. */
  ready?(): Promise<void> | undefined;
}

interface SlotDeps {
  emit(event: SessionEvent): void;
  questions(): QuestionBroker;
  /** The session could not be opened. */
  onRefused(): void;
  /** No session is opened any more. */
  isOver(): boolean;
}

/** The place of the one session that is open: filled when it is needed, refilled by `/clear` and `/resume`. */
export class SessionSlot {
  /** Undefined: none was asked for yet. */
  session: Promise<AgentSession> | undefined;
  current: AgentSession | undefined;
  /** What clients have changed about the session, applied again to the one that takes its place. */
  readonly steering: (() => Promise<void>)[] = [];
  readonly #options: SlotOptions;
  readonly #deps: SlotDeps;

  constructor(options: SlotOptions, deps: SlotDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  open(): Promise<AgentSession> {
    if (this.session === undefined && this.#deps.isOver()) {
      return Promise.reject(new PortcullisError('session', 'the session has ended'));
    }
    this.session ??= this.#fill(undefined);
    return this.session;
  }

  /** Closes the session and opens another one in its place, steered as it was. */
  async replace(replacement: Replacement, promptId: string | undefined): Promise<void> {
    const { trigger, id: newId } = replacement;
    const old = await this.open();
    await old.close(trigger);
    this.#deps.emit({ type: 'replacing', trigger, newId, promptId });
    // Not before now: a client may have changed it while the old one was closing.
    const { mode } = old.info();
    this.session = this.#fill(replacement);
    const fresh = await this.session;
    if (fresh.info().mode !== mode) fresh.setMode(mode);
    // fail-closed: what was restricted before is not free now; a refusal ends the session. Changes that
    // come in meanwhile are the last, so that they count.
    for (const apply of this.steering) await apply();
  }

  #fill(replacement: Replacement | undefined): Promise<AgentSession> {
    const { emit, questions, onRefused } = this.#deps;
    const broker = questions();
    const opening = this.#options.open(
      {
        emit: (event) => emit(jsonEvent(event)),
        asker: (request) => broker.askAboutCall(request),
        elicit: (question, signal) => broker.elicit(question, signal),
        askIncludes: () => Promise.resolve('later'),
        questions: broker,
        ...(this.#options.ready && { ready: this.#options.ready }),
      },
      replacement,
    );
    opening.then((session) => {
      this.current = session;
      session.requests.onCommands(() => emit({ type: 'commands_changed' }));
      emit({ type: 'opened', info: session.info() });
      // A refused start ends the program at once, also while a client keeps its side open.
    }, onRefused);
    return opening;
  }
}
