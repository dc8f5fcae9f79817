import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { headAndTail } from '../../lib/truncate.js';
import type { AskRequest } from '../../permissions/gate/types.js';
import { join } from '../../platform/fs/paths.js';
import type { StateFiles } from '../../platform/fs/state-files.js';
import { sha256 } from '../../platform/hash.js';
import type { Processes, ProcessStamp } from '../../platform/process/process-stamp.js';
import type { PendingQuestion } from '../../protocol/session-events.js';

/** The questions of background agents that wait for an answer, of all sessions of this user. */
export interface Inbox {
  /** Throws when the disk does not take it. */
  put(question: InboxQuestion): void;
  /** Undefined: none yet. An error: there is one that does not count. */
  answerTo(question: InboxQuestion): Result<InboxAnswer, string> | undefined;
  /** It is settled: nobody needs to look at it any more. */
  remove(id: string): void;
  /** Those that somebody still waits for, oldest first. Takes away what nobody does. */
  list(): readonly InboxQuestion[];
  /** Answers a question. The first answer stands. */
  answer(
    id: string,
    given: Pick<InboxAnswer, 'behavior' | 'scope' | 'message' | 'person'>,
  ): Result<InboxQuestion, string>;
}

export interface InboxParts {
  readonly files: Pick<StateFiles, 'createOnce' | 'readOwn' | 'list' | 'remove'>;
  readonly processes: Pick<Processes, 'isAlive'>;
  readonly stateDirectory: string;
  now(): number;
}

export function openInbox({ files, processes, stateDirectory, now }: InboxParts): Inbox {
  const directory = join(stateDirectory, 'inbox');
  const questionFile = (id: string): string => join(directory, `${id}.json`);
  const answerFile = (id: string): string => join(directory, `${id}.answer.json`);
  const remove = (id: string): void => {
    files.remove(questionFile(id));
    files.remove(answerFile(id));
  };
  const find = (id: string): InboxQuestion | undefined => {
    const read = isQuestionId(id) ? files.readOwn(questionFile(id)) : undefined;
    const question = read?.ok === true ? readQuestion(read.value) : undefined;
    return question?.id === id ? question : undefined;
  };
  const isOpen = ({ expiresAt, by }: InboxQuestion): boolean =>
    expiresAt > now() && processes.isAlive(by);
  return {
    put(question) {
      files.createOnce(questionFile(question.id), `${JSON.stringify(question, null, 2)}\n`);
    },
    answerTo(question) {
      const read = files.readOwn(answerFile(question.id));
      if (read === undefined || !read.ok) return read;
      const answer = readAnswer(read.value, question);
      return answer === undefined ? err('it is not the answer to this question') : ok(answer);
    },
    remove,
    list() {
      const found: InboxQuestion[] = [];
      for (const name of files.list(directory)) {
        const id = /^(q[\da-f]{12})\.json$/.exec(name)?.[1];
        const question = id === undefined ? undefined : find(id);
        if (question === undefined) continue;
        if (isOpen(question)) found.push(question);
        else remove(question.id);
      }
      return found.sort((a, b) => a.askedAt - b.askedAt);
    },
    answer(id, { behavior, scope, message, person }) {
      const question = find(id);
      if (question === undefined) return err(`there is no question ${id}`);
      if (!isOpen(question)) {
        remove(id);
        return err(`nobody waits for an answer to ${id} any more`);
      }
      // fail-closed: a yes would cover what nobody was shown.
      if (behavior === 'allow' && question.tooLong === true) {
        return err(`${id} is too long to be shown whole: it can only be refused from here`);
      }
      const answer: InboxAnswer = {
        question: id,
        callHash: question.callHash,
        behavior,
        scope,
        at: now(),
        message,
        person,
      };
      const isFirst = files.createOnce(answerFile(id), `${JSON.stringify(answer, null, 2)}\n`);
      return isFirst ? ok(question) : err(`${id} has been answered already`);
    },
  };
}

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
