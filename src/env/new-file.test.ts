import {
  closeSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let root: string;
let withNewFile: typeof import('./new-file.js').withNewFile;
beforeEach(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'new-file-'));
  // It remembers how long others took.
  vi.resetModules();
  ({ withNewFile } = await import('./new-file.js'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

const at = (name: string): string => path.join(root, name);
const use = (fd: number): number => {
  writeSync(fd, 'x');
  closeSync(fd);
  return fd;
};

/** As on a disk that takes this long for each. */
function paced(ms: number): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += ms;
    return now;
  });
}

describe('new files', () => {
  it('are made at once where that is quick, for the owner alone', () => {
    paced(0.02);
    for (let index = 0; index < 50; index++) {
      expect(withNewFile(at(`${index}`), 'w', use)).toBeTypeOf('number');
    }
    expect(readdirSync(root)).toHaveLength(50);
    expect(statSync(at('0')).mode & 0o777).toBe(0o600);
  });

  it('are made on another thread, in order, where it is slow', async () => {
    paced(0.5);
    const order: number[] = [];
    const made = Array.from({ length: 12 }, (_, index) =>
      withNewFile(at(`${index}`), 'w', (fd) => {
        order.push(index);
        return use(fd);
      }),
    );
    expect(made.slice(0, 4).every((one) => typeof one === 'number')).toBe(true);
    expect(made.slice(4).every((one) => one instanceof Promise)).toBe(true);
    expect(existsSync(at('11'))).toBe(false);
    await Promise.all(made);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(readFileSync(at('11'), 'utf8')).toBe('x');
  });

  it('are made at once again when the disk is quick again, and a single slow one changes nothing', async () => {
    paced(0.5);
    for (let index = 0; index < 4; index++) withNewFile(at(`a${index}`), 'w', use);
    await withNewFile(at('b'), 'w', use);
    paced(0.02);
    const made: unknown[] = [];
    for (let index = 0; index < 40; index++) {
      const one = withNewFile(at(`c${index}`), 'w', use);
      made.push(one);
      await one;
    }
    expect(made.at(-1)).toBeTypeOf('number');
    paced(0.5);
    expect(withNewFile(at('d'), 'w', use)).toBeTypeOf('number');
    expect(withNewFile(at('e'), 'w', use)).toBeTypeOf('number');
  });

  it('that cannot be made are told to whoever wanted them, and to nobody else', async () => {
    paced(0.02);
    expect(() => withNewFile(at('none/x'), 'w', use)).toThrow(/ENOENT/);
    paced(0.5);
    for (let index = 0; index < 4; index++) withNewFile(at(`a${index}`), 'w', use);
    const bad = withNewFile(at('none/y'), 'w', use);
    const failing = withNewFile(at('f'), 'w', (fd) => {
      closeSync(fd);
      throw new Error('of the user');
    });
    const good = withNewFile(at('g'), 'w', use);
    await expect(bad).rejects.toThrow(/ENOENT/);
    await expect(failing).rejects.toThrow('of the user');
    await expect(good).resolves.toBeTypeOf('number');
  });
});
