import { openProjectTrust, type ProjectTrust, type TrustPlaces } from './trust.js';
import type { TrustCheck, UsedDocument } from './trust-types.js';

export interface TrustStart extends TrustPlaces {
  /** Trust that a host has already asked a person about. */
  readonly asked?: ProjectTrust | undefined;
  /** `--trust`, or the same from an SDK. */
  readonly given: boolean;
  /** Of the process; what settings files set is never in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  warn(text: string): void;
}

export interface StartedTrust {
  readonly trust: ProjectTrust;
  /**
   * Whether the project's files may grant and execute, as they are now: all of them are read. Where a
   * document is used it is judged in the text in which that happens.
   */
  inForce(used?: UsedDocument): Promise<boolean>;
}

/**
 * Decides for one session whether its folder is trusted, and says once what is held back. Trust for
 * one run is trust in what is there at the start: what the run itself changes needs a new answer.
 */
export async function startTrust(start: TrustStart): Promise<StartedTrust & { now: boolean }> {
  const trust = start.asked ?? openProjectTrust(start);
  const once = start.env.PORTCULLIS_TRUST;
  if (once !== undefined && once !== '' && once !== 'once') {
    // fail-closed: no other value means yes.
    start.warn(`PORTCULLIS_TRUST is ${JSON.stringify(once)}; only "once" is understood`);
  }
  let seen = await trust.check({ atStart: true });
  if ((start.given || once === 'once') && seen.pending.length > 0) {
    await trust.accept(seen, { store: false });
    seen = { ...seen, verdict: 'trusted', pending: [] };
  }
  await tell(seen, start.warn);
  return {
    trust,
    now: seen.verdict === 'trusted',
    async inForce(used) {
      const later = await trust.check(used === undefined ? {} : { used });
      if (later.verdict !== seen.verdict) await tell(later, start.warn);
      seen = later;
      return later.verdict === 'trusted';
    },
  };
}

async function tell(check: TrustCheck, warn: (text: string) => void): Promise<void> {
  if (check.pending.length === 0) return;
  const { trustNotice } = await import('./trust-words.js');
  const notice = trustNotice(check);
  if (notice !== undefined) warn(notice);
}
