import { describe, expect, it } from 'vitest';
import type { NodeState, TreeChange } from '../types.js';
import { candidatesFor, mayBeByPerson, spanOf, type TrackedWindow, timeOf } from './attribution.js';

const FILE: NodeState = { kind: 'file', size: 1, mode: 0o644, blob: 'x' };
const DIRECTORY: NodeState = { kind: 'directory', mode: 0o755 };

type Named = TrackedWindow & { readonly id: string };

function window(id: string, startedAt: number, endedAt?: number): Named {
  return { id, author: { kind: 'user' }, startedAt, endedAt };
}

function namesFor(change: TreeChange, windows: readonly Named[], all = [change]): string[] {
  const span = spanOf({ startedAt: 1000, finishedAt: 1010, changes: all, gaps: [] }, 500);
  return candidatesFor(change, span, windows).map(({ id }) => id);
}

describe('whose a change is', () => {
  it('is that of the window it was made in', () => {
    const windows = [window('early', 510, 600), window('late', 700, 900)];
    expect(namesFor({ path: 'a', after: FILE, at: 550 }, windows)).toEqual(['early']);
    expect(namesFor({ path: 'a', after: FILE, at: 800 }, windows)).toEqual(['late']);
  });

  it('is nobody’s but the person’s when no window was open', () => {
    const windows = [window('early', 510, 600), window('late', 700, 900)];
    expect(namesFor({ path: 'a', after: FILE, at: 650 }, windows)).toEqual([]);
    expect(namesFor({ path: 'a', after: FILE, at: 950 }, windows)).toEqual([]);
  });

  it('names all windows that were open at once', () => {
    const windows = [window('one', 510), window('two', 600, 800), window('three', 900, 950)];
    expect(namesFor({ path: 'a', after: FILE, at: 700 }, windows)).toEqual(['one', 'two']);
  });

  it('allows for the clock of the file system being a tick behind', () => {
    expect(namesFor({ path: 'a', after: FILE, at: 695 }, [window('w', 700, 900)])).toEqual(['w']);
  });

  it('does not trust a time outside of what is possible', () => {
    const windows = [window('one', 510, 600), window('two', 700)];
    expect(namesFor({ path: 'a', after: FILE, at: 20 }, windows)).toEqual(['one', 'two']);
    expect(namesFor({ path: 'a', after: FILE, at: 9000 }, windows)).toEqual(['one', 'two']);
  });

  it('leaves out windows that were begun after the look', () => {
    expect(namesFor({ path: 'a', after: FILE, at: 20 }, [window('w', 1011)])).toEqual([]);
  });

  it('takes the time of the directory for what was moved with it', () => {
    const moved: TreeChange = { path: 'new/deep/file', after: FILE, at: 3 };
    const top: TreeChange = { path: 'new', after: DIRECTORY, at: 720 };
    const windows = [window('one', 510, 600), window('two', 700)];
    expect(namesFor(moved, windows, [moved, top])).toEqual(['two']);
  });

  it('takes the time at which the old name went for what was renamed', () => {
    const moved: TreeChange = { path: 'b/file', after: FILE, at: 520 };
    const gone: TreeChange = { path: 'a/file', before: FILE, at: 730 };
    const changes = [moved, gone];
    const span = spanOf({ startedAt: 1000, finishedAt: 1010, changes, gaps: [] }, 500);
    expect(timeOf(moved, span)).toBe(730);
  });

  it('may be the person’s only while nothing but long jobs in the background run', () => {
    const agent = { id: 'main', type: 'main', path: 'main' };
    const call = { kind: 'call', toolUseId: 'x', tool: 'Bash', agent } as const;
    const job = { ...window('job', 0), author: { ...call, background: true } as const };
    const foreground = { ...window('call', 0), author: call };
    const late: TreeChange = { path: 'a', after: FILE, at: 10_500 };
    const look = { startedAt: 10_600, finishedAt: 10_610, changes: [late], gaps: [] };
    const span = spanOf(look, 500);
    expect(mayBeByPerson(late, span, [job])).toBe(true);
    expect(mayBeByPerson({ ...late, at: 9_000 }, span, [job])).toBe(false);
    // With an unusable time the scan's end decides how long the job has run.
    expect(mayBeByPerson({ ...late, at: 20 }, span, [job])).toBe(true);
    expect(mayBeByPerson(late, span, [foreground])).toBe(false);
    expect(mayBeByPerson(late, span, [job, foreground])).toBe(false);
    expect(mayBeByPerson(late, span, [{ ...job, startedAt: 5_000 }])).toBe(false);
    expect(mayBeByPerson(late, span, [])).toBe(false);
  });
});
