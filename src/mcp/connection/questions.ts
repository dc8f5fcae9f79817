import { isRecord } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import type { Elicit, ElicitAnswer, ElicitRequest } from '../server.js';
import type { CallTimers } from './request.js';

/** Questions of one server that may be open at a time, and that one refused call may carry. */
const MAX_OPEN = 8;
const MAX_URLS = 5;

type Question = Omit<ElicitRequest, 'server'>;

/** What a server wants to know of a person. While one is asked, no call runs out of time. */
export class Questions {
  readonly #server: string;
  readonly #elicit: Elicit;
  readonly #running: ReadonlySet<CallTimers>;
  readonly #open = new Set<AbortController>();

  constructor(server: string, elicit: Elicit, running: ReadonlySet<CallTimers>) {
    this.#server = server;
    this.#elicit = elicit;
    this.#running = running;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  async ask(question: Question, signal: AbortSignal): Promise<ElicitAnswer> {
    // fail-closed: a server that asks without end is not answered.
    if (this.#open.size >= MAX_OPEN || signal.aborted) return { action: 'decline' };
    const own = new AbortController();
    this.#open.add(own);
    for (const timers of this.#running) timers.pause();
    try {
      const either = AbortSignal.any([signal, own.signal]);
      return await this.#elicit({ ...question, server: this.#server }, either);
    } catch {
      // fail-closed: it promises never to reject; whoever breaks that has not agreed to anything.
      return { action: 'cancel' };
    } finally {
      this.#open.delete(own);
      if (this.#open.size === 0) for (const timers of this.#running) timers.resume();
    }
  }

  /** Nobody waits for the answers any more. */
  withdraw(): void {
    for (const question of this.#open) question.abort();
  }
}

/** The pages that a call wants visited before it runs (error -32042); empty when it names none that can be. */
export function requiredPages(data: unknown): readonly (Question & { readonly url: string })[] {
  const listed = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  const pages = listed.slice(0, MAX_URLS).flatMap((item) => {
    if (!isRecord(item) || typeof item.url !== 'string' || !isWebAddress(item.url)) return [];
    return [
      {
        mode: 'url' as const,
        url: item.url,
        message: typeof item.message === 'string' ? item.message : '',
        ...(typeof item.elicitationId === 'string' ? { elicitationId: item.elicitationId } : {}),
      },
    ];
  });
  // fail-closed: with one of them left out, the call could not go on anyway.
  return pages.length === listed.length ? pages : [];
}

function isWebAddress(url: string | undefined): boolean {
  if (url === undefined || parseUrl(url) === undefined) return false;
  const { protocol } = new URL(url);
  return protocol === 'https:' || protocol === 'http:';
}
