import type { Author, Look, TreeChange } from '../types.js';

/** File systems use the kernel clock's last tick, up to 10 ms before the change. */
const TICK_MS = 10;

/** The fields of a window that attribution needs. */
export interface TrackedWindow {
  readonly author: Author;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

export interface LookSpan {
  /** When the previous scan began; nothing found now is older. */
  readonly since: number;
  readonly finishedAt: number;
  /** New directories and their times. */
  readonly madeDirectories: ReadonlyMap<string, number>;
  /** Removed paths and their times. */
  readonly gone: ReadonlyMap<string, number>;
  /** Renamed paths and their origins. */
  readonly renames: ReadonlyMap<string, string>;
}

export function spanOf(look: Look, since: number): LookSpan {
  const madeDirectories = new Map<string, number>();
  const gone = new Map<string, number>();
  for (const { path, before, after, at } of look.changes) {
    if (before === undefined && after?.kind === 'directory') madeDirectories.set(path, at);
    if (after === undefined) gone.set(path, at);
  }
  const renames = renamesIn(look.changes);
  return { since, finishedAt: look.finishedAt, madeDirectories, gone, renames };
}

/**
 * The windows that may have made a change; none means that it happened while no tool ran. A window counts
 * when it was open at the time of the change. Without a usable time (clock skew, a file moved with its
 * directory) all windows since the last scan count.
 */
export function candidatesFor<Window extends TrackedWindow>(
  change: TreeChange,
  span: LookSpan,
  windows: readonly Window[],
): readonly Window[] {
  const begun = windows.filter((window) => window.startedAt <= span.finishedAt);
  const at = timeOf(change, span);
  if (at === undefined) return begun;
  return begun.filter(
    ({ startedAt, endedAt = Number.POSITIVE_INFINITY }) =>
      // The window's clock may truncate to whole milliseconds.
      startedAt <= at + TICK_MS && endedAt >= Math.floor(at) - 1,
  );
}

/** A person edits alongside background jobs that run longer. */
const LONG_MS = 10_000;

/**
 * Whether the person may have made a change although a call was running: foreground calls end before people
 * read the answer, but background jobs run while they edit.
 */
export function mayBeByPerson(
  change: TreeChange,
  span: LookSpan,
  of: readonly TrackedWindow[],
): boolean {
  const at = timeOf(change, span) ?? span.finishedAt;
  return (
    of.length > 0 &&
    of.every(
      ({ author, startedAt }) =>
        author.kind === 'call' && author.background === true && at - startedAt > LONG_MS,
    )
  );
}

/**
 * When a change was made; undefined for an impossible time. A time before the previous scan is impossible
 * too: files moved with their directory keep their change time.
 */
export function timeOf(change: TreeChange, span: LookSpan): number | undefined {
  const at = Math.max(change.at, movedAt(change, span));
  return at < span.since || at > span.finishedAt + TICK_MS ? undefined : at;
}

/** New parent directories and the origin of a rename reveal when a path was moved. */
function movedAt({ path, before }: TreeChange, span: LookSpan): number {
  if (before !== undefined) return 0;
  let latest = span.gone.get(span.renames.get(path) ?? '') ?? 0;
  if (span.madeDirectories.size === 0) return latest;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    latest = Math.max(latest, span.madeDirectories.get(path.slice(0, end)) ?? 0);
  }
  return latest;
}

/** Pairs each new file with the only removed file of equal content. */
export function renamesIn(changes: readonly TreeChange[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const gone = byBytes(changes, ({ before, after }) => (after === undefined ? before : undefined));
  const come = byBytes(changes, ({ before, after }) => (before === undefined ? after : undefined));
  for (const [bytes, [path, ...others]] of come) {
    const [from, ...more] = gone.get(bytes) ?? [];
    // Several matches may be copies or coincidence.
    if (path === undefined || from === undefined || others.length + more.length > 0) continue;
    found.set(path, from);
  }
  return found;
}

function byBytes(
  changes: readonly TreeChange[],
  pick: (change: TreeChange) => TreeChange['after'],
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const change of changes) {
    const state = pick(change);
    // All empty files are equal.
    if (state?.kind !== 'file' || state.blob === undefined || state.size === 0) continue;
    const paths = groups.get(state.blob);
    if (paths === undefined) groups.set(state.blob, [change.path]);
    else paths.push(change.path);
  }
  return groups;
}
