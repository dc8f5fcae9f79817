import { join } from 'node:path';
import { PortcullisError } from '../../errors.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import type { TenantLimits } from '../types.js';
import { read } from './session-files.js';

/** How long a lock is waited for; its holders read a few small files. */
const LOCK = { waitMs: 10_000, staleMs: 15_000 };

interface Limits {
  readonly tenants: Readonly<Record<string, TenantLimits>>;
  /** Requests a minute, by name. */
  readonly rates: Readonly<Record<string, number>>;
}

/** Limits of tenants and rates, and how much of them is used. */
export class LocalLimits {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  get(): Limits {
    return read<Limits>(this.#file) ?? { tenants: {}, rates: {} };
  }

  async setTenant(name: string, limits: TenantLimits): Promise<void> {
    await this.locked('limits', () => {
      const { tenants, rates } = this.get();
      const next = { tenants: { ...tenants, [name]: limits }, rates };
      stateFiles.write(this.#file, JSON.stringify(next));
    });
  }

  async setRate(name: string, perMinute: number | null): Promise<void> {
    await this.locked('limits', () => {
      const { tenants, rates } = this.get();
      const others = Object.entries(rates).filter(([one]) => one !== name);
      const next = Object.fromEntries(perMinute === null ? others : [...others, [name, perMinute]]);
      stateFiles.write(this.#file, JSON.stringify({ tenants, rates: next }));
    });
  }

  /** Takes one token; the milliseconds to wait before it may be used. */
  async take(name: string): Promise<number> {
    const perMinute = this.get().rates[name];
    if (perMinute === undefined) return 0;
    return await this.locked('buckets', () => {
      const file = this.#bucket(name);
      const now = Date.now();
      const at = Math.max(now, read<{ next: number }>(file)?.next ?? 0);
      stateFiles.write(file, JSON.stringify({ next: at + 60_000 / perMinute }));
      return at - now;
    });
  }

  /** Whether a drive of this tenant may start now; called with the lock for claims. */
  takeStart(tenant: string, perMinute: number): boolean {
    const file = this.#bucket(`start:${tenant}`);
    const next = read<{ next: number }>(file)?.next ?? 0;
    if (next > Date.now()) return false;
    stateFiles.write(file, JSON.stringify({ next: Date.now() + 60_000 / perMinute }));
    return true;
  }

  async locked<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const path = join(this.#root, 'locks', name);
    const done = await withFileLock(path, LOCK, work);
    if (done !== undefined) return done.value;
    throw new PortcullisError('io', `the lock ${path} was not free in time`, {
      remedy: 'look for a worker process that hangs',
    });
  }

  get #file(): string {
    return join(this.#root, 'limits.json');
  }

  #bucket(name: string): string {
    return join(this.#root, 'buckets', encodeURIComponent(name));
  }
}
