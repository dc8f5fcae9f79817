import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { headAndTail } from '../../lib/truncate.js';
import type { AskRequest } from '../../permissions/gate/types.js';
import { sha256 } from '../../platform/hash.js';
import type { ProcessStamp } from '../../platform/process/process-stamp.js';
import type { PendingQuestion } from '../../protocol/session-events.js';

/** A question of a background agent, as it lies in the inbox. */
export interface InboxQuestion extends PendingQuestion {
  readonly sessionId: string;
  /** Where the call would run. */
  readonly cwd: string;
  /** Of the tool, its input and its directory: an answer is for these alone. */
  readonly callHash: string;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** The process that waits for the answer. */
  readonly by: ProcessStamp;
  /** Not all of it is shown: nobody can say yes to it from here. */
  readonly tooLong?: true;
}

/** An answer, as it lies beside its question. */
export interface InboxAnswer {
  readonly question: string;
  readonly callHash: string;
  readonly behavior: 'allow' | 'deny';
  readonly scope: 'once' | 'session';
  readonly message?: string;
  /** Who answered, where the client knows. */
  readonly person?: string;
  readonly at: number;
}

/** What is longer than this is not shown whole. */
export const MOST_SHOWN_CHARS = 20_000;

export function questionOf(
  { call, reason }: AskRequest,
  facts: Pick<InboxQuestion, 'id' | 'sessionId' | 'askedAt' | 'expiresAt' | 'by'>,
): InboxQuestion {
  const { agent, tool, toolUseId, workspace } = call;
  const wanted = wholeOf(call);
  return {
    ...facts,
    cwd: workspace.cwd,
    agent: {
      id: agent.id,
      path: agent.path,
      type: agent.type,
      name: agent.name,
    },
    toolUseId,
    tool: tool.name,
    summary: headAndTail(wanted, MOST_SHOWN_CHARS),
    reason,
    callHash: callHash(call),
    ...(wanted.length > MOST_SHOWN_CHARS ? { tooLong: true } : {}),
  };
}

/** All that a yes would cover: a line about a call does not say what it writes or sends. */
function wholeOf({ subject, input }: AskRequest['call']): string {
  const { command, url, summary } = subject;
  if (command !== undefined) return command;
  const whole = JSON.stringify(input);
  const about = url ?? summary;
  return whole === '{}' || about.endsWith(whole) ? about : `${about} with ${whole}`;
}

/** For the agent, which can do something about it. */
export function tooLongText(tool: string): string {
  return `${tool} was refused: the call is too long to be judged by whoever would have to allow it (more than ${MOST_SHOWN_CHARS} characters). Split it into smaller ones.`;
}

export function callHash({
  tool,
  input,
  workspace,
}: Pick<AskRequest['call'], 'tool' | 'input' | 'workspace'>): string {
  return sha256(JSON.stringify(['call 1', tool.name, workspace.cwd, input]));
}

/** What hosts are told of it. */
export function pendingOf(question: InboxQuestion): PendingQuestion {
  const { id, agent, toolUseId, tool, summary, reason, expiresAt } = question;
  return { id, agent, toolUseId, tool, summary, reason, expiresAt };
}

/** Ids become names of files: nothing else is one. */
export function isQuestionId(text: string): boolean {
  return /^q[\da-f]{12}$/.test(text);
}

/** Undefined when the text is none. */
export function readQuestion(text: string): InboxQuestion | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return undefined;
  const { id, sessionId, cwd, agent, by, ...rest } = parsed.value;
  const texts = [id, sessionId, cwd, rest.toolUseId, rest.tool, rest.summary, rest.reason];
  const isWhole =
    [...texts, rest.callHash].every((one) => typeof one === 'string') &&
    isRecord(agent) &&
    [agent.id, agent.path, agent.type].every((one) => typeof one === 'string') &&
    isRecord(by) &&
    [by.pid, rest.askedAt, rest.expiresAt].every((one) => typeof one === 'number');
  return isWhole && isQuestionId(String(id))
    ? (parsed.value as unknown as InboxQuestion)
    : undefined;
}

/**
 * fail-closed: an answer counts for the very question and call that it names, or not at all, and a
 * yes only for what was shown whole.
 */
export function readAnswer(
  text: string,
  { id, callHash: hash, tooLong }: Pick<InboxQuestion, 'id' | 'callHash' | 'tooLong'>,
): InboxAnswer | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return undefined;
  const { question, callHash: named, behavior, scope, message, person, at } = parsed.value;
  if (question !== id || named !== hash) return undefined;
  if (behavior !== 'allow' && behavior !== 'deny') return undefined;
  if (behavior === 'allow' && tooLong === true) return undefined;
  if (scope !== 'once' && scope !== 'session') return undefined;
  return {
    question: id,
    callHash: hash,
    behavior,
    scope,
    at: typeof at === 'number' ? at : 0,
    ...(typeof message === 'string' && message !== '' ? { message } : {}),
    ...(typeof person === 'string' && person !== '' ? { person } : {}),
  };
}
