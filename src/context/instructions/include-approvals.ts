import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { Queue } from '../../lib/queue.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, separator } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';

/** What a person has said about files from outside a project, as paths resolved through links. */
export interface IncludeAnswers {
  readonly approved: readonly string[];
  readonly declined: readonly string[];
}

/** Which files from outside a project its instructions may bring in. */
export interface IncludeApprovals {
  /** A person's word on a file; both paths resolved through links. Undefined: there is none. */
  answerTo(projectDir: string, realPath: string): Promise<'approve' | 'decline' | undefined>;
}

/** A file from outside a project that its instructions want to bring in. */
export interface PendingInclude {
  /** Where it really is. An answer is for this path. */
  readonly realPath: string;
  /** As it was named. */
  readonly path: string;
  /** The file that names it; absent for a link in the place of an instruction file. */
  readonly parent?: string;
}

/** A person's word on such files. `later`: no clear answer, so not now, and not for good. */
export type IncludeAnswer = 'approve' | 'decline' | 'later';

export type AskIncludes = (pending: readonly PendingInclude[]) => Promise<IncludeAnswer>;

const NO_ANSWERS: IncludeAnswers = { approved: [], declined: [] };

export interface IncludeApprovalStore extends IncludeApprovals {
  answers(projectDir: string): Promise<IncludeAnswers>;
  /** Keeps an answer about these files. */
  answer(
    projectDir: string,
    answer: 'approve' | 'decline',
    realPaths: readonly string[],
  ): Promise<void>;
}

export interface IncludeApprovalPlace {
  readonly fs: Pick<
    FileSystem,
    'stat' | 'readText' | 'realPath' | 'writeAtomic' | 'makeDirectory' | 'remove'
  >;
  readonly stateDirectory: string;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** One file for each project (0600), so that two programs do not overwrite each other's answers. */
export function openIncludeApprovals(place: IncludeApprovalPlace): IncludeApprovalStore {
  const { fs, stateDirectory } = place;
  const directory = join(stateDirectory, 'includes');
  const fileOf = (projectDir: string): string => join(directory, `${sha256(projectDir)}.json`);
  /** One change at a time: two answers at once must not undo each other. */
  const queue = new Queue();

  async function answers(projectDir: string): Promise<IncludeAnswers> {
    try {
      // fail-closed: a repository that holds the state could bring its own approvals along.
      if (isInside(await fs.realPath(stateDirectory), projectDir)) return NO_ANSWERS;
      const file = fileOf(projectDir);
      const stat = await fs.stat(file);
      if (stat?.kind !== 'file') return NO_ANSWERS;
      // fail-closed: what others may write is not the owner's word.
      if (separator === '/' && (stat.mode & 0o022) !== 0) return NO_ANSWERS;
      return answersIn(await fs.readText(file, { maxBytes: MAX_BYTES }), projectDir);
    } catch {
      // fail-closed: an answer that cannot be read is no answer.
      return NO_ANSWERS;
    }
  }

  async function write(projectDir: string, said: IncludeAnswers): Promise<void> {
    const file = fileOf(projectDir);
    try {
      await fs.makeDirectory(stateDirectory, { mode: 0o700 });
      await fs.makeDirectory(directory, { mode: 0o700 });
      // A file with a wrong mode would keep it.
      const stat = await fs.stat(file);
      if (stat !== undefined && (stat.mode & 0o077) !== 0) await fs.remove(file);
      const text = JSON.stringify({ version: 1, project: projectDir, ...said }, null, 2);
      await fs.writeAtomic(file, `${text}\n`, { mode: 0o600 });
    } catch (thrown) {
      throw new PortcullisError('io', `the answer could not be stored: ${messageOf(thrown)}`, {
        remedy: `make ${stateDirectory} writable`,
        cause: thrown,
      });
    }
  }

  return {
    answers,
    async answerTo(projectDir, realPath) {
      const { approved, declined } = await answers(projectDir);
      if (approved.includes(realPath)) return 'approve';
      return declined.includes(realPath) ? 'decline' : undefined;
    },
    answer: (projectDir, answer, realPaths) =>
      queue.add(async () => {
        const { approved, declined } = await answers(projectDir);
        const having = (list: readonly string[]) => [...new Set([...list, ...realPaths])];
        const lacking = (list: readonly string[]) => list.filter((one) => !realPaths.includes(one));
        const said =
          answer === 'approve'
            ? { approved: having(approved), declined: lacking(declined) }
            : { approved: lacking(approved), declined: having(declined) };
        await write(projectDir, said);
      }),
  };
}

function answersIn(text: string, projectDir: string): IncludeAnswers {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return NO_ANSWERS;
  const { version, project, approved, declined } = parsed.value;
  if (version !== 1 || project !== projectDir) return NO_ANSWERS;
  return { approved: textsIn(approved), declined: textsIn(declined) };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
