import { openProjectTrust, type ProjectTrust, type TrustPlaces } from './project-trust.js';
import type { TrustCheck, TrustVerdict, UsedDocument } from './types.js';

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
  /**
   * Whether its documents count as those of a folder that was accepted. The same, and also where trust
   * was given with the start to documents none of which needs any: whoever gave it meant the folder.
   */
  covers(used?: UsedDocument): Promise<boolean>;
  /** Whether a person accepted the folder: it is trusted, or it declares nothing and trust was given at the start. */
  accepted(): Promise<boolean>;
  /**
   * Takes the look at the documents of the folder that was put off, if none was taken yet. To be
   * awaited before anything runs that might change them: a hook, a helper, the first call of the model.
   */
  settle(): Promise<void>;
}

/**
 * Decides for one session whether its folder is trusted, and says once what is held back. Trust for
 * one run is trust in what is there at the start: what the run itself changes needs a new answer.
 *
 * Whoever gives trust with the start has decided already, so the skills, commands and agents that it is
 * given to are looked at when `settle` is called, or whoever asks first: the first request to a model
 * need not wait for it.
 */
export async function startTrust(start: TrustStart): Promise<StartedTrust & { now: boolean }> {
  const once = start.env.PORTCULLIS_TRUST;
  if (once !== undefined && once !== '' && once !== 'once') {
    // fail-closed: no other value means yes.
    start.warn(`PORTCULLIS_TRUST is ${JSON.stringify(once)}; only "once" is understood`);
  }
  const project = start.asked ?? openProjectTrust(start);
  const isGiven = start.given || once === 'once';
  let verdict: TrustVerdict = 'trusted';
  let wasBare = false;
  let looking: Promise<void> | undefined;
  const settle = (): Promise<void> => {
    looking ??= look();
    return looking;
  };
  async function look(): Promise<void> {
    if (isGiven) {
      await project.accept(await project.lookAt('documents'), { store: false });
      return;
    }
    const seen = await project.check({ atStart: true });
    verdict = seen.verdict;
    await tell(seen, start.warn);
  }
  if (!isGiven) await settle();
  else {
    const seen = await project.lookAt('settings');
    wasBare = seen.isBare === true;
    if (wasBare) verdict = 'nothing';
    // What settings grant holds from now on, so what they say now is what is accepted.
    else await project.accept(seen, { store: false });
  }
  async function judged(used: UsedDocument | undefined): Promise<TrustCheck> {
    await settle();
    const later = await project.check(used === undefined ? {} : { used });
    if (later.verdict !== verdict) await tell(later, start.warn);
    verdict = later.verdict;
    return later;
  }
  return {
    trust: settledFirst(project, settle),
    now: verdict === 'trusted',
    settle,
    inForce: async (used) => (await judged(used)).verdict === 'trusted',
    async accepted() {
      const { verdict: now } = await judged(undefined);
      return now === 'trusted' || (isGiven && now === 'nothing');
    },
    async covers(used) {
      const { verdict: now, isBare } = await judged(used);
      const isMeant = isGiven && !wasBare && isBare !== true;
      return now === 'trusted' || (isMeant && now === 'nothing');
    },
  };
}

/** fail-closed: nobody asks about a folder, or accepts more of it, before it is known what was there first. */
function settledFirst(trust: ProjectTrust, settle: () => Promise<void>): ProjectTrust {
  return {
    check: (how) => settle().then(() => trust.check(how)),
    lookAt: (part) => settle().then(() => trust.lookAt(part)),
    accept: (seen, how) => settle().then(() => trust.accept(seen, how)),
    rebind: (written) => settle().then(() => trust.rebind(written)),
    changedScript: (hook) => settle().then(() => trust.changedScript(hook)),
    show: trust.show,
  };
}

async function tell(check: TrustCheck, warn: (text: string) => void): Promise<void> {
  if (check.pending.length === 0) return;
  const { trustNotice } = await import('./messages.js');
  const notice = trustNotice(check);
  if (notice !== undefined) warn(notice);
}
