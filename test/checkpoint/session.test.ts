import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Checkpoints } from '../../src/checkpoint/checkpoints.js';
import { openBlobStore } from '../../src/checkpoint/disk/blob-store.js';
import { type CheckpointDeps, openCheckpoints } from '../../src/checkpoint/open.js';
import { openTracker } from '../../src/checkpoint/scan/tracker.js';
import type { Author, Change, RewindPlan } from '../../src/checkpoint/types.js';

let home: string;
let root: string;
const opened: Checkpoints[] = [];

beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'checkpoints-')));
  root = path.join(home, 'tree');
  fs.mkdirSync(root);
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  fs.rmSync(home, { recursive: true, force: true });
});

type Options = Partial<Omit<CheckpointDeps, 'store'>> & {
  readonly store?: ReturnType<typeof openBlobStore>;
};

async function open({ store: given, ...deps }: Options = {}): Promise<Checkpoints> {
  const directory = path.join(home, 'state');
  const store = given ?? openBlobStore({ directory });
  const checkpoints = await openCheckpoints({
    root,
    directory,
    sessionId: 'one',
    store,
    openTracker: () => openTracker({ root, store }),
    waitMs: 20_000,
    smallLookMs: Number.POSITIVE_INFINITY,
    ...deps,
  });
  opened.push(checkpoints);
  return checkpoints;
}

function by(toolUseId: string, agent = 'main', background?: true): Author {
  return {
    kind: 'call',
    toolUseId,
    tool: 'Bash',
    agent: { id: agent.split('/').at(-1) ?? agent, type: 'main', path: agent },
    ...(background === undefined ? {} : { background }),
  };
}

async function call(
  checkpoints: Checkpoints,
  author: Author,
  work: () => void,
): Promise<readonly Change[]> {
  const window = await checkpoints.begin(author);
  work();
  window.end();
  return window.changes;
}

const write = (name: string, text: string): void => {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
};
const read = (name: string): string | undefined => {
  const full = path.join(root, name);
  return fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : undefined;
};
const isPlan = (plan: RewindPlan | { readonly why: string }): RewindPlan => {
  if ('why' in plan) throw new Error(plan.why);
  return plan;
};
const paths = (items: readonly { readonly path: string }[]): string[] =>
  items.map((item) => item.path);

describe('the journal', () => {
  it('says who changed what in which turn', async () => {
    write('a', 'one\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'first\nline');
    const found = await call(checkpoints, by('c1'), () => write('a', 'two\n'));
    expect(paths(found)).toEqual(['a']);
    write('mine', 'x\n');
    checkpoints.mark('m2', 'second');
    await call(checkpoints, by('c2', 'main/helper#1'), () => write('b', 'b\n'));

    const changes = await checkpoints.changes();
    expect(changes.map(({ path: name, messageId, authors }) => [name, messageId, authors])).toEqual(
      [
        ['a', 'm1', [by('c1')]],
        ['mine', 'm1', [{ kind: 'user' }]],
        ['b', 'm2', [by('c2', 'main/helper#1')]],
      ],
    );
    expect(changes.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(paths(await checkpoints.changes({ agent: 'helper#1' }))).toEqual(['b']);
    expect(paths(await checkpoints.changes({ agent: 'main' }))).toEqual(['a', 'b']);
    expect(paths(await checkpoints.changes({ messageId: 'm1' }))).toEqual(['a', 'mine']);
    expect(paths(await checkpoints.changes({ toolUseId: 'c2' }))).toEqual(['b']);
    expect(checkpoints.points().map(({ title, complete }) => [title, complete])).toEqual([
      ['first', true],
      ['second', true],
    ]);
    const [first] = changes;
    expect(first && (await checkpoints.diff(first))).toContain('-one\n+two\n');
  });

  it('names everybody who ran at once', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    const one = await checkpoints.begin(by('c1', 'main/a'));
    const two = await checkpoints.begin(by('c2', 'main/b'));
    write('f', 'x\n');
    one.end();
    two.end();
    expect((await one.changes)[0]?.authors).toEqual([by('c1', 'main/a'), by('c2', 'main/b')]);
    expect(paths(await two.changes)).toEqual(['f']);

    const plan = isPlan(await checkpoints.preview({ kind: 'agent', agent: 'main/a' }));
    expect(plan.restored).toEqual([]);
    expect(plan.conflicts).toMatchObject([{ path: 'f', why: expect.stringContaining('at once') }]);
  });

  it('keeps what is named beforehand although it is ignored, and tells what is outside', async () => {
    write('.gitignore', 'ignored\n');
    write('ignored', 'one\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    const outside = path.join(home, 'elsewhere');
    const window = await checkpoints.begin(by('c1'), [path.join(root, 'ignored'), outside]);
    write('ignored', 'two\n');
    window.end();
    expect(paths(await window.changes)).toEqual(['ignored']);
    const result = await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    expect(read('ignored')).toBe('one\n');
    expect(result).toMatchObject({
      plan: { impossible: [{ what: outside, why: 'it is outside the workspace' }] },
    });
  });

  it('says when a point cannot be whole', async () => {
    const checkpoints = await open({
      openTracker: () => {
        throw new Error('no such thing');
      },
    });
    expect(checkpoints.state().kind).toBe('off');
    checkpoints.mark('m1', 'x');
    expect(checkpoints.points()).toMatchObject([
      { complete: false, gaps: ['the tree cannot be watched: no such thing'] },
    ]);
    const plan = isPlan(await checkpoints.preview({ kind: 'message', messageId: 'm1' }));
    expect(plan.impossible).toMatchObject([{ why: expect.stringContaining('no such thing') }]);
  });

  it('waits no longer than it is told for a first index that takes too long', async () => {
    const store = openBlobStore({ directory: path.join(home, 'state') });
    const real = openTracker({ root, store });
    const checkpoints = await open({
      store,
      waitMs: 20,
      openTracker: () => ({
        root,
        ready: new Promise<void>(() => {}),
        state: () => ({ kind: 'indexing', files: 0, gaps: [] }),
        look: () => real.look(),
        keep: (name) => real.keep(name),
        known: (name) => real.known(name),
        close: () => real.close(),
      }),
    });
    checkpoints.mark('m1', 'x');
    const window = await checkpoints.begin(by('c1'));
    window.end();
    await window.changes;
    expect(checkpoints.points()).toMatchObject([{ complete: false }]);
    expect(checkpoints.points()[0]?.gaps).toContain(
      'Bash began before the first index of the tree was finished',
    );
  });

  it('says which point a killed program has left less than whole, for good', async () => {
    const first = await open();
    first.mark('m1', 'x');
    await first.begin(by('c1'));
    fs.cpSync(path.join(home, 'state/sessions'), path.join(home, 'copy'), { recursive: true });
    for (const message of ['m2', 'm3']) {
      const log = path.join(home, 'state/sessions/killed.jsonl');
      if (message === 'm2') fs.copyFileSync(path.join(home, 'copy/one.jsonl'), log);
      const later = await open({ sessionId: 'killed' });
      later.mark(message, 'y');
      expect(later.points()[0]).toMatchObject({
        complete: false,
        gaps: ['Bash had begun and not ended: what it wrote last is not known'],
      });
      await later.close();
    }
  });

  it('knows the same after it was closed, and in a fork', async () => {
    const first = await open();
    first.mark('m1', 'x');
    await call(first, by('c1'), () => write('a', 'x\n'));
    await first.close();

    const again = await open();
    expect(paths(await again.changes())).toEqual(['a']);
    const fork = await open({ sessionId: 'two', parentSessionId: 'one' });
    fork.mark('m2', 'y');
    await call(fork, by('c2'), () => write('b', 'x\n'));
    // What the parent does from now on is not the fork's.
    again.mark('m3', 'z');
    await again.close();
    await fork.close();

    const forkAgain = await open({ sessionId: 'two', parentSessionId: 'one' });
    expect(forkAgain.points().map(({ messageId }) => messageId)).toEqual(['m1', 'm2']);
    expect((await forkAgain.changes()).map(({ seq, path: name }) => [seq, name])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(await forkAgain.rewind({ kind: 'message', messageId: 'm1' })).toMatchObject({
      kind: 'done',
    });
    expect(fs.readdirSync(root)).toEqual([]);
  });
});

describe('a rewind', () => {
  it('shows three lists and keeps what the person changed later', async () => {
    write('keep', 'one\n');
    write('both', 'one\n');
    write('gone', 'g\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => {
      write('keep', 'one\ntwo\n');
      write('both', 'agent\n');
      fs.rmSync(path.join(root, 'gone'));
      write('dir/new', 'n\n');
    });
    write('both', 'mine\n');
    checkpoints.outside(by('c1'), 'POST https://example.test', 'the network has no undo');
    checkpoints.outside(by('c1'), 'POST https://example.test', 'the network has no undo');

    const target = { kind: 'message', messageId: 'm1' } as const;
    const plan = isPlan(await checkpoints.preview(target));
    expect(plan.restored.map(({ path: name, action }) => [name, action])).toEqual([
      ['dir', 'delete'],
      ['dir/new', 'delete'],
      ['gone', 'create'],
      ['keep', 'overwrite'],
    ]);
    expect(plan.conflicts).toMatchObject([
      { path: 'both', action: 'overwrite', why: 'the person or another program changed it since' },
    ]);
    expect(plan.impossible).toEqual([
      { what: 'POST https://example.test', why: 'the network has no undo' },
    ]);
    expect([plan.insertions, plan.deletions]).toEqual([1, 2]);

    expect(await checkpoints.rewind(target)).toMatchObject({ kind: 'done', failed: [] });
    expect([read('keep'), read('both'), read('gone')]).toEqual(['one\n', 'mine\n', 'g\n']);
    expect(fs.existsSync(path.join(root, 'dir'))).toBe(false);

    await checkpoints.rewind(target, { overwriteConflicts: true });
    expect(read('both')).toBe('one\n');
    await checkpoints.redo();
    expect(read('both')).toBe('mine\n');
    await checkpoints.redo();
    expect([read('keep'), read('gone'), read('dir/new')]).toEqual(['one\ntwo\n', undefined, 'n\n']);
    expect(await checkpoints.redo()).toMatchObject({ kind: 'refused' });
  });

  it('goes back to before a call, or takes back that call alone', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => write('a', '1\n'));
    await call(checkpoints, by('c2'), () => write('b', '2\n'));
    await call(checkpoints, by('c3'), () => write('c', '3\n'));
    await checkpoints.rewind({ kind: 'call', toolUseId: 'c2', only: true });
    expect(fs.readdirSync(root)).toEqual(['a', 'c']);
    await checkpoints.redo();
    await checkpoints.rewind({ kind: 'call', toolUseId: 'c2' });
    expect(fs.readdirSync(root)).toEqual(['a']);
    expect(await checkpoints.rewind({ kind: 'call', toolUseId: 'none' })).toMatchObject({
      kind: 'refused',
    });
  });

  it('takes back the work of one agent and of those below it', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1', 'main/a'), () => write('a', 'a\n'));
    await call(checkpoints, by('c2', 'main/a/deep'), () => write('deep', 'd\n'));
    await call(checkpoints, by('c3', 'main/ab'), () => write('other', 'o\n'));
    await call(checkpoints, by('c4', 'main/ab'), () => write('a', 'changed\n'));
    const plan = isPlan(await checkpoints.preview({ kind: 'agent', agent: 'main/a' }));
    expect(paths(plan.restored)).toEqual(['deep']);
    expect(plan.conflicts).toMatchObject([{ path: 'a', why: 'Bash of main/ab changed it since' }]);
    await checkpoints.rewind({ kind: 'agent', agent: 'main/a' });
    expect(fs.readdirSync(root)).toEqual(['a', 'other']);
    expect(await checkpoints.preview({ kind: 'agent', agent: 'nobody' })).toHaveProperty('why');
  });

  it('does not count what an earlier rewind took back', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1', 'main/a'), () => write('f', '1\n'));
    await call(checkpoints, by('c2', 'main/a'), () => write('f', '2\n'));
    await checkpoints.rewind({ kind: 'call', toolUseId: 'c2' });
    expect(read('f')).toBe('1\n');
    const plan = isPlan(await checkpoints.preview({ kind: 'agent', agent: 'main/a' }));
    expect([paths(plan.restored), plan.conflicts]).toEqual([['f'], []]);
    const written = (await checkpoints.changes()).at(-1);
    expect(written?.authors).toMatchObject([{ kind: 'rewind' }]);
  });

  it('keeps a directory in which somebody else has put something', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => write('dir/agents', 'x\n'));
    write('dir/mine', 'm\n');
    const result = await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    expect(result).toMatchObject({
      plan: { impossible: [{ what: 'dir', why: 'the directory stays: it holds "mine"' }] },
      failed: [],
    });
    expect(fs.readdirSync(path.join(root, 'dir'))).toEqual(['mine']);
  });

  it('sees an edit that was made while nothing ran', async () => {
    const first = await open();
    first.mark('m1', 'x');
    await call(first, by('c1'), () => write('f', 'agent\n'));
    await first.close();
    write('f', 'agent and me\n');
    const again = await open();
    const plan = isPlan(await again.preview({ kind: 'message', messageId: 'm1' }));
    expect(plan.conflicts).toMatchObject([
      { path: 'f', why: expect.stringContaining('journal did not run') },
    ]);
  });

  it('never writes through a link that leads out of the workspace', async () => {
    const outside = path.join(home, 'bashrc');
    fs.writeFileSync(outside, 'mine\n');
    write('a', 'file\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => {
      fs.rmSync(path.join(root, 'a'));
      fs.symlinkSync('../bashrc', path.join(root, 'a'));
      fs.writeFileSync(path.join(root, 'a'), 'x\n');
    });
    await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    expect(fs.lstatSync(path.join(root, 'a')).isFile()).toBe(true);
    expect(read('a')).toBe('file\n');
    expect(fs.readFileSync(outside, 'utf8')).toBe('x\n');
    await checkpoints.redo();
    expect(fs.readlinkSync(path.join(root, 'a'))).toBe('../bashrc');
    expect(fs.readFileSync(outside, 'utf8')).toBe('x\n');
  });

  it('refuses to reach files below a directory that has become a link', async () => {
    fs.mkdirSync(path.join(home, 'elsewhere'));
    fs.writeFileSync(path.join(home, 'elsewhere/f'), 'agent\n');
    write('d/f', 'one\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => write('d/f', 'agent\n'));
    fs.rmSync(path.join(root, 'd'), { recursive: true });
    fs.symlinkSync('../elsewhere', path.join(root, 'd'));
    await checkpoints.rewind({ kind: 'message', messageId: 'm1' }, { overwriteConflicts: true });
    expect(fs.readFileSync(path.join(home, 'elsewhere/f'), 'utf8')).toBe('agent\n');
  });

  it('made in another terminal is known here, and can be taken back here', async () => {
    const here = await open();
    here.mark('m1', 'x');
    await call(here, by('c1'), () => write('f', '1\n'));
    const there = await open();
    await there.rewind({ kind: 'message', messageId: 'm1' });
    await there.close();
    await call(here, by('c2'), () => write('g', '2\n'));
    const changes = await here.changes();
    expect(changes.map(({ seq, path: name, authors }) => [seq, name, authors[0]?.kind])).toEqual([
      [1, 'f', 'call'],
      [2, 'f', 'rewind'],
      [3, 'g', 'call'],
    ]);
    expect(await here.redo()).toMatchObject({ kind: 'done', plan: { conflicts: [] } });
    expect(read('f')).toBe('1\n');
  });

  it('names background work that may write again', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    const job = await checkpoints.begin(by('job', 'main', true));
    write('log', '1\n');
    const plan = isPlan(await checkpoints.preview({ kind: 'message', messageId: 'm1' }));
    expect(paths(plan.restored)).toEqual(['log']);
    expect(plan.stillRunning).toEqual([by('job', 'main', true)]);
    job.end();
    expect(paths(await job.changes)).toEqual(['log']);
  });

  it('says what is too large to be kept, and leaves it alone', async () => {
    const directory = path.join(home, 'state');
    const store = openBlobStore({ directory });
    write('big', 'x'.repeat(200));
    const checkpoints = await open({
      store,
      openTracker: () => openTracker({ root, store, maxFileBytes: 100 }),
    });
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => write('big', 'small'));
    await call(checkpoints, by('c2'), () => write('new', 'y'.repeat(300)));
    const result = await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    expect(result).toMatchObject({ kind: 'done', plan: { restored: [] } });
    const why = result.kind === 'done' ? result.plan.impossible : [];
    expect(why).toEqual(
      expect.arrayContaining([
        { what: 'big', why: 'what stood there before was not kept: it is too large to be kept' },
        { what: 'new', why: 'its current content cannot be kept: it is too large to be kept' },
      ]),
    );
    expect(read('big')).toBe('small');
    expect(read('new')).toHaveLength(300);
  });

  it('leaves nothing of its own in the workspace, and its store to its owner', async () => {
    write('.env', 'SECRET=1\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, by('c1'), () => write('.env', 'SECRET=2\n'));
    await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    expect(fs.readdirSync(root)).toEqual(['.env']);
    for (const name of fs.readdirSync(path.join(home, 'state'), { recursive: true })) {
      expect(fs.statSync(path.join(home, 'state', String(name))).mode & 0o077).toBe(0);
    }
  });
});

describe('an interrupted rewind', () => {
  const plan = (steps: readonly object[]): string =>
    JSON.stringify({ version: 1, id: 'p', session: 'one', root, at: 1, steps });
  const planFile = (): string => path.join(home, 'state/plans/p.json');
  const leave = (text: string): void => {
    fs.mkdirSync(path.dirname(planFile()), { recursive: true, mode: 0o700 });
    fs.writeFileSync(planFile(), text);
  };

  it('is taken back when what was to be put is missing', async () => {
    const store = openBlobStore({ directory: path.join(home, 'state') });
    const blob = await store.put(Buffer.from('was\n'));
    write('done', 'x\n');
    leave(
      plan([
        { path: 'made', undoes: [], to: { kind: 'directory', mode: 0o755 } },
        { path: 'deleted', undoes: [], from: { kind: 'file', size: 4, mode: 0o644, blob } },
        { path: 'x', undoes: [], to: { kind: 'file', size: 1, mode: 0o644, blob: 'f'.repeat(64) } },
      ]),
    );
    fs.mkdirSync(path.join(root, 'made'));
    const notices: string[] = [];
    await open({ notice: (text) => notices.push(text) });
    expect(fs.readdirSync(root)).toEqual(['deleted', 'done']);
    expect(read('deleted')).toBe('was\n');
    expect(notices).toEqual(['An interrupted rewind was taken back.']);
    expect(fs.existsSync(planFile())).toBe(false);
  });

  it('is not carried out when it cannot be understood or leads elsewhere', async () => {
    fs.writeFileSync(path.join(home, 'victim'), 'v\n');
    leave(plan([{ path: '../victim', undoes: [], from: { kind: 'file', mode: 0o644, size: 2 } }]));
    const notices: string[] = [];
    await open({ notice: (text) => notices.push(text) });
    expect(fs.readFileSync(path.join(home, 'victim'), 'utf8')).toBe('v\n');
    expect(notices).toEqual(['An interrupted rewind cannot be read and was left as it is.']);
  });

  it('does not give a file the rights of its owner on the word of a plan', async () => {
    const store = openBlobStore({ directory: path.join(home, 'state') });
    const blob = await store.put(Buffer.from('x\n'));
    write('other', 'x\n');
    const to = { kind: 'file', size: 2, mode: 0o4755, blob };
    const from = { kind: 'file', size: 2, mode: 0o644, blob };
    leave(
      plan([
        { path: 'other', undoes: [], from },
        { path: 'run', undoes: [], to },
      ]),
    );
    const notices: string[] = [];
    await open({ notice: (text) => notices.push(text) });
    expect(fs.readdirSync(root)).toEqual(['other']);
    expect(notices[0]).toContain('it would let "run" run with the rights of its owner');
    expect(fs.readdirSync(path.dirname(planFile()))).toEqual(['p.json.stuck']);
  });

  it('leaves alone what somebody has changed since', async () => {
    const store = openBlobStore({ directory: path.join(home, 'state') });
    const from = await store.put(Buffer.from('from\n'));
    const to = await store.put(Buffer.from('to\n'));
    const step = (name: string): object => ({
      path: name,
      undoes: [],
      from: { kind: 'file', size: 5, mode: 0o644, blob: from },
      to: { kind: 'file', size: 3, mode: 0o644, blob: to },
    });
    leave(plan([step('a'), step('b')]));
    write('a', 'from\n');
    write('b', 'mine\n');
    const notices: string[] = [];
    await open({ notice: (text) => notices.push(text) });
    expect([read('a'), read('b')]).toEqual(['to\n', 'mine\n']);
    expect(notices[0]).toContain('b (another process changed it meanwhile)');
  });
});

describe('what is kept', () => {
  it('is what the newest points and sessions need', async () => {
    const keep = { retention: { days: 30, points: 1 } };
    write('f', 'zero\n');
    const first = await open(keep);
    first.mark('m1', 'x');
    await call(first, by('c1'), () => write('f', 'one\n'));
    first.mark('m2', 'x');
    await call(first, by('c2'), () => write('f', 'two\n'));
    expect(first.points().map(({ messageId }) => messageId)).toEqual(['m2']);
    const old = path.join(home, 'state/sessions/old.jsonl');
    fs.writeFileSync(old, '{"t":"start","at":1}\n', { mode: 0o600 });
    fs.utimesSync(old, 1, 1);
    await first.close();
    expect(fs.readdirSync(path.join(home, 'state/sessions'))).toEqual(['one.jsonl']);

    const again = await open(keep);
    await again.rewind({ kind: 'message', messageId: 'm2' });
    expect(read('f')).toBe('one\n');
  });
});
