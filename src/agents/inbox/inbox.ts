import { err, ok, type Result } from '../../lib/result.js';
import { join } from '../../platform/fs/paths.js';
import type { StateFiles } from '../../platform/fs/state-files.js';
import type { Processes } from '../../platform/process/process-stamp.js';
import {
  type InboxAnswer,
  type InboxQuestion,
  isQuestionId,
  readAnswer,
  readQuestion,
} from './question.js';

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
