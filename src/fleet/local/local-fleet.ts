import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PortcullisError } from '../../errors.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import type {
  Batch,
  BeatReply,
  Claim,
  CommitReply,
  Fleet,
  FleetSession,
  GivenAnswer,
  Intent,
  Mail,
  OpenAsk,
  Schedule,
  SessionFilter,
  SessionOrder,
  SessionPhase,
  SessionRecord,
  StoredEntry,
  TenantLimits,
  TenantRow,
  WorkerInfo,
  WorkerRow,
} from '../types.js';
import { LocalLimits } from './local-limits.js';
import { read, SessionFiles, type SessionState } from './session-files.js';

const WATCH_MS = 30_000;
const POLL_MS = 200;

type Hint = 'ready' | 'running' | 'parked';

/** A fleet of several worker processes on one machine, in files. Needs no database. */
export class LocalFleet implements Fleet {
  readonly driver = 'local';
  readonly #root: string;
  readonly #limits: LocalLimits;
  #deadlineMs = 15_000;

  constructor(root: string) {
    this.#root = root;
    this.#limits = new LocalLimits(root);
  }

  async submit(order: SessionOrder, mail: readonly Mail[]): Promise<void> {
    const files = this.#files(order.id);
    if (!files.create(order)) {
      throw new PortcullisError('session', `Session ID ${order.id} is already in use`);
    }
    for (const one of mail) files.addMail(one);
    this.#hint('ready', order.id);
  }

  async send(session: string, mail: Mail): Promise<boolean> {
    const files = this.#files(session);
    if (files.isCancelled || files.state() === undefined) return false;
    files.addMail(mail);
    this.#hint('ready', session);
    return true;
  }

  async cancel(session: string): Promise<boolean> {
    const files = this.#files(session);
    return files.state() !== undefined && files.cancel();
  }

  async show(session: string): Promise<FleetSession | undefined> {
    return this.#files(session).state()?.session;
  }

  async list({ tenant, phase, limit = 1_000 }: SessionFilter = {}) {
    return this.#states()
      .map(({ session }) => session)
      .filter((one) => tenant === undefined || one.order.tenant === tenant)
      .filter((one) => phase === undefined || one.phase === phase)
      .sort((a, b) => b.order.submittedAt.localeCompare(a.order.submittedAt))
      .slice(0, limit);
  }

  async entries(session: string, after = 0): Promise<readonly StoredEntry[]> {
    return (this.#files(session).state()?.entries ?? []).filter(({ seq }) => seq > after);
  }

  async receipts(session: string): Promise<readonly string[]> {
    return this.#files(session).state()?.receipts ?? [];
  }

  async intents(session: string): Promise<readonly Intent[]> {
    return [...(this.#files(session).state()?.intents.values() ?? [])];
  }

  async asks(session?: string): Promise<readonly OpenAsk[]> {
    const states = session === undefined ? this.#states() : [this.#files(session).state()];
    return states.flatMap((state) => {
      if (state === undefined || state.session.phase === 'cancelled') return [];
      const { tenant, title = '' } = state.session.order;
      const files = this.#files(state.session.order.id);
      return [...state.asks.values()]
        .filter(({ id, expiresAt }) => !isPast(expiresAt) && files.answer(id) === undefined)
        .map((ask) => ({ ...ask, tenant, title }));
    });
  }

  async answer(ask: string, answer: GivenAnswer): Promise<'accepted' | 'closed'> {
    const open = (await this.asks()).find(({ id }) => id === ask);
    if (open === undefined || !this.#files(open.session).addAnswer(ask, answer)) return 'closed';
    this.#hint('ready', open.session);
    return 'accepted';
  }

  async watch(session: string, after: number) {
    stateFiles.write(this.#path('watched', session), '');
    const events = this.#files(session).state()?.events ?? [];
    return events.slice(after).map((event, at) => ({ seq: after + at + 1, event }));
  }

  async workers(): Promise<readonly WorkerRow[]> {
    const running = this.#running();
    return stateFiles.list(this.#path('workers')).flatMap((name) => {
      const file = this.#path('workers', name);
      const info = read<WorkerInfo & { lost?: boolean }>(file);
      if (info === undefined) return [];
      const beatAgoMs = Date.now() - (modifiedAt(file) ?? 0);
      const own = running.filter(({ session }) => session.owner === info.id).length;
      return [{ ...info, running: own, beatAgoMs, lost: beatAgoMs > this.#deadlineMs }];
    });
  }

  async tenants(): Promise<readonly TenantRow[]> {
    const states = this.#states();
    const { tenants } = this.#limits.get();
    const names = new Set([
      ...Object.keys(tenants),
      ...states.map(({ session }) => session.order.tenant),
    ]);
    return [...names].sort().map((name) => {
      const own = states.filter(({ session }) => session.order.tenant === name);
      const count = (phase: string): number =>
        own.filter(({ session }) => session.phase === phase).length;
      const spentUsd = own.reduce((sum, { session }) => sum + session.spentUsd, 0);
      return { ...tenants[name], name, running: count('running'), ready: count('ready'), spentUsd };
    });
  }

  setTenant(name: string, limits: TenantLimits): Promise<void> {
    return this.#limits.setTenant(name, limits);
  }

  setRate(name: string, perMinute: number | null): Promise<void> {
    return this.#limits.setRate(name, perMinute);
  }

  async schedules(): Promise<readonly Schedule[]> {
    return stateFiles
      .list(this.#path('schedules'))
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => read<Schedule>(this.#path('schedules', name)) ?? []);
  }

  async putSchedule(schedule: Schedule): Promise<void> {
    const name = `${encodeURIComponent(schedule.name)}.json`;
    stateFiles.write(this.#path('schedules', name), JSON.stringify(schedule));
  }

  async removeSchedule(name: string): Promise<boolean> {
    const known = (await this.schedules()).some((one) => one.name === name);
    stateFiles.remove(this.#path('schedules', `${encodeURIComponent(name)}.json`));
    return known;
  }

  async beat(worker: WorkerInfo): Promise<BeatReply> {
    const file = this.#path('workers', `${worker.id}.json`);
    const isLost = stateFiles.read(this.#path('lost', worker.id)) !== undefined;
    if (!isLost) stateFiles.write(file, JSON.stringify(worker));
    return { lost: isLost, rates: Object.keys(this.#limits.get().rates) };
  }

  async leave(worker: string): Promise<void> {
    stateFiles.remove(this.#path('workers', `${worker}.json`));
  }

  async claim(worker: WorkerInfo): Promise<Claim | undefined> {
    if (stateFiles.list(this.#path('hints/ready')).length === 0) return undefined;
    return await this.#limits.locked('claim', async () => {
      const running = this.#running();
      for (const { session } of this.#ready(worker)) {
        const { id, tenant } = session.order;
        const limits = this.#limits.get().tenants[tenant] ?? {};
        const own = running.filter((one) => one.session.order.tenant === tenant).length;
        if (limits.concurrency !== undefined && own >= limits.concurrency) continue;
        if (!this.#hasBudget(session, limits, own)) continue;
        if (
          limits.ratePerMinute !== undefined &&
          !this.#limits.takeStart(tenant, limits.ratePerMinute)
        )
          continue;
        const epoch = session.epoch + 1;
        this.#hint('running', id);
        if (!this.#files(id).begin(epoch, worker.id)) continue;
        // The release sets it again, for mail that comes meanwhile.
        stateFiles.remove(this.#path('hints/ready', id));
        const claimed = { ...session, epoch, owner: worker.id, phase: 'running' as const };
        return { session: claimed, worker: worker.id, epoch };
      }
      return undefined;
    });
  }

  async read({ session }: Claim): Promise<SessionRecord> {
    const state = this.#files(session.order.id).state();
    return {
      entries: state?.entries ?? [],
      lastReceipt: state?.receipts.at(-1),
      intents: [...(state?.intents.values() ?? [])],
    };
  }

  async mail(session: string): Promise<readonly Mail[]> {
    return this.#files(session).state()?.mail ?? [];
  }

  async answers(
    session: string,
    asks: readonly string[],
  ): Promise<ReadonlyMap<string, GivenAnswer | 'expired'>> {
    const files = this.#files(session);
    const open = files.state()?.asks;
    const found = new Map<string, GivenAnswer | 'expired'>();
    for (const id of asks) {
      const answer = files.answer(id);
      if (answer !== undefined) found.set(id, answer);
      else if (isPast(open?.get(id)?.expiresAt ?? '')) found.set(id, 'expired');
    }
    return found;
  }

  async commit({ session, epoch }: Claim, batch: Batch): Promise<CommitReply> {
    const { id } = session.order;
    const files = this.#files(id);
    files.append(epoch, batch);
    const { release } = batch.patch;
    if (release !== undefined) this.#hint(release === 'parked' ? 'parked' : 'ready', id);
    const watchedAt = modifiedAt(this.#path('watched', id)) ?? 0;
    return { watched: Date.now() - watchedAt < WATCH_MS, cancelled: files.isCancelled };
  }

  async reap(deadlineMs: number): Promise<readonly string[]> {
    this.#deadlineMs = deadlineMs;
    const taken: string[] = [];
    for (const { session, claimedAt } of this.#running()) {
      const { id } = session.order;
      const beat = modifiedAt(this.#path('workers', `${session.owner}.json`)) ?? claimedAt;
      if (Date.now() - beat <= deadlineMs) continue;
      if (session.owner !== '') stateFiles.write(this.#path('lost', session.owner), '');
      if (!this.#files(id).begin(session.epoch + 1, '')) continue;
      this.#hint('ready', id);
      taken.push(id);
    }
    // A worker may have died between its last write and its hint.
    for (const from of ['parked', 'running'] as const) {
      for (const { session } of this.#hinted(from, ['ready'])) {
        if (session.phase === 'ready') this.#hint('ready', session.order.id);
      }
    }
    return taken;
  }

  takeToken(rate: string): Promise<number> {
    return this.#limits.take(rate);
  }

  async takeRun(schedule: string, minute: string): Promise<boolean> {
    const name = `${encodeURIComponent(schedule)}-${minute.replaceAll(':', '')}`;
    if (!stateFiles.createOnce(this.#path('runs', name), '')) return false;
    const known = (await this.schedules()).find((one) => one.name === schedule);
    if (known !== undefined) await this.putSchedule({ ...known, lastRun: minute });
    return true;
  }

  async prune(before: string): Promise<number> {
    const old = this.#states().filter(
      ({ session }) =>
        session.updatedAt < before && ['idle', 'stopped', 'cancelled'].includes(session.phase),
    );
    for (const { session } of old) this.#files(session.order.id).remove();
    return old.length;
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, Math.min(ms, POLL_MS));
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  async check(): Promise<void> {
    stateFiles.write(this.#path('writable'), '');
  }

  async close(): Promise<void> {
    // Files are open only while they are used.
  }

  /** Sessions that this worker may claim, the most urgent first. */
  #ready({ labels, tenant }: WorkerInfo): readonly SessionState[] {
    return this.#hinted('ready', ['running'])
      .filter(({ session }) => session.phase === 'ready')
      .filter(({ session: { order } }) => tenant === undefined || order.tenant === tenant)
      .filter(({ session: { order } }) => order.labels.every((one) => labels.includes(one)))
      .sort(
        (a, b) =>
          b.session.order.priority - a.session.order.priority ||
          a.session.updatedAt.localeCompare(b.session.updatedAt),
      );
  }

  #running(): readonly SessionState[] {
    return this.#hinted('running', ['ready']).filter(({ session }) => session.phase === 'running');
  }

  /**
   * Sessions with this hint. Hints only save looking at every session: one may stand for a session in another phase,
   * but none in this phase lacks it. It is removed where the phase is neither this one nor one that leads to it.
   */
  #hinted(hint: Hint, before: readonly SessionPhase[]): readonly SessionState[] {
    const fits = (state?: SessionState): boolean =>
      state !== undefined && [hint, ...before].includes(state.session.phase);
    return stateFiles.list(this.#path('hints', hint)).flatMap((id) => {
      const state = this.#files(id).state();
      if (state !== undefined && fits(state)) return [state];
      stateFiles.remove(this.#path('hints', hint, id));
      // It may have come to this phase meanwhile.
      if (fits(this.#files(id).state())) this.#hint(hint, id);
      return [];
    });
  }

  /** fail-closed: every drive that runs counts with what it may still spend. */
  #hasBudget({ order }: FleetSession, limits: TenantLimits, running: number): boolean {
    const { budgetUsd, reserveUsd = 1 } = limits;
    if (budgetUsd === undefined) return true;
    const spent = this.#states()
      .filter(({ session }) => session.order.tenant === order.tenant)
      .reduce((sum, { session }) => sum + session.spentUsd, 0);
    return spent + (running + 1) * reserveUsd <= budgetUsd;
  }

  #states(): readonly SessionState[] {
    return stateFiles.list(this.#path('sessions')).flatMap((id) => this.#files(id).state() ?? []);
  }

  #files(id: string): SessionFiles {
    // fail-closed: ids become names of files.
    if (!/^[\w-]{1,64}$/.test(id)) throw new PortcullisError('usage', `"${id}" is no session id`);
    return new SessionFiles(this.#path('sessions'), id);
  }

  #hint(hint: Hint, id: string): void {
    stateFiles.write(this.#path('hints', hint, id), '');
  }

  #path(...names: readonly string[]): string {
    return join(this.#root, ...names);
  }
}

function isPast(time: string): boolean {
  return Date.parse(time) <= Date.now();
}

function modifiedAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
