import { mkdirSync, mkdtempSync, rmSync, statfsSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FileMemory, openFileMemory } from '../env/file-memory.js';
import type { FileSystem } from '../env/fs.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { collectDeclarations } from './trust-collect.js';
import type { Declaration } from './trust-types.js';

let top: string;
let root: string;
let read: string[];

const SKILL = '---\nname: a\ndescription: Does nothing.\n---\nBody of one skill.\n';
const RUNS = SKILL.replace('Body of one skill', 'Body !`id` skill!');

const write = (name: string, text: string): string => {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'portcullis-trust-memory-'));
  root = path.join(top, 'project');
  read = [];
  write('.claude/skills/a/SKILL.md', SKILL);
  write('.claude/skills/b/SKILL.md', '---\nallowed-tools: Bash(git *)\n---\nText !`ls` and more\n');
  write('.claude/agents/c.md', '---\nname: c\ntools: Bash\n---\nText\n');
  write('.claude/commands/d.md', 'Only text\n');
  write(
    '.claude/settings.json',
    JSON.stringify({
      permissions: { allow: ['Read', 'Bash(npm test)'] },
      env: { TOKEN: 'SECRET_VALUE' },
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'echo done' }] }] },
    }),
  );
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + 10_000);
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(top, { recursive: true, force: true });
});

const watched: FileSystem = {
  ...nodeFileSystem,
  readText(file, options) {
    read.push(path.relative(root, file));
    return nodeFileSystem.readText(file, options);
  },
  readTextNow(file, options) {
    read.push(path.relative(root, file));
    return (nodeFileSystem.readTextNow as NonNullable<FileSystem['readTextNow']>)(file, options);
  },
};
const open = (): FileMemory => openFileMemory({ stateDirectory: path.join(top, 'state'), root });
const collect = async (memory?: FileMemory): Promise<readonly Declaration[]> => {
  read = [];
  const configDir = path.join(top, 'home');
  const sources = ['project', 'local'];
  const levels = [{ path: root, hasDirectory: true }];
  const places = { fs: watched, root, levels, configDir, sources, memory };
  return (await collectDeclarations(places)).all();
};
const collectAndKeep = async (): Promise<readonly Declaration[]> => {
  const memory = open();
  const found = await collect(memory);
  // As whoever compares them does.
  for (const { digest } of found) expect(digest).toHaveLength(64);
  memory.keep();
  return found;
};

const HONEST = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630];
const isHonest = process.platform === 'linux' && HONEST.includes(statfsSync(tmpdir()).type);

describe.runIf(isHonest)('declarations of files that were looked at before', () => {
  it('are the same, and only settings are read for them', async () => {
    const plain = await collect();
    expect(plain.length).toBeGreaterThan(5);
    expect(await collectAndKeep()).toEqual(plain);
    expect(read).toContain('.claude/skills/a/SKILL.md');
    expect(await collect(open())).toEqual(plain);
    expect(read).toEqual(['.claude/settings.json']);
  });

  it('are found in a file that was changed, whatever its size and time say', async () => {
    const file = path.join(root, '.claude/skills/a/SKILL.md');
    const before = await collectAndKeep();
    const { mtimeMs = 0, size } = (await nodeFileSystem.stat(file)) ?? { size: 0 };
    expect(RUNS.length).toBe(size);
    writeFileSync(file, RUNS);
    utimesSync(file, mtimeMs / 1000, mtimeMs / 1000);
    const after = await collect(open());
    expect(after).toEqual(await collect());
    expect(after.length).toBeGreaterThan(before.length);
  });

  it('are found in files that came, and gone with those that went', async () => {
    await collectAndKeep();
    write('.claude/skills/a/deeper/SKILL.md', RUNS);
    write('.claude/agents/e.md', '---\nname: e\ntools: Bash\n---\nText\n');
    rmSync(path.join(root, '.claude/skills/b'), { recursive: true });
    expect(await collect(open())).toEqual(await collect());
  });

  it('have another digest when settings are changed', async () => {
    const file = path.join(root, '.claude/settings.json');
    const before = await collectAndKeep();
    const { mtimeMs = 0 } = (await nodeFileSystem.stat(file)) ?? {};
    writeFileSync(
      file,
      JSON.stringify({ permissions: { allow: ['Read', 'Bash(rm -rf /)'] }, env: {} }),
    );
    utimesSync(file, mtimeMs / 1000, mtimeMs / 1000);
    const after = await collect(open());
    expect(after).toEqual(await collect());
    const known = new Set(before.map(({ digest }) => digest));
    expect(
      after.filter(({ text }) => text.startsWith('Bash(rm')).map((one) => known.has(one.digest)),
    ).toEqual([false]);
  });

  it('of settings are those of the text, whatever the times of the file say', async () => {
    const file = path.join(root, '.claude/settings.json');
    const notes = new Map<string, unknown>();
    const blind: FileMemory = {
      ...open(),
      // As where somebody writes through a mapping: every version looks like the first.
      recall: (what, name) => (name === file ? notes.get(what) : undefined),
      note: (what, name, _stat, said) => void (name === file && notes.set(what, said)),
    };
    for (const { digest } of await collect(blind)) expect(digest).toHaveLength(64);
    expect(notes.size).toBe(1);
    writeFileSync(file, JSON.stringify({ permissions: { allow: ['Read', 'Bash'] }, env: {} }));
    expect(await collect(blind)).toEqual(await collect());
  });

  it('are read from the file when what is remembered is not whole', async () => {
    const plain = await collect();
    const odd = [[{ kind: 'hook' }], ['x'], {}, 'none', null, [1, 2, 3]];
    for (const said of odd) {
      const memory: FileMemory = Object.assign(open(), { recall: () => said });
      expect(await collect(memory)).toEqual(plain);
    }
  });

  it('leave no value of the settings behind', async () => {
    const { readdirSync, readFileSync } = await import('node:fs');
    await collectAndKeep();
    const directory = path.join(top, 'state/files');
    const text = readdirSync(directory).map((name) =>
      readFileSync(path.join(directory, name), 'utf8'),
    );
    expect(text.join('')).toContain('SKILL.md');
    expect(text.join('')).not.toContain('SECRET_VALUE');
    expect(text.join('')).not.toContain('npm test');
  });
});
