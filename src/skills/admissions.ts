import { messageOf } from '../errors.js';
import { err, ok, type Result } from '../lib/result.js';
import { type FileStat, isSameVersion } from '../platform/fs/fs.js';
import type { ReadFile } from './read-file.js';

/** Which versions of files may be used. */
export interface Admissions {
  /**
   * The version to use: the one that was read; an earlier one when a change is held back; why there
   * is none. Nobody is asked twice about one version.
   */
  admit(file: string, read: ReadFile): Promise<Result<ReadFile, string>>;
  /** The first look is over: what comes from now on is a change. */
  settle(): void;
}

export interface AdmissionDeps {
  veto?(file: string): Promise<string | undefined>;
  /** Whether somebody may hold a change back, so that the text as it is now may be wanted later. */
  isGuarded?(): boolean;
}

/** About one version of a file; without a reason it may be used. */
interface Answer {
  readonly version: FileStat;
  readonly reason?: string | undefined;
}

/** Characters of all texts together that are kept for a change that is held back. */
const MOST_KEPT = 32 * 1024 * 1024;

export function openAdmissions(deps: AdmissionDeps): Admissions {
  const answers = new Map<string, Answer>();
  const kept = new Map<string, { readonly read: ReadFile; readonly size: number }>();
  let room = MOST_KEPT;
  let isSettled = false;
  return {
    async admit(file, read) {
      const known = answers.get(file);
      const isKnown = known !== undefined && isSameVersion(known.version, read.version);
      const reason = isKnown ? known.reason : isSettled ? await asked(file) : undefined;
      answers.set(file, { version: read.version, reason });
      if (reason !== undefined) {
        const earlier = kept.get(file);
        // fail-closed: what is not known any more cannot be used.
        return earlier === undefined ? err(reason) : ok(earlier.read);
      }
      const last = kept.get(file)?.read.version;
      const isKept = last !== undefined && isSameVersion(last, read.version);
      if (!isKept && deps.isGuarded?.() === true) await keep(file, read);
      return ok(read);
    },
    settle() {
      isSettled = true;
    },
  };

  async function keep(file: string, read: ReadFile): Promise<void> {
    room += kept.get(file)?.size ?? 0;
    kept.delete(file);
    // One that cannot be read now is not there for later.
    const text = await read.text().catch(() => undefined);
    if (text === undefined || text.length > room) return;
    room -= text.length;
    kept.set(file, { read: { ...read, text: () => Promise.resolve(text) }, size: text.length });
  }

  async function asked(file: string): Promise<string | undefined> {
    try {
      return await deps.veto?.(file);
    } catch (thrown) {
      // fail-closed: a guard that does not answer refuses.
      return `whether the change may be taken over could not be asked: ${messageOf(thrown)}`;
    }
  }
}
