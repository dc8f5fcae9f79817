import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { Queue } from '../../lib/queue.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, separator } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';

/** Which files from outside a project its instructions may bring in. */
export interface IncludeApprovals {
  /** Both are paths resolved through links. */
  approved(projectDir: string, realPath: string): boolean | Promise<boolean>;
  /** Whether a person has said no, and need not be asked again. */
  declined?(projectDir: string, realPath: string): boolean | Promise<boolean>;
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

/** Where nobody can be asked. */
export const NO_APPROVALS: IncludeApprovals = { approved: () => false };

/** What a person has said about them. */
export interface IncludeApprovalStore extends IncludeApprovals {
  /** Whether a person has said no, and need not be asked again. */
  declined(projectDir: string, realPath: string): Promise<boolean>;
  approve(projectDir: string, realPaths: readonly string[]): Promise<void>;
  decline(projectDir: string, realPaths: readonly string[]): Promise<void>;
  answers(projectDir: string): Promise<IncludeAnswers>;
}

export interface IncludeApprovalPlace {
  readonly fs: Pick<
    FileSystem,
    'stat' | 'readText' | 'realPath' | 'writeAtomic' | 'makeDirectory' | 'remove'
  >;
  readonly stateDirectory: string;
}

/** All that was said about a project, as resolved paths. */
export interface IncludeAnswers {
  readonly approved: readonly string[];
  readonly declined: readonly string[];
}

const NOTHING_SAID: IncludeAnswers = { approved: [], declined: [] };
const MAX_BYTES = 4 * 1024 * 1024;

/** One file for each project (0600), so that two programs do not overwrite each other's answers. */
export function openIncludeApprovals(place: IncludeApprovalPlace): IncludeApprovalStore {
  const { fs, stateDirectory } = place;
  const directory = join(stateDirectory, 'includes');
  const fileOf = (projectDir: string): string => join(directory, `${sha256(projectDir)}.json`);
  const queue = new Queue();

  async function read(projectDir: string): Promise<IncludeAnswers> {
    try {
      // fail-closed: a repository that holds the state could bring its own approvals along.
      if (isInside(await fs.realPath(stateDirectory), projectDir)) return NOTHING_SAID;
      const file = fileOf(projectDir);
      const stat = await fs.stat(file);
      if (stat?.kind !== 'file') return NOTHING_SAID;
      // fail-closed: what others may write is not the owner's word.
      if (separator === '/' && (stat.mode & 0o022) !== 0) return NOTHING_SAID;
      return answersFrom(await fs.readText(file, { maxBytes: MAX_BYTES }), projectDir);
    } catch {
      // fail-closed: an answer that cannot be read is no answer.
      return NOTHING_SAID;
    }
  }

  async function change(
    projectDir: string,
    edit: (said: IncludeAnswers) => IncludeAnswers,
  ): Promise<void> {
    const file = fileOf(projectDir);
    const said = edit(await read(projectDir));
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

  /** One change at a time: two answers at once must not undo each other. */
  function queued(
    projectDir: string,
    edit: (said: IncludeAnswers) => IncludeAnswers,
  ): Promise<void> {
    return queue.add(() => change(projectDir, edit));
  }

  return {
    answers: read,
    approved: async (projectDir, realPath) => (await read(projectDir)).approved.includes(realPath),
    declined: async (projectDir, realPath) => (await read(projectDir)).declined.includes(realPath),
    approve: (projectDir, realPaths) =>
      queued(projectDir, ({ approved, declined }) => ({
        approved: [...new Set([...approved, ...realPaths])],
        declined: declined.filter((path) => !realPaths.includes(path)),
      })),
    decline: (projectDir, realPaths) =>
      queued(projectDir, ({ approved, declined }) => ({
        approved: approved.filter((path) => !realPaths.includes(path)),
        declined: [...new Set([...declined, ...realPaths])],
      })),
  };
}

function answersFrom(text: string, projectDir: string): IncludeAnswers {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return NOTHING_SAID;
  const { version, project, approved, declined } = parsed.value;
  if (version !== 1 || project !== projectDir) return NOTHING_SAID;
  return { approved: textsOf(approved), declined: textsOf(declined) };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
