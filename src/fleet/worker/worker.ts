import { messageOf } from '../../errors.js';
import { dueMinute } from '../cron.js';
import { mailOf, orderOf, uuidFrom } from '../order.js';
import type { Claim, Fleet, WorkerInfo } from '../types.js';
import { Drive, type DriveSettings } from './drive.js';
import type { Engine } from './engine.js';
import { type Logger, Metrics } from './metrics.js';
import type { Workspaces } from './workspace.js';

export interface WorkerSettings extends DriveSettings {
  readonly info: WorkerInfo;
  readonly beatMs: number;
  /** A worker that was silent for this long is taken for dead. */
  readonly deadlineMs: number;
  /** How long turns may take to end when the worker leaves, before they are handed over in the middle. */
  readonly drainMs: number;
}

export interface WorkerParts {
  readonly fleet: Fleet;
  readonly engine: Engine;
  readonly workspaces: Workspaces;
  readonly settings: WorkerSettings;
  readonly log: Logger;
}

/** How the worker ended. `lost`: others have taken its sessions. */
export type WorkerEnd = 'drained' | 'lost';

const IDLE_MS = 1_000;

/** Claims sessions and drives them, as many at once as it has slots. */
export class Worker {
  readonly metrics = new Metrics();
  readonly #parts: WorkerParts;
  readonly #leaving = new AbortController();
  /** Drives go on while the worker drains; they are told to hurry by this one. */
  readonly #hurry = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  #rates: readonly string[] = [];
  #isLost = false;
  /** A claim failed, and the database may have made it. */
  #mayOwnMore = false;
  #lastBeat = performance.now();

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  get slotsInUse(): number {
    return this.#running.size;
  }

  /** Empty: all is well. */
  get problem(): string {
    const silent = performance.now() - this.#lastBeat;
    if (this.#isLost) return 'other workers have taken the sessions of this one';
    const { deadlineMs } = this.#parts.settings;
    return silent > deadlineMs ? `no heartbeat for ${Math.round(silent / 1000)} s` : '';
  }

  /** Takes no new session; those that run are handed over when their turn ends. */
  drain(): void {
    if (this.#leaving.signal.aborted) this.#hurry.abort('now');
    else this.#leaving.abort('turn');
  }

  /** Resolves when it has been drained, or has lost its sessions. */
  async work(): Promise<WorkerEnd> {
    const { settings, fleet, log } = this.#parts;
    await this.#beat();
    log('info', 'worker started', { slots: settings.info.slots, driver: fleet.driver });
    const beating = this.#repeat(settings.beatMs, () => this.#beat());
    const reaping = this.#repeat(settings.beatMs, () => this.#reap());
    const { signal } = this.#leaving;
    while (!signal.aborted && !this.#isLost) {
      const claim = this.#running.size < settings.info.slots ? await this.#claim() : undefined;
      if (claim !== undefined) this.#start(claim);
      else if (this.#running.size >= settings.info.slots) await this.#slotOr(signal);
      else await fleet.wait(IDLE_MS, signal);
    }
    await this.#finish();
    clearInterval(beating);
    clearInterval(reaping);
    if (!this.#isLost) await fleet.leave(settings.info.id).catch(() => undefined);
    log('info', 'worker ended', { lost: this.#isLost });
    return this.#isLost ? 'lost' : 'drained';
  }

  async #finish(): Promise<void> {
    const { drainMs } = this.#parts.settings;
    const timer = setTimeout(() => this.#hurry.abort('now'), this.#isLost ? 0 : drainMs);
    await Promise.allSettled(this.#running.values());
    clearTimeout(timer);
  }

  async #slotOr(signal: AbortSignal): Promise<void> {
    const left = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([...this.#running.values(), left]);
  }

  async #claim(): Promise<Claim | undefined> {
    const { fleet, settings, log } = this.#parts;
    try {
      const own = this.#mayOwnMore ? await this.#unknownClaim() : undefined;
      this.#mayOwnMore = own !== undefined;
      return own ?? (await fleet.claim(settings.info));
    } catch (thrown) {
      this.#mayOwnMore = true;
      log('warning', 'no session could be claimed', { problem: messageOf(thrown) });
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
      return undefined;
    }
  }

  /** A session that was claimed although the reply was lost: no other worker would ever drive it. */
  async #unknownClaim(): Promise<Claim | undefined> {
    const { fleet, settings } = this.#parts;
    const { id } = settings.info;
    const owned = (await fleet.list({ phase: 'running' })).filter(({ owner }) => owner === id);
    const session = owned.find(({ order, epoch }) => !this.#running.has(`${order.id}:${epoch}`));
    return session && { session, worker: id, epoch: session.epoch };
  }

  #start(claim: Claim): void {
    const { fleet, workspaces, settings, log, engine } = this.#parts;
    const drive = new Drive({
      fleet,
      claim,
      workspaces,
      settings,
      log,
      rates: () => this.#rates,
      leaving: this.#leaving.signal,
      hurry: this.#hurry.signal,
    });
    this.metrics.add('drives_started');
    log('info', 'drive started', { session: drive.id, tenant: claim.session.order.tenant });
    const done = engine
      .execute(drive)
      .catch(async (thrown: unknown) => {
        const reason = messageOf(thrown);
        log('error', 'drive failed', { session: drive.id, reason });
        // fail-closed: a session whose drive failed for an unknown reason waits for a person.
        await drive.release({ kind: 'stopped', reason });
      })
      .finally(() => {
        this.#running.delete(drive.id);
        const { end, turns } = drive;
        this.metrics.add('turns', turns);
        this.metrics.add(end?.kind === 'lost' ? 'drives_lost' : 'drives_ended');
        if (end?.kind === 'parked') this.metrics.add('sessions_parked');
        log('info', 'drive ended', { session: drive.id, turns, ...end });
      });
    this.#running.set(drive.id, done);
  }

  async #beat(): Promise<void> {
    const { fleet, settings } = this.#parts;
    const draining = this.#leaving.signal.aborted;
    const { lost, rates } = await fleet.beat({ ...settings.info, draining });
    this.#rates = rates;
    this.#lastBeat = performance.now();
    if (!lost || this.#isLost) return;
    // fail-closed: what this worker still runs belongs to others.
    this.#isLost = true;
    this.#leaving.abort('turn');
    this.#hurry.abort('now');
  }

  async #reap(): Promise<void> {
    const { fleet, settings, log, engine } = this.#parts;
    for (const id of await fleet.reap(settings.deadlineMs)) {
      this.metrics.add('sessions_taken_over');
      log('warning', 'session of a dead worker is ready again', { session: id });
      const epoch = (await fleet.show(id))?.epoch ?? 1;
      await engine.abandon(`${id}:${epoch - 1}`).catch(() => undefined);
    }
    await this.#runSchedules();
  }

  async #runSchedules(): Promise<void> {
    const { fleet, log } = this.#parts;
    for (const schedule of await fleet.schedules()) {
      const minute = schedule.enabled ? dueMinute(schedule, new Date()) : undefined;
      if (minute === undefined) continue;
      // Submitted first, under an id that all workers agree on: a worker that dies here loses no run.
      const id = uuidFrom(`schedule ${schedule.name} ${minute}`);
      if ((await fleet.show(id)) === undefined) {
        const mail = mailOf(schedule.prompt, { from: `schedule ${schedule.name}` });
        await fleet.submit(orderOf({ ...schedule.order, id }), [mail]).catch(async (thrown) => {
          if ((await fleet.show(id)) === undefined) throw thrown;
        });
        log('info', 'schedule submitted a session', { schedule: schedule.name, session: id });
      }
      await fleet.takeRun(schedule.name, minute);
    }
  }

  /** Repeats something that may fail while the fleet cannot be reached. */
  #repeat(ms: number, work: () => Promise<void>): ReturnType<typeof setInterval> {
    let isRunning = false;
    return setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      work()
        .catch((thrown: unknown) => {
          this.metrics.add('beat_failures');
          this.#parts.log('warning', 'the fleet does not answer', { problem: messageOf(thrown) });
        })
        .finally(() => {
          isRunning = false;
        });
    }, ms);
  }
}
