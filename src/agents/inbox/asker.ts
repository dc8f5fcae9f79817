import { messageOf } from '../../errors.js';
import { type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { AskAnswer, Asker, AskRequest } from '../../permissions/gate/types.js';
import type { ProcessStamp } from '../../platform/process/process-stamp.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import {
  type Inbox,
  type InboxAnswer,
  type InboxQuestion,
  MOST_SHOWN_CHARS,
  pendingOf,
  questionOf,
} from './inbox.js';

export interface InboxAskerParts {
  readonly inbox: Pick<Inbox, 'put' | 'answerTo' | 'remove'>;
  readonly sessionId: string;
  /** How long a question waits, in milliseconds. */
  expiryMs(): number;
  /** Whether a person reads the inbox although no host is connected. */
  unattended(): boolean;
  self(): ProcessStamp;
  now(): number;
  newId(): string;
  emit(news: SessionNews): void;
  warn(text: string): void;
  /** Set for a teammate: all its questions go to the inbox under this name. */
  readonly member?: { readonly name: string; readonly path: string } | undefined;
  /** Milliseconds between two checks for an answer. */
  readonly lookMs?: number;
}

const LOOK_MS = 250;

/** fail-closed: without a host the answer is no. */
const UNANSWERED: Asker = async () => ({ behavior: 'deny', message: '', unanswered: true });

/**
 * Puts questions of background agents into the inbox as well as to the host; the first answer counts.
 * Undefined when neither exists, so that every question is refused.
 */
export function inboxAsker(inner: Asker | undefined, parts: InboxAskerParts): Asker | undefined {
  const { member, inbox, now, sessionId } = parts;
  if (inner === undefined && member === undefined && !parts.unattended()) return undefined;
  return async (request) => {
    const isOwn = member === undefined && !request.call.agent.background;
    if (isOwn) return await (inner ?? UNANSWERED)(request);
    const askedAt = now();
    const expiresAt = askedAt + parts.expiryMs();
    const facts = { id: parts.newId(), sessionId, askedAt, expiresAt, by: parts.self() };
    const asked = questionOf(request, facts);
    // fail-closed: without a host no person could see the whole question.
    if (inner === undefined && asked.tooLong === true) return tooLong(asked);
    const question = member === undefined ? asked : { ...asked, agent: memberOf(asked, member) };
    try {
      inbox.put(question);
    } catch (thrown) {
      parts.warn(`a question of ${question.agent.path} is not in the inbox: ${messageOf(thrown)}`);
      return await (inner ?? UNANSWERED)(request);
    }
    return await firstAnswer(inner, { request, question, parts });
  };
}

/** The main agent of a teammate gets the teammate's name; other agents are listed below it. */
function memberOf(
  { agent }: InboxQuestion,
  { name, path }: { readonly name: string; readonly path: string },
): InboxQuestion['agent'] {
  const [, ...below] = agent.path.split('/');
  const isMain = agent.id === MAIN_AGENT.id;
  return { ...agent, name: isMain ? name : agent.name, path: [path, ...below].join('/') };
}

interface Asked {
  readonly request: AskRequest;
  readonly question: InboxQuestion;
  readonly parts: InboxAskerParts;
}

/** Asks the host and the inbox at once and withdraws the question where it was not answered. */
function firstAnswer(
  inner: Asker | undefined,
  { request, question, parts }: Asked,
): Promise<AskAnswer> {
  const { inbox, emit, warn } = parts;
  const { id, expiresAt } = question;
  const { signal } = request.call;
  const others = new AbortController();
  const told = pendingOf(question);
  emit({ type: 'inbox', state: 'asked', question: told });
  return new Promise((resolve) => {
    const settle = (answer: AskAnswer, state: 'answered' | 'expired' | 'withdrawn'): void => {
      if (others.signal.aborted) return;
      clearInterval(looking);
      signal.removeEventListener('abort', withdraw);
      try {
        inbox.remove(id);
      } catch (thrown) {
        // The answer counts although the question could not be removed; it expires there.
        warn(`the question ${id} is settled and still in the inbox: ${messageOf(thrown)}`);
      }
      others.abort(new Error('the question is settled'));
      emit({ type: 'inbox', state, question: told, by: answer.by });
      resolve(answer);
    };
    const withdraw = (): void => settle(no('The question was withdrawn.'), 'withdrawn');
    const look = (): void => {
      const found = inbox.answerTo(question);
      if (found?.ok === true) settle(answerOf(found.value, question), 'answered');
      else if (found !== undefined) {
        // fail-closed: the answer file was tampered with, so the inbox gives no answer to this question.
        warn(`an answer to ${id} does not count: ${found.error}`);
        const message = 'The question was withdrawn: its answer could not be trusted.';
        settle(no(message), 'withdrawn');
      } else if (parts.now() >= expiresAt) {
        const minutes = Math.round((expiresAt - question.askedAt) / 60_000);
        const message = `The question was not answered within ${minutes} minutes.`;
        settle({ ...no(message), unanswered: true }, 'expired');
      }
    };
    const looking = setInterval(look, parts.lookMs ?? LOOK_MS);
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) withdraw();
    if (inner === undefined || others.signal.aborted) return;
    const named = { ...request, question: { id, expiresAt } };
    void ask(inner, named, others.signal).then((answer) => {
      // The host's person is away, but the inbox may still be read.
      const isUnanswered = answer.behavior === 'deny' && answer.unanswered === true;
      if (!isUnanswered) settle(answer, 'answered');
      else if (question.tooLong === true) settle(tooLong(question), 'withdrawn');
    });
  });
}

async function ask(inner: Asker, request: AskRequest, settled: AbortSignal): Promise<AskAnswer> {
  const signal = AbortSignal.any([request.call.signal, settled]);
  try {
    return await inner({ ...request, call: { ...request.call, signal } });
  } catch (thrown) {
    // fail-closed: a host that cannot answer has not said yes.
    return no(`The question was not answered (${messageOf(thrown)}).`);
  }
}

function answerOf(
  { behavior, scope, message, person }: InboxAnswer,
  { id, tool }: InboxQuestion,
): AskAnswer {
  const by = person ? `inbox ${id} (${person})` : `inbox ${id}`;
  if (behavior === 'deny') return { behavior, by, message: message || `The user refused ${tool}.` };
  if (scope === 'once') return { behavior, by };
  return { behavior, by, scope: { what: 'exact', until: 'session' } };
}

function no(message: string) {
  return { behavior: 'deny', message } as const;
}

/** A refusal that tells the agent how to avoid it. */
function tooLong({ tool }: InboxQuestion): AskAnswer {
  return no(
    `${tool} was refused: the call is too long for a person to judge (more than ${MOST_SHOWN_CHARS} characters). Split it into smaller ones.`,
  );
}

/** Matches any invocation, because the program may be run by a path, a link or an alias. */
const ANSWERS = /\binbox\s+answer\b|portcullis[\s\S]*\binbox\b[\s\S]*\banswer\b/;

/** Agents cannot answer questions, neither their own nor those of others. */
export const inboxGuard: Guard = {
  name: 'inbox',
  onFailure: 'deny',
  async decide({ call }) {
    const { command } = call.subject;
    if (command === undefined || !ANSWERS.test(command.replace(/['"\\\n]/g, ''))) return NOTHING;
    return {
      decision: 'deny',
      reason: 'only people answer the questions of agents; what an agent runs cannot',
      source: 'inbox',
    };
  },
};
