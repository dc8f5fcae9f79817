import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileLook, type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { openLooks } from './looks.js';

let top: string;
let file: string;

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'portcullis-looks-'));
  file = path.join(top, 'a.md');
  writeFileSync(file, 'text');
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

/** Remembers looks, and knows of one file or none, as it is or as it was. */
function memoryWith(
  known?: string,
  isOld?: boolean,
): FileMemory & { readonly looks: Map<string, FileLook> } {
  const looks = new Map<string, FileLook>();
  return {
    ...NO_MEMORY,
    looks,
    knows: (name, stat) => name === known && (stat === undefined || isOld !== true),
    look: (name, look) => void looks.set(name, look),
    lookedAt: (name) => looks.get(name),
  };
}

describe('a look at the start', () => {
  it('reads a file once, and hands it on with the version that was read', () => {
    const memory = memoryWith();
    const stat = nodeFileSystem.lstatNow?.(file);
    expect(openLooks(nodeFileSystem, memory).at(file)).toEqual({ stat, text: 'text' });
    expect(memory.looks.get(file)).toEqual({ stat, text: 'text' });
  });

  it('takes over what somebody has seen, and reads nothing that is noted', () => {
    const stat = nodeFileSystem.lstatNow?.(file);
    expect(openLooks(nodeFileSystem, memoryWith(file)).at(file)).toEqual({ stat });
    const memory = memoryWith();
    if (stat !== undefined) memory.look(file, { stat, text: 'seen' });
    expect(openLooks(nodeFileSystem, memory).at(file)).toEqual({ stat, text: 'seen' });
  });

  it('reads what has changed since it was noted, and no link in its place', () => {
    const stat = nodeFileSystem.lstatNow?.(file);
    const changed = openLooks(nodeFileSystem, memoryWith(file, true));
    expect(changed.at(file)).toEqual({ stat, text: 'text' });
    const link = path.join(top, 'link.md');
    symlinkSync(file, link);
    const linked = openLooks(nodeFileSystem, memoryWith(link, true)).at(link);
    expect(linked).toEqual({ stat: nodeFileSystem.lstatNow?.(link) });
  });

  it('leaves links, directories, what is missing and what is large to others', () => {
    const link = path.join(top, 'link.md');
    symlinkSync(file, link);
    const directory = path.join(top, 'd.md');
    mkdirSync(directory);
    const large = path.join(top, 'large.md');
    writeFileSync(large, 'x'.repeat(65 * 1024));
    const looks = openLooks(nodeFileSystem, memoryWith());
    for (const odd of [link, directory, large, path.join(top, 'none.md')]) {
      expect(looks.at(odd), odd).toBeUndefined();
    }
  });
});
