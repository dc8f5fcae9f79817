import { err, ok, type Result } from '../../lib/result.js';
import {
  like,
  number,
  object,
  oneOf,
  optional,
  parseShape,
  type Shaped,
  text,
} from '../../lib/shape.js';
import { headAndTail } from '../../lib/text/truncate.js';
import type { AskRequest } from '../../permissions/gate/types.js';
import { systemClock } from '../../platform/clock.js';
import { type DirectoryEnvironment, join, stateDirectory } from '../../platform/fs/paths.js';
import { type StateFiles, stateFiles } from '../../platform/fs/state-files.js';
import { sha256 } from '../../platform/hash.js';
import { nodeProcesses, type Processes } from '../../platform/process/process-stamp.js';
import type { PendingQuestion } from '../../protocol/session-events.js';

/** Ids become file names, so no other characters are valid. */
const QUESTION_ID = /^q[\da-f]{12}$/;

const questionShape = object({
  id: like(QUESTION_ID),
  sessionId: text,
  /** Where the call would run. */
  cwd: text,
  agent: object({ id: text, path: text, type: text, name: optional(text) }),
  toolUseId: text,
  tool: text,
  summary: text,
  reason: text,
  /** Covers the tool, its input and its directory, which an answer is limited to. */
  callHash: text,
  /** Milliseconds since 1970. */
  askedAt: number,
  expiresAt: number,
  /** The process that waits for the answer. */
  by: object({ pid: number, start: optional(text) }),
  /** The question is not shown whole and cannot be allowed from the inbox. */
  tooLong: optional(oneOf(true)),
});
/** A question of a background agent as stored in the inbox. */
export type InboxQuestion = Shaped<typeof questionShape>;

const answerShape = object({
  question: text,
  callHash: text,
  behavior: oneOf('allow', 'deny'),
  scope: oneOf('once', 'session'),
  message: optional(text),
  /** The person who answered, if the client knows. */
  person: optional(text),
  at: number,
});
/** An answer, stored beside its question. */
export type InboxAnswer = Shaped<typeof answerShape>;

export interface InboxParts {
  readonly stateDirectory: string;
  now(): number;
  readonly files?: Pick<StateFiles, 'createOnce' | 'readOwn' | 'list' | 'remove'>;
  readonly processes?: Pick<Processes, 'isAlive'>;
}

export function openInboxOf(env: DirectoryEnvironment): Inbox {
  return new Inbox({ stateDirectory: stateDirectory(env), now: systemClock.now });
}

/** Stores questions of background agents that wait for an answer, of all sessions of a user. */
export class Inbox {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #files: NonNullable<InboxParts['files']>;
  readonly #processes: NonNullable<InboxParts['processes']>;

  constructor(parts: InboxParts) {
    this.#directory = join(parts.stateDirectory, 'inbox');
    this.#now = parts.now;
    this.#files = parts.files ?? stateFiles;
    this.#processes = parts.processes ?? nodeProcesses;
  }

  /** Throws when the disk fails. */
  put(question: InboxQuestion): void {
    this.#files.createOnce(this.#questionFile(question.id), jsonOf(question));
  }

  /**
   * Undefined without an answer; an error for one that does not count. fail-closed: an answer must name
   * this very question and call, and a yes counts only if the question was shown whole.
   */
  answerTo(question: InboxQuestion): Result<InboxAnswer, string> | undefined {
    const read = this.#files.readOwn(this.#answerFile(question.id));
    if (read === undefined || !read.ok) return read;
    const answer = parseShape(read.value, answerShape);
    const counts =
      answer !== undefined &&
      answer.question === question.id &&
      answer.callHash === question.callHash &&
      (answer.behavior === 'deny' || question.tooLong !== true);
    return counts ? ok(answer) : err('it is not the answer to this question');
  }

  remove(id: string): void {
    this.#files.remove(this.#questionFile(id));
    this.#files.remove(this.#answerFile(id));
  }

  /** Questions still waited for, oldest first; removes all others. */
  list(): readonly InboxQuestion[] {
    const found: InboxQuestion[] = [];
    for (const name of this.#files.list(this.#directory)) {
      const question = this.#find(name.replace(/\.json$/, ''));
      if (question === undefined) continue;
      if (this.#isOpen(question)) found.push(question);
      else this.remove(question.id);
    }
    return found.sort((a, b) => a.askedAt - b.askedAt);
  }

  /** Answers a question; the first answer counts. */
  answer(
    id: string,
    given: Pick<InboxAnswer, 'behavior' | 'scope' | 'message' | 'person'>,
  ): Result<InboxQuestion, string> {
    const question = this.#find(id);
    if (question === undefined) return err(`there is no question ${id}`);
    if (!this.#isOpen(question)) {
      this.remove(id);
      return err(`the question ${id} is no longer open`);
    }
    // fail-closed: a yes would cover parts that the person was not shown.
    if (given.behavior === 'allow' && question.tooLong === true) {
      return err(`${id} is too long to be shown whole: it can only be refused from here`);
    }
    const { callHash } = question;
    const answer: InboxAnswer = { ...given, question: id, callHash, at: this.#now() };
    const isFirst = this.#files.createOnce(this.#answerFile(id), jsonOf(answer));
    return isFirst ? ok(question) : err(`${id} has been answered already`);
  }

  #find(id: string): InboxQuestion | undefined {
    const read = QUESTION_ID.test(id) ? this.#files.readOwn(this.#questionFile(id)) : undefined;
    const question = read?.ok === true ? parseShape(read.value, questionShape) : undefined;
    return question?.id === id ? question : undefined;
  }

  #isOpen({ expiresAt, by }: InboxQuestion): boolean {
    return expiresAt > this.#now() && this.#processes.isAlive(by);
  }

  #questionFile(id: string): string {
    return join(this.#directory, `${id}.json`);
  }

  #answerFile(id: string): string {
    return join(this.#directory, `${id}.answer.json`);
  }
}

function jsonOf(value: InboxQuestion | InboxAnswer): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Longer questions are not shown whole. */
export const MOST_SHOWN_CHARS = 20_000;

export function questionOf(
  { call, reason }: AskRequest,
  facts: Pick<InboxQuestion, 'id' | 'sessionId' | 'askedAt' | 'expiresAt' | 'by'>,
): InboxQuestion {
  const { agent, tool, input, toolUseId, workspace } = call;
  const whole = wholeOf(call);
  return {
    ...facts,
    cwd: workspace.cwd,
    agent: { id: agent.id, path: agent.path, type: agent.type, name: agent.name },
    toolUseId,
    tool: tool.name,
    summary: headAndTail(whole, MOST_SHOWN_CHARS),
    reason,
    callHash: sha256(JSON.stringify(['call 1', tool.name, workspace.cwd, input])),
    tooLong: whole.length > MOST_SHOWN_CHARS ? true : undefined,
  };
}

/** Everything that a yes would cover: a summary does not say what a call writes or sends. */
function wholeOf({ subject, input }: AskRequest['call']): string {
  const { command, url, summary } = subject;
  if (command !== undefined) return command;
  const whole = JSON.stringify(input);
  const about = url ?? summary;
  return whole === '{}' || about.endsWith(whole) ? about : `${about} with ${whole}`;
}

/** The part of a question that hosts receive. */
export function pendingOf(question: InboxQuestion): PendingQuestion {
  const { id, agent, toolUseId, tool, summary, reason, expiresAt } = question;
  return { id, agent, toolUseId, tool, summary, reason, expiresAt };
}
