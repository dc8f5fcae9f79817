import { type AskAnswer, type AskRequest, readAskAnswer } from '../app.js';
import { messageOf, PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import type { ElicitQuestion, ElicitReply } from '../protocol/elicitation.js';
import { callQuestion } from './call-question.js';
import type { SessionEvent } from './events.js';
import type { AnyAnswer, Question, QuestionKind } from './questions.js';

/** A client that sees questions and may answer them. */
export interface Respondent {
  readonly name: string;
  /** The kinds of questions that it can show and answer. */
  readonly answers: readonly QuestionKind[];
}

/** How a question ended. `silent`: no client was there to answer it. */
type Outcome =
  | {
      readonly kind: 'answered';
      readonly answer: unknown;
      readonly by: string;
      /** The person, where a client that speaks for several named one. */
      readonly person?: string | undefined;
    }
  | { readonly kind: 'refused'; readonly message: string; readonly silent: boolean };

interface OpenQuestion {
  readonly question: Question;
  /** Those who may still answer. */
  readonly respondents: Set<Respondent>;
  /** For one client alone: those that join later are not asked. */
  readonly personal: boolean;
  close(outcome: Outcome, told: ClosedAs): void;
}

type ClosedAs = Extract<SessionEvent, { type: 'question_closed' }>['outcome'];

/** Each kind without what the broker adds. */
type NewQuestion<Q = Question> = Q extends Question ? Omit<Q, 'id' | 'askedAt'> : never;

interface AskOptions {
  readonly id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Only this client is asked. */
  readonly only?: Respondent | undefined;
}

export interface BrokerDeps {
  emit(event: SessionEvent): void;
  /** How many calls wait for an answer has changed from or to none. */
  onWaiting(isWaiting: boolean): void;
  now(): number;
  uuid(): string;
}

/**
 * Puts the questions of a session to its clients. The first valid answer wins; no answer, expiry or the
 * end of the last client that could answer is the refusing answer.
 */
export class QuestionBroker {
  readonly #deps: BrokerDeps;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #clients = new Set<Respondent>();
  #waitingCalls = 0;
  #closed = false;

  constructor(deps: BrokerDeps) {
    this.#deps = deps;
  }

  /** Questions without an answer, oldest first. */
  get open(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  connect(client: Respondent): void {
    this.#clients.add(client);
    for (const open of this.#open.values()) {
      const { kind } = open.question;
      if (client.answers.includes(kind) && !open.personal) open.respondents.add(client);
    }
  }

  /** A client that leaves refuses only questions that no other client can answer. */
  disconnect(client: Respondent, message = GONE): void {
    this.#clients.delete(client);
    for (const { question } of [...this.#open.values()]) {
      this.decline(question.id, client, { message, silent: true });
    }
  }

  /** This client has no answer to give; the question stays open for others. */
  decline(
    id: string,
    client: Respondent,
    { message, silent }: { readonly message: string; readonly silent: boolean },
  ): void {
    const open = this.#open.get(id);
    if (open?.respondents.delete(client) !== true || open.respondents.size > 0) return;
    // fail-closed: no client is left who could say yes.
    open.close({ kind: 'refused', message, silent }, 'refused');
  }

  /** Throws where the answer does not fit its question, which stays open. */
  answer(
    id: string,
    given: AnyAnswer,
    client: Respondent,
    named?: { readonly by: string },
  ): 'accepted' | 'closed' {
    const open = this.#open.get(id);
    if (open === undefined) return 'closed';
    if (!open.respondents.has(client)) {
      throw new PortcullisError('usage', `${client.name} cannot answer the question ${id}`);
    }
    const { expiresAt } = open.question;
    if (expiresAt !== undefined && !(this.#deps.now() < Date.parse(expiresAt))) {
      // fail-closed: the timer of a machine that slept is late.
      open.close(expired(expiresAt), 'expired');
      return 'closed';
    }
    const read = readAnswer(open.question, given);
    if (!read.ok) throw new PortcullisError('usage', `not an answer to ${id}: ${read.error}`);
    const person = named?.by;
    const by = person ?? client.name;
    open.close({ kind: 'answered', answer: read.value, by, person }, 'answered');
    return 'accepted';
  }

  /** Refuses all that is open and all that is still asked: the session ends. */
  close(): void {
    this.#closed = true;
    for (const open of [...this.#open.values()]) {
      open.close({ kind: 'refused', message: 'The session has ended.', silent: true }, 'withdrawn');
    }
  }

  /** Whether a call may run: permission, plan approval, the questions of AskUserQuestion. */
  async askAboutCall(request: AskRequest): Promise<AskAnswer> {
    const { question: durable } = request;
    const question = callQuestion(request);
    try {
      this.#waiting(1);
      const outcome = await this.#ask(question, { id: durable?.id, signal: request.call.signal });
      if (outcome.kind === 'answered') {
        const { person: by } = outcome;
        return { ...(outcome.answer as AskAnswer), ...(by !== undefined && { by }) };
      }
      const { message, silent } = outcome;
      return { behavior: 'deny', message, ...(silent && { unanswered: true }) };
    } finally {
      this.#waiting(-1);
    }
  }

  /** A form or page of an MCP server. Undefined: no client can answer. */
  async elicit(asked: ElicitQuestion, signal: AbortSignal): Promise<ElicitReply | undefined> {
    const { server, message, warnings, fields, requestedSchema, elicitationId } = asked;
    const facts = {
      agent: MAIN_AGENT,
      reason: `The MCP server ${server} asks`,
      server,
      message,
      warnings,
    };
    const { url = '', host = '' } = asked;
    const outcome = await this.#ask(
      asked.mode === 'form'
        ? { ...facts, kind: 'form', fields, requestedSchema }
        : { ...facts, kind: 'url', url, host, elicitationId },
      { signal },
    );
    if (outcome.kind === 'answered') return outcome.answer as ElicitReply;
    return signal.aborted ? { action: 'cancel' } : undefined;
  }

  /** A choice of the session itself. Undefined: refused. */
  async confirm(
    question: Omit<Extract<NewQuestion, { kind: 'confirm' }>, 'kind' | 'agent' | 'reason'>,
    options: AskOptions = {},
  ): Promise<string | undefined> {
    const facts = { kind: 'confirm', agent: MAIN_AGENT, reason: question.title } as const;
    const outcome = await this.#ask({ ...facts, ...question }, options);
    return outcome.kind === 'answered' ? (outcome.answer as string) : undefined;
  }

  #ask(asked: NewQuestion, { id, signal, only }: AskOptions): Promise<Outcome> {
    const { emit, now, uuid } = this.#deps;
    const able = [...this.#clients].filter(
      (client) => client.answers.includes(asked.kind) && (only === undefined || client === only),
    );
    const unanswered: Outcome = { kind: 'refused', message: '', silent: true };
    // fail-closed: an answer to the question that is open under this id is none to another one.
    const isTaken = id !== undefined && this.#open.has(id);
    // fail-closed: a question that no client sees is refused at once.
    if (this.#closed || able.length === 0 || isTaken || signal?.aborted === true)
      return Promise.resolve(unanswered);
    const question = {
      ...asked,
      id: id ?? uuid(),
      askedAt: new Date(now()).toISOString(),
    } as Question;
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const close: OpenQuestion['close'] = (outcome, told) => {
        if (!this.#open.delete(question.id)) return;
        clearTimeout(timer);
        signal?.removeEventListener('abort', withdraw);
        // First: the call does not wait for ever because a subscriber fails.
        resolve(outcome);
        const by = outcome.kind === 'answered' ? outcome.by : undefined;
        emit({ type: 'question_closed', id: question.id, outcome: told, by });
      };
      const withdraw = (): void =>
        close(
          { kind: 'refused', message: 'The question was withdrawn.', silent: false },
          'withdrawn',
        );
      signal?.addEventListener('abort', withdraw, { once: true });
      if (question.expiresAt !== undefined) {
        const { expiresAt } = question;
        const ms = Math.max(0, Date.parse(expiresAt) - now());
        timer = setTimeout(() => close(expired(expiresAt), 'expired'), Math.min(ms, MAX_TIMER_MS));
        timer.unref();
      }
      const personal = only !== undefined;
      this.#open.set(question.id, { question, respondents: new Set(able), personal, close });
      try {
        emit({ type: 'question', question });
      } catch (thrown) {
        // fail-closed: a question that a client could not be shown is withdrawn.
        close({ kind: 'refused', message: messageOf(thrown), silent: true }, 'withdrawn');
      }
    });
  }

  #waiting(change: 1 | -1): void {
    this.#waitingCalls += change;
    const isFirst = change === 1 && this.#waitingCalls === 1;
    if (isFirst || this.#waitingCalls === 0) this.#deps.onWaiting(isFirst);
  }
}

const GONE = 'The client that was asked has left.';
const MAX_TIMER_MS = 2_147_483_647;

function expired(at: string): Outcome {
  return { kind: 'refused', message: `The question expired at ${at}.`, silent: true };
}

/** fail-closed: an answer that cannot be read is none. */
function readAnswer(question: Question, given: unknown): Result<unknown, string> {
  if (!isRecord(given)) return err('it is not an object');
  switch (question.kind) {
    case 'permission':
    case 'plan':
      return readAskAnswer(given);
    case 'choices': {
      if (given.behavior !== undefined) return readAskAnswer(given);
      const { answers } = given;
      if (!isRecord(answers) || !Object.values(answers).every((one) => typeof one === 'string')) {
        return err('answers is not an object of texts');
      }
      return ok({ behavior: 'allow', updatedInput: { ...question.call.input, answers } });
    }
    case 'form':
    case 'url': {
      const { action, content } = given;
      if (action === 'decline' || action === 'cancel') return ok({ action });
      if (action !== 'accept') return err('action is none of accept, decline, cancel');
      if (content === undefined) return ok({ action });
      return isRecord(content) ? ok({ action, content }) : err('content is not an object');
    }
    case 'confirm': {
      const found = question.options.find(({ key }) => key === given.option);
      return found === undefined ? err('it names no option') : ok(found.key);
    }
  }
}
