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
  pendingOf,
  questionOf,
  tooLongText,
} from './inbox.js';

export interface InboxAskerParts {
  readonly inbox: Inbox;
  readonly sessionId: string;
  /** How long a question waits, in milliseconds. */
  expiryMs(): number;
  /** Somebody reads the inbox although no host is there. */
  unattended(): boolean;
  self(): ProcessStamp;
  now(): number;
  /** A new id for a question. */
  newId(): string;
  emit(news: SessionNews): void;
  warn(text: string): void;
  /** All its questions lie there, under this name: the session works for another one. */
  readonly member?: { readonly name: string; readonly path: string } | undefined;
  /** Milliseconds between two looks for an answer. */
  readonly lookMs?: number;
}

const LOOK_MS = 250;

/**
 * Questions of background agents lie in the inbox as well as before the host. Whoever answers first
 * has answered. Undefined: there is nobody at all, and every question is a no.
 */
export function inboxAsker(inner: Asker | undefined, parts: InboxAskerParts): Asker | undefined {
  const { member } = parts;
  if (inner === undefined && member === undefined && !parts.unattended()) return undefined;
  return async (request) => {
    const isOwn = member === undefined && !request.call.agent.background;
    if (isOwn) return await (inner ?? NOBODY)(request);
    const { id, now, expires } = times(parts);
    const asked = questionOf(request, {
      id,
      sessionId: parts.sessionId,
      askedAt: now,
      expiresAt: expires,
      by: parts.self(),
    });
    // fail-closed: there is nobody else who could see all of it.
    if (inner === undefined && asked.tooLong === true) return tooLong(asked);
    const question = member === undefined ? asked : { ...asked, agent: memberOf(asked, member) };
    try {
      parts.inbox.put(question);
    } catch (thrown) {
      parts.warn(`a question of ${question.agent.path} is not in the inbox: ${messageOf(thrown)}`);
      return await (inner ?? NOBODY)(request);
    }
    return await firstAnswer(inner, { request, question, parts });
  };
}

/** fail-closed: without anybody to ask, nobody says yes. */
const NOBODY: Asker = async () => ({ behavior: 'deny', message: '', unanswered: true });

/** The main agent of a teammate is called like it; others are below it. */
function memberOf(
  { agent }: InboxQuestion,
  { name, path }: { readonly name: string; readonly path: string },
): InboxQuestion['agent'] {
  const isMain = agent.id === MAIN_AGENT.id;
  return {
    ...agent,
    ...(isMain ? { name } : {}),
    path: agent.path.replace(new RegExp(`^${MAIN_AGENT.path}(?=/|$)`), path),
  };
}

function times({ newId, now, expiryMs }: InboxAskerParts) {
  const at = now();
  return { id: newId(), now: at, expires: at + expiryMs() };
}

interface Asked {
  readonly request: AskRequest;
  readonly question: InboxQuestion;
  readonly parts: InboxAskerParts;
}

/** Puts the question to everybody at once; the others are told that it is settled. */
function firstAnswer(inner: Asker | undefined, asked: Asked): Promise<AskAnswer> {
  const { request, question, parts } = asked;
  const { inbox, emit } = parts;
  const { signal } = request.call;
  const others = new AbortController();
  const told = pendingOf(question);
  emit({ type: 'inbox', state: 'asked', question: told });
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (answer: AskAnswer, state: 'answered' | 'expired' | 'withdrawn'): void => {
      if (isSettled) return;
      isSettled = true;
      clearInterval(looking);
      signal.removeEventListener('abort', withdraw);
      forget(parts, question.id);
      others.abort(new Error('the question is settled'));
      emit({
        type: 'inbox',
        state,
        question: told,
        by: answer.by,
      });
      resolve(answer);
    };
    const withdraw = (): void => settle({ behavior: 'deny', message: WITHDRAWN }, 'withdrawn');
    const look = (): void => {
      const found = inbox.answerTo(question);
      if (found?.ok === true) settle(answerOf(found.value, question), 'answered');
      else if (found !== undefined) {
        // fail-closed: somebody tampered with the answers; this question gets none from there.
        parts.warn(`an answer to ${question.id} does not count: ${found.error}`);
        settle({ behavior: 'deny', message: TAMPERED }, 'withdrawn');
      } else if (parts.now() >= question.expiresAt) {
        settle({ behavior: 'deny', message: expired(question), unanswered: true }, 'expired');
      }
    };
    const looking = setInterval(look, parts.lookMs ?? LOOK_MS);
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) withdraw();
    if (inner !== undefined && !isSettled) {
      const { id, expiresAt } = question;
      const named = { ...request, question: { id, expiresAt } };
      void ask(inner, named, others.signal).then((answer) => {
        // Nobody was there after all: the inbox still may be read.
        const isNobody = answer.behavior === 'deny' && answer.unanswered === true;
        if (!isNobody) settle(answer, 'answered');
        else if (question.tooLong === true) settle(tooLong(question), 'withdrawn');
      });
    }
  });
}

/** An answer counts although its question cannot be taken away: it ends with its time. */
function forget({ inbox, warn }: InboxAskerParts, id: string): void {
  try {
    inbox.remove(id);
  } catch (thrown) {
    warn(`the question ${id} is settled and still in the inbox: ${messageOf(thrown)}`);
  }
}

async function ask(inner: Asker, request: AskRequest, settled: AbortSignal): Promise<AskAnswer> {
  const signal = AbortSignal.any([request.call.signal, settled]);
  try {
    return await inner({ ...request, call: { ...request.call, signal } });
  } catch (thrown) {
    // fail-closed: a host that cannot answer has not said yes.
    return { behavior: 'deny', message: `The question was not answered (${messageOf(thrown)}).` };
  }
}

function answerOf(
  { behavior, scope, message, person }: InboxAnswer,
  { id, tool }: InboxQuestion,
): AskAnswer {
  const by = person === undefined ? `inbox ${id}` : `inbox ${id} (${person})`;
  if (behavior === 'deny') {
    return { behavior, by, message: message ?? `The user refused ${tool}.` };
  }
  return scope === 'once' ? { behavior, by } : { behavior, by, scope: FOR_SESSION };
}

function tooLong({ tool }: InboxQuestion): AskAnswer {
  return { behavior: 'deny', message: tooLongText(tool) };
}

const FOR_SESSION = { what: 'exact', until: 'session' } as const;
const WITHDRAWN = 'The question was withdrawn.';
const TAMPERED = 'The question was withdrawn: its answer could not be trusted.';

function expired({ askedAt, expiresAt }: InboxQuestion): string {
  const minutes = Math.round((expiresAt - askedAt) / 60_000);
  return `Nobody answered the question within ${minutes} minutes.`;
}

/** The program's own name may be a path, a link or an alias. */
const ANSWERS = /\binbox\s+answer\b|portcullis[\s\S]*\binbox\b[\s\S]*\banswer\b/;

/** An agent does not answer its own questions, nor those of others. */
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
