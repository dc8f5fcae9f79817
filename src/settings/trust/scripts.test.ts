import { mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { changedScript, ScriptReader, type SeenScripts } from './scripts.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'pins-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (file: string): string => path.join(root, file);
const write = async (file: string, text: string): Promise<void> => {
  await mkdir(path.dirname(at(file)), { recursive: true });
  await writeFile(at(file), text);
};
const commands = ['sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/g.sh', '.claude/tool.sh'];
const place = () => ({ root, level: root, directory: at('.claude') });
const accept = async (): Promise<SeenScripts> => {
  const reader = new ScriptReader(nodeFileSystem);
  await reader.named(commands, place());
  await reader.hooks(place());
  return reader.seen;
};
const changed = async (accepted: SeenScripts): Promise<string | undefined> => {
  const file = await changedScript(commands, place(), { fs: nodeFileSystem, accepted });
  return file === undefined ? undefined : path.relative(root, file);
};

describe('the scripts that a hook stands for', () => {
  beforeEach(async () => {
    await write('.claude/hooks/g.sh', '. ./lib.sh');
    await write('.claude/hooks/lib.sh', 'exit 0');
  });

  it('are the same while nothing but logs is written', async () => {
    const accepted = await accept();
    expect(await changed(accepted)).toBeUndefined();
    await write('.claude/hooks/run.log', 'x');
    await write('.claude/settings.json', '{}');
    expect(await changed(accepted)).toBeUndefined();
  });

  it.each([
    ['another text', '.claude/hooks/g.sh', 'touch X'],
    ['one that is read by it', '.claude/hooks/lib.sh', 'exit 1'],
    ['a new file beside it', '.claude/hooks/new.sh', 'x'],
    ['one that it names and that was not there', '.claude/tool.sh', 'x'],
  ])('have changed with %s', async (_what, file, text) => {
    const accepted = await accept();
    await write(file, text);
    expect(await changed(accepted)).toBe(file);
  });

  it('have changed when one is gone, or leads nowhere', async () => {
    const accepted = await accept();
    rmSync(at('.claude/hooks/lib.sh'));
    expect(await changed(accepted)).toBe('.claude/hooks/lib.sh');
    await write('.claude/hooks/lib.sh', 'exit 0');
    expect(await changed(accepted)).toBeUndefined();
    symlinkSync('loop', at('.claude/hooks/loop'));
    expect(await changed(accepted)).toBe('.claude/hooks');
  });

  it('have changed for one that nobody ever looked at', async () => {
    expect(await changed(new Map())).toBe('.claude/hooks/g.sh');
  });

  it('are looked at as far as it goes where there are too many', async () => {
    for (let index = 0; index < 9; index++) {
      await write(`.claude/hooks/big${index}`, '');
      truncateSync(at(`.claude/hooks/big${index}`), 8 * 1024 * 1024 - 1);
    }
    const accepted = await accept();
    expect(await changed(accepted)).toBeUndefined();
    await write('.claude/hooks/more', 'x');
    expect(await changed(accepted)).toBe('.claude/hooks');
  });

  it('are not known of a command that may name any number of them', async () => {
    const many = [Array.from({ length: 20_000 }, (_, index) => `.claude/${index}`).join(' ')];
    const reader = new ScriptReader(nodeFileSystem);
    expect((await reader.named(many, place())).complete).toBe(false);
    const accepted = reader.seen;
    expect(await changedScript(many, place(), { fs: nodeFileSystem, accepted })).toBeDefined();
  });
});
