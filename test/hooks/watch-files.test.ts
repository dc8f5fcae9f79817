import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type FileEvent,
  type FileWatcherDeps,
  openFileWatcher,
} from '../../src/platform/fs/watch-files.js';
import { temporaryDirectory } from '../support/tool-call.js';

let root: string;
beforeEach(() => {
  root = temporaryDirectory();
});

const at = (...names: readonly string[]): string => path.join(root, ...names);

type Seen = readonly [path: string, event: FileEvent];

function open(options: Partial<FileWatcherDeps> = {}) {
  const seen: Seen[] = [];
  const errors: string[] = [];
  let wake = (): void => {};
  const watcher = openFileWatcher({
    quietMs: 20,
    onChange(file, event) {
      seen.push([path.relative(root, file), event]);
      wake();
    },
    onError: (message) => void errors.push(message),
    ...options,
  });
  onTestFinished(() => watcher.close());
  /** The next event; the test's own limit ends a wait for one that never comes. */
  const next = async (): Promise<Seen> => {
    for (;;) {
      const one = seen.shift();
      if (one !== undefined) return one;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  /** Nothing else came before this change of another file did. */
  const nothingBefore = async (file: string): Promise<void> => {
    writeFileSync(at(file), `${Math.random()}`);
    expect((await next())[0]).toBe(file);
    expect(seen).toEqual([]);
  };
  return { watcher, seen, errors, next, nothingBefore };
}

describe('a watch on files', () => {
  it('tells that a file comes, changes and goes', async () => {
    const { watcher, next, errors } = open();
    watcher.set([at('a')]);
    writeFileSync(at('a'), '1');
    expect(await next()).toEqual(['a', 'add']);
    appendFileSync(at('a'), '2');
    expect(await next()).toEqual(['a', 'change']);
    unlinkSync(at('a'));
    expect(await next()).toEqual(['a', 'unlink']);
    expect(errors).toEqual([]);
  });

  it('sees a new file in the place of the old one as a change', async () => {
    writeFileSync(at('a'), 'old');
    const { watcher, next } = open();
    watcher.set([at('a')]);
    for (const text of ['new', 'newer']) {
      writeFileSync(at('a.tmp'), text);
      renameSync(at('a.tmp'), at('a'));
      expect(await next()).toEqual(['a', 'change']);
    }
  });

  it('tells nothing about other files, rights, and what came to nothing', async () => {
    writeFileSync(at('a'), '1');
    const { watcher, nothingBefore } = open({ quietMs: 100 });
    watcher.set([at('a'), at('ghost'), at('end')]);
    writeFileSync(at('other'), '1');
    chmodSync(at('a'), 0o600);
    writeFileSync(at('ghost'), '1');
    unlinkSync(at('ghost'));
    await nothingBefore('end');
  });

  it('makes one event of many changes', async () => {
    const { watcher, next, nothingBefore } = open({ quietMs: 200, longestMs: 30_000 });
    watcher.set([at('a'), at('end')]);
    for (let n = 0; n < 50; n++) appendFileSync(at('a'), `${n}`);
    expect(await next()).toEqual(['a', 'add']);
    await nothingBefore('end');
  });

  it('does not wait for ever for quiet', async () => {
    const { watcher, next } = open({ quietMs: 20_000, longestMs: 50 });
    watcher.set([at('a')]);
    const writer = setInterval(() => appendFileSync(at('a'), 'x'), 5);
    onTestFinished(() => clearInterval(writer));
    expect(await next()).toEqual(['a', 'add']);
    expect(await next()).toEqual(['a', 'change']);
  });

  it('waits for directories that do not exist yet, and for those that come back', async () => {
    const { watcher, next, errors } = open();
    const deep = ['x', 'y', 'z'] as const;
    watcher.set([at(...deep, 'a')]);
    for (let round = 0; round < 2; round++) {
      mkdirSync(at(...deep), { recursive: true });
      writeFileSync(at(...deep, 'a'), '1');
      expect(await next()).toEqual(['x/y/z/a', 'add']);
      rmSync(at('x'), { recursive: true });
      expect(await next()).toEqual(['x/y/z/a', 'unlink']);
    }
    expect(errors).toEqual([]);
  });

  it('finds its way when directories come one by one', async () => {
    const { watcher, next, nothingBefore } = open();
    watcher.set([at('x', 'y', 'a'), at('end')]);
    mkdirSync(at('x'));
    await nothingBefore('end');
    mkdirSync(at('x', 'y'));
    await nothingBefore('end');
    writeFileSync(at('x', 'y', 'a'), '1');
    expect(await next()).toEqual(['x/y/a', 'add']);
  });

  it('sees another directory in the place of the old one', async () => {
    mkdirSync(at('d'));
    writeFileSync(at('d', 'a'), '1');
    const { watcher, next } = open();
    watcher.set([at('d', 'a')]);
    renameSync(at('d'), at('gone'));
    mkdirSync(at('d'));
    expect(await next()).toEqual(['d/a', 'unlink']);
    writeFileSync(at('d', 'a'), '2');
    expect(await next()).toEqual(['d/a', 'add']);
  });

  it('follows a link to the file that it stands for', async () => {
    mkdirSync(at('far'));
    writeFileSync(at('far', 'real'), '1');
    mkdirSync(at('near'));
    symlinkSync(at('far', 'real'), at('near', 'a'));
    const { watcher, next } = open();
    watcher.set([at('near', 'a')]);
    appendFileSync(at('far', 'real'), '2');
    expect(await next()).toEqual(['near/a', 'change']);
    unlinkSync(at('near', 'a'));
    expect(await next()).toEqual(['near/a', 'unlink']);
  });

  it('watches what was set last', async () => {
    const { watcher, next, nothingBefore } = open();
    watcher.set([at('a'), at('b')]);
    watcher.set([at('b'), at('b'), at('c'), at('x', '..', 'end')]);
    writeFileSync(at('a'), '1');
    await nothingBefore('end');
    writeFileSync(at('b'), '1');
    expect(await next()).toEqual(['b', 'add']);
  });

  it('takes a bounded number of files, and says so', async () => {
    const { watcher, errors, next } = open({ most: 2 });
    const many = ['a', 'b', 'c', 'd'].map((name) => at(name));
    watcher.set(many);
    watcher.set(many);
    expect(errors).toEqual(['2 files are not watched: 2 are the limit']);
    writeFileSync(at('d'), '1');
    writeFileSync(at('b'), '1');
    expect(await next()).toEqual(['b', 'add']);
  });

  it('does not throw for paths that cannot be', () => {
    writeFileSync(at('file'), '1');
    const { watcher } = open();
    watcher.set([at('a\0b'), at('file', 'below'), at('x'.repeat(5_000)), '/', '']);
    watcher.set([]);
  });

  it('is silent after the close', async () => {
    const first = open();
    const second = open();
    first.watcher.set([at('a')]);
    second.watcher.set([at('a')]);
    writeFileSync(at('a'), '1');
    first.watcher.close();
    first.watcher.close();
    first.watcher.set([at('a')]);
    expect(await second.next()).toEqual(['a', 'add']);
    expect(first.seen).toEqual([]);
    expect(first.errors).toEqual([]);
  });

  it('does not keep the process alive', async () => {
    const program = at('program.mjs');
    await build({
      stdin: {
        contents: `
          import { writeFileSync } from 'node:fs';
          import { openFileWatcher } from './src/platform/fs/watch-files.js';
          const [file] = process.argv.slice(2);
          openFileWatcher({ onChange() {}, onError() {} }).set([file]);
          writeFileSync(file, '1');
          process.stdout.write('watching');
        `,
        resolveDir: path.resolve(import.meta.dirname, '../..'),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
    });
    const child = spawn(process.execPath, [program, at('a')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, output]).toEqual([0, 'watching']);
  });
});
