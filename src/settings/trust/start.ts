import { trustNotice } from './messages.js';
import { openProjectTrust, type ProjectTrust, type TrustPlaces } from './project-trust.js';
import type { TrustCheck, UsedDocument } from './types.js';

export interface TrustStart extends TrustPlaces {
  /** Trust that a host has already asked a person about. */
  readonly asked?: ProjectTrust;
  /** `--trust`, or the same from an SDK. */
  readonly given: boolean;
  /** Of the process; variables from settings files are never in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  warn(text: string): void;
}

export interface StartedTrust {
  readonly trust: ProjectTrust;
  /**
   * Whether the project's files may grant and execute, as they are now: all of them are read. A
   * document that is used is judged by the text in which it is used.
   */
  inForce(used?: UsedDocument): Promise<boolean>;
  /** True if the folder is trusted, or if `--trust` was given and nothing in it needed trust. */
  covers(used?: UsedDocument): Promise<boolean>;
  /** As `covers`, also for a folder that configures nothing. */
  accepted(): Promise<boolean>;
}

/**
 * Decides for one session whether its folder is trusted, and reports once what is held back. Trust
 * for one run covers the files as they are at the start: later changes need a new answer.
 */
export async function startTrust(start: TrustStart): Promise<StartedTrust & { now: boolean }> {
  const once = start.env.PORTCULLIS_TRUST;
  if (once !== undefined && once !== '' && once !== 'once') {
    // fail-closed: no other value means yes.
    start.warn(`PORTCULLIS_TRUST is ${JSON.stringify(once)}; only "once" is understood`);
  }
  const trust = start.asked ?? openProjectTrust(start);
  const isGiven = start.given || once === 'once';
  const first = await trust.check({ atStart: true });
  if (isGiven) await trust.accept(first, { store: false });
  else warnAbout(first, start.warn);
  let verdict = isGiven && first.verdict !== 'nothing' ? 'trusted' : first.verdict;
  const check = async (used?: UsedDocument): Promise<TrustCheck> => {
    const now = await trust.check({ used });
    if (now.verdict !== verdict) warnAbout(now, start.warn);
    verdict = now.verdict;
    return now;
  };
  return {
    trust,
    now: verdict === 'trusted',
    inForce: async (used) => (await check(used)).verdict === 'trusted',
    async accepted() {
      const now = await check();
      return now.verdict === 'trusted' || (isGiven && now.verdict === 'nothing');
    },
    async covers(used) {
      const now = await check(used);
      const isMeant = isGiven && !first.isEmptyProject && !now.isEmptyProject;
      return now.verdict === 'trusted' || (isMeant && now.verdict === 'nothing');
    },
  };
}

function warnAbout(check: TrustCheck, warn: (text: string) => void): void {
  const notice = trustNotice(check);
  if (notice !== undefined) warn(notice);
}
