import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { hasTmux } from '../e2e/terminal.js';

const SCRIPT = path.resolve(import.meta.dirname, '../../scripts/pictures.mjs');

it.skipIf(!hasTmux)('draws the pictures of the documentation with the real program', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'portcullis-pictures-test-'));
  try {
    execFileSync(process.execPath, [SCRIPT, folder]);
    const names = readdirSync(folder).sort();
    expect(names).toEqual(['answer.svg', 'permission.svg', 'picker.svg', 'prompt.svg']);
    const picture = readFileSync(path.join(folder, 'permission.svg'), 'utf8');
    expect(picture).toMatch(/^<svg [\s\S]*Allow Edit\?[\s\S]*<\/svg>\s*$/);
    expect(picture).not.toContain(tmpdir());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
