import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PARTS = ['src', 'scripts', 'bin', 'package.json', 'package-lock.json', 'tsconfig.json'];

let clone: string;

/** A clone whose dependencies are installed. */
beforeEach(() => {
  clone = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'build-')));
  for (const name of [...PARTS, 'tsconfig.build.json'])
    fs.cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true });
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
});
afterEach(() => fs.rmSync(clone, { recursive: true, force: true }));

/** What every command does before it uses dist/; gives the exit code and what was said. */
async function ensureBuilt(): Promise<string> {
  const program = "import('./scripts/setup.mjs').then((it) => it.ensureBuilt())";
  const child = spawn(process.execPath, ['-e', program], { cwd: clone });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  await once(child, 'close');
  return `${child.exitCode} ${said}`;
}

const works = (): string =>
  execFileSync(process.execPath, [path.join(clone, 'bin/portcullis'), '--version'], {
    encoding: 'utf8',
  });

describe('a command that needs the program', { timeout: 300_000 }, () => {
  it('generates code and builds where that was not done, beside another, and when a source has changed', async () => {
    expect(await Promise.all([ensureBuilt(), ensureBuilt()])).toEqual([
      '0 building …\n',
      '0 building …\n',
    ]);
    expect(fs.readdirSync(path.join(clone, 'dist')).sort()).toEqual(['cli', 'console', 'lib']);
    expect(works()).toContain('Portcullis');
    expect(await ensureBuilt()).toBe('0 ');
    fs.writeFileSync(path.join(clone, 'src/broken.ts'), 'export const broken = ;\n');
    fs.appendFileSync(path.join(clone, 'src/index.ts'), "export * from './broken.js';\n");
    expect(await ensureBuilt()).toMatch(/^1 building …\n[\s\S]*broken\.ts/);
    // What was built before is left alone.
    expect(works()).toContain('Portcullis');
    expect(fs.readdirSync(path.join(clone, 'dist')).sort()).toEqual(['cli', 'console', 'lib']);
  });
});
