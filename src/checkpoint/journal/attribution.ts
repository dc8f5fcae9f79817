import type { Author, Look, TreeChange } from '../types.js';

/**
 * File systems stamp a change with the time of the last tick of the kernel's clock, which is up to ten
 * milliseconds before it happened.
 */
const TICK_MS = 10;

/** The part of a window that tells whose a change is. */
export interface TrackedWindow {
  readonly author: Author;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

export interface LookSpan {
  /** When the look before it began: nothing that it found can be older. */
  readonly since: number;
  readonly finishedAt: number;
  /** Directories that it found to be new, with the time of each. */
  readonly madeDirectories: ReadonlyMap<string, number>;
  /** Paths that it found to be gone, with the time of each. */
  readonly gone: ReadonlyMap<string, number>;
  /** Where paths came from. */
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
 * Which windows a change may belong to; none means that it was made while no tool ran. A window counts
 * when it was open at the time of the change, to the tick. Where the time says nothing (another clock, a file moved
 * with its directory), all windows since the last look count.
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
      // Clocks that count whole milliseconds have cut off the rest.
      startedAt <= at + TICK_MS && endedAt >= Math.floor(at) - 1,
  );
}

/** A job that runs for longer is not all that happens: the person works on beside it. */
const LONG_MS = 10_000;

/**
 * Whether a change may be the person's although somebody could write then. A call is over before they
 * have read its answer; a job in the background, such as a server, is there for as long as they edit.
 */
export function mayBeThePersons(
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
 * When a change was made. Undefined: its time cannot be right. Older than the look before is such a
 * time too: the path was moved, and what is moved with its directory keeps its own change time.
 */
export function timeOf(change: TreeChange, span: LookSpan): number | undefined {
  const at = Math.max(change.at, movedAt(change, span));
  return at < span.since || at > span.finishedAt + TICK_MS ? undefined : at;
}

/** The directories that came with it, and the place that it left, may tell when it was moved. */
function movedAt({ path, before }: TreeChange, span: LookSpan): number {
  if (before !== undefined) return 0;
  let latest = span.gone.get(span.renames.get(path) ?? '') ?? 0;
  if (span.madeDirectories.size === 0) return latest;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    latest = Math.max(latest, span.madeDirectories.get(path.slice(0, end)) ?? 0);
  }
  return latest;
}

/** Where files that appeared in a look came from: the only path that went with the very same bytes. */
export function renamesIn(changes: readonly TreeChange[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const gone = byBytes(changes, ({ before, after }) => (after === undefined ? before : undefined));
  const come = byBytes(changes, ({ before, after }) => (before === undefined ? after : undefined));
  for (const [bytes, [path, ...others]] of come) {
    const [from, ...more] = gone.get(bytes) ?? [];
    // More than one on either side: a copy, or a coincidence.
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
    // Empty files are all alike.
    if (state?.kind !== 'file' || state.blob === undefined || state.size === 0) continue;
    const paths = groups.get(state.blob);
    if (paths === undefined) groups.set(state.blob, [change.path]);
    else paths.push(change.path);
  }
  return groups;
}
