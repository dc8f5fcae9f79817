import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import type { FileVersion } from '../env/file-version.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { SeenText } from '../env/seen-text.js';
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
): FileMemory & { readonly looks: Map<string, FileVersion> } {
  const looks = new Map<string, FileVersion>();
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
    const seen = openLooks(nodeFileSystem, memory).at(file);
    expect(seen).toBeInstanceOf(SeenText);
    expect(seen).toMatchObject({ text: 'text', path: file, given: undefined });
    expect(seen instanceof SeenText && seen.facts()).toEqual(stat);
    expect(memory.looks.get(file)).toBe(seen);
  });

  it('takes over what somebody has seen, and reads nothing that is noted', () => {
    const stat = nodeFileSystem.lstatNow?.(file);
    expect(openLooks(nodeFileSystem, memoryWith(file)).at(file)).toEqual(stat);
    const memory = memoryWith();
    const seen = new SeenText(nodeFileSystem, file, { text: 'seen' });
    memory.look(file, seen);
    expect(openLooks(nodeFileSystem, memory).at(file)).toBe(seen);
  });

  it('asks no more for facts where one after the other has changed, and goes on where not', () => {
    const names = Array.from({ length: 10 }, (_, index) => path.join(top, `${index}.md`));
    for (const name of names) writeFileSync(name, name);
    const asked: string[] = [];
    const fs = {
      ...nodeFileSystem,
      lstatNow(name: string) {
        asked.push(name);
        return nodeFileSystem.lstatNow?.(name);
      },
    };
    const lookWith = (isOld: (name: string) => boolean) => {
      asked.length = 0;
      const knows: FileMemory['knows'] = (name, stat) => stat === undefined || !isOld(name);
      const looks = openLooks(fs, { ...NO_MEMORY, knows });
      return names.map((name) => looks.at(name) instanceof SeenText);
    };
    expect(lookWith(() => true)).toEqual(names.map(() => true));
    expect(asked).toHaveLength(4);
    const odd = (name: string): boolean => Number.parseInt(path.basename(name), 10) % 2 === 1;
    expect(lookWith(odd)).toEqual(names.map(odd));
    expect(asked).toHaveLength(10);
  });

  it('reads what has changed since it was noted, and no link in its place', () => {
    const changed = openLooks(nodeFileSystem, memoryWith(file, true));
    expect(changed.at(file)).toMatchObject({ text: 'text' });
    const link = path.join(top, 'link.md');
    symlinkSync(file, link);
    const linked = openLooks(nodeFileSystem, memoryWith(link, true)).at(link);
    expect(linked).toEqual(nodeFileSystem.lstatNow?.(link));
  });

  it('has the facts of a file that says nothing, and of one behind slower files', () => {
    writeFileSync(file, '');
    const stat = nodeFileSystem.lstatNow?.(file);
    expect(openLooks(nodeFileSystem, memoryWith()).at(file)).toMatchObject({
      text: '',
      given: stat,
    });
    writeFileSync(file, 'text');
    const { lstatNow, readTextNow } = nodeFileSystem;
    const plain = { lstatNow, readTextNow } as Parameters<typeof openLooks>[0];
    const given = nodeFileSystem.lstatNow?.(file);
    expect(openLooks(plain, memoryWith()).at(file)).toMatchObject({ text: 'text', given });
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
