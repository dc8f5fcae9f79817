import { useLayoutEffect, useState } from 'preact/hooks';
import { ApiError, get, readStream, type StreamMessage } from './api.js';
import type { Me, Overview } from './types.js';

/** The state that all views share. */
export interface State {
  readonly me?: Me | undefined;
  readonly overview?: Overview | undefined;
  readonly connection: 'connecting' | 'open' | 'lost' | 'signed out';
}

type SessionListener = (messages: readonly StreamMessage[]) => void;

let state: State = { connection: 'connecting' };
const listeners = new Set<() => void>();
let watched: { key: string; after: () => number; receive: SessionListener } | undefined;
let running: AbortController | undefined;

function update(change: Partial<State>): void {
  state = { ...state, ...change };
  const waiting = state.overview?.inbox.length ?? 0;
  document.title = waiting === 0 ? 'Portcullis' : `(${waiting}) Portcullis`;
  for (const listener of listeners) listener();
}

export function useStore(): State {
  const [, draw] = useState({});
  // An effect would run after the next frame, and an update before it would never be drawn.
  useLayoutEffect(() => {
    const listener = (): void => draw({});
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return state;
}

/** Restarts the stream with the events of one session. Returns a function that ends this. */
export function watchSession(
  key: string,
  after: () => number,
  receive: SessionListener,
): () => void {
  watched = { key, after, receive };
  running?.abort();
  return () => {
    if (watched?.receive !== receive) return;
    watched = undefined;
    running?.abort();
  };
}

const RETRY_MS = 1_000;
const HIDDEN_MS = 10_000;

/** Keeps one stream open while the page is visible; a hidden page polls. */
export async function connect(): Promise<void> {
  document.addEventListener('visibilitychange', () => running?.abort());
  for (;;) {
    const attempt = new AbortController();
    running = attempt;
    try {
      if (state.me === undefined) update({ me: await get<Me>('/api/me') });
      if (document.hidden) {
        update({ overview: await get<Overview>('/api/overview'), connection: 'open' });
        await pause(HIDDEN_MS, attempt.signal);
        continue;
      }
      await stream(attempt.signal);
      update({ connection: 'lost' });
    } catch (thrown) {
      if (attempt.signal.aborted) continue;
      if (thrown instanceof ApiError && thrown.status === 401) {
        update({ connection: 'signed out' });
        return;
      }
      update({ connection: 'lost' });
    }
    await pause(RETRY_MS, attempt.signal);
  }
}

async function stream(signal: AbortSignal): Promise<void> {
  const session = watched;
  const query = session && { key: session.key, after: String(session.after()) };
  await readStream(
    { ...query },
    (messages) => {
      const overview = messages.findLast((message) => message.type === 'overview');
      if (overview?.type === 'overview')
        update({ overview: overview.overview, connection: 'open' });
      const others = messages.filter((message) => message.type !== 'overview');
      if (others.length > 0 && session === watched) session?.receive(others);
    },
    signal,
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The folders that sessions of this user work in. */
export function folders(
  overview: Overview | undefined,
  past: readonly { readonly cwd: string }[],
): readonly string[] {
  const all = [...(overview?.sessions ?? []), ...past].map(({ cwd }) => cwd);
  return [...new Set(all)].filter((cwd) => cwd !== '');
}
