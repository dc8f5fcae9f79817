import type { Clock } from '../platform/clock.js';
import type { TranscriptEntry } from '../protocol/transcript.js';
import { factLines, factsOf } from './recorder.js';
import { chainOf } from './transcript/chain.js';
import type { LoadedSession, SessionStore } from './transcript/store.js';

export interface ForkOptions {
  readonly newSessionId: string;
  readonly clock: Pick<Clock, 'uuid'>;
  /** Copies only the branch that ends with this entry. */
  readonly resumeAt?: string;
  readonly title?: string;
}

/** Entries per append, so that a long session never becomes one string. */
const BATCH = 256;

/**
 * Copies a session under a new id, each entry under a new uuid that records its origin. The old session
 * is only read. Returns the copy, ready for `loadConversation`.
 */
export async function forkSession(
  store: SessionStore,
  loaded: LoadedSession,
  options: ForkOptions,
): Promise<LoadedSession> {
  const source =
    options.resumeAt === undefined
      ? loaded.entries.filter((entry) => entry.isSidechain !== true)
      : chainOf(loaded, { resumeAt: options.resumeAt }).entries;
  const copies = renamed(source, loaded, options);
  for (let start = 0; start < copies.length; start += BATCH) {
    const batch = copies.slice(start, start + BATCH);
    const whole = await Promise.all(batch.map((entry) => withPayload(store, loaded, entry)));
    store.append(options.newSessionId, whole);
  }
  const facts = { ...factsOf(loaded), ...(options.title && { title: options.title }) };
  const lines = factLines(options.newSessionId, facts);
  if (lines.length > 0) store.append(options.newSessionId, lines);
  return {
    sessionId: options.newSessionId,
    entries: copies,
    damagedLines: loaded.damagedLines,
    ...facts,
  };
}

function renamed(
  source: readonly TranscriptEntry[],
  loaded: LoadedSession,
  options: ForkOptions,
): TranscriptEntry[] {
  const uuids = new Map(source.map((entry) => [entry.uuid, options.clock.uuid()]));
  const parentOf = (uuid: string | null): string | null => {
    const seen = new Set<string>();
    let next: string | null | undefined = uuid;
    // Entries of unknown kinds are not copied; their children are linked to their parents.
    while (typeof next === 'string' && !uuids.has(next) && !seen.has(next)) {
      seen.add(next);
      next = loaded.links?.get(next);
    }
    return uuids.get(next ?? '') ?? null;
  };
  return source.map((entry) => ({
    ...entry,
    uuid: uuids.get(entry.uuid) ?? options.clock.uuid(),
    parentUuid: parentOf(entry.parentUuid),
    ...(entry.type === 'system' && typeof entry.logicalParentUuid === 'string'
      ? { logicalParentUuid: parentOf(entry.logicalParentUuid) }
      : {}),
    sessionId: options.newSessionId,
    forkedFrom: { sessionId: loaded.sessionId, messageUuid: entry.uuid },
  }));
}

/** Long outputs are stored in the old session's directory; the copy gets its own. */
async function withPayload(
  store: SessionStore,
  loaded: LoadedSession,
  entry: TranscriptEntry,
): Promise<TranscriptEntry> {
  if (entry.type !== 'user' || entry.toolUseResult === undefined) return entry;
  try {
    return { ...entry, toolUseResult: await store.payload(loaded.sessionId, entry.toolUseResult) };
  } catch {
    // The old output is gone or damaged: the copy keeps the reference, and reading it reports the loss.
    return entry;
  }
}
