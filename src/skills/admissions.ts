import { messageOf } from '../errors.js';

/** Which versions of files may be used. */
export interface Admissions {
  /** Why this version may not; undefined when it may. Nobody is asked twice about one version. */
  admit(file: string, stamp: string): Promise<string | undefined>;
  /** The first look is over: what comes from now on is a change. */
  settle(): void;
}

export function openAdmissions(deps: {
  veto?(file: string): Promise<string | undefined>;
}): Admissions {
  const answers = new Map<
    string,
    { readonly stamp: string; readonly reason: string | undefined }
  >();
  let isSettled = false;
  return {
    async admit(file, stamp) {
      const known = answers.get(file);
      if (known?.stamp === stamp) return known.reason;
      const reason = isSettled ? await asked(file) : undefined;
      answers.set(file, { stamp, reason });
      return reason;
    },
    settle() {
      isSettled = true;
    },
  };

  async function asked(file: string): Promise<string | undefined> {
    try {
      return await deps.veto?.(file);
    } catch (thrown) {
      // fail-closed: a guard that does not answer refuses.
      return `whether the change may be taken over could not be asked: ${messageOf(thrown)}`;
    }
  }
}
