import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { stateFiles } from './state-files.js';

it('puts a file out of the way, whatever was put there before', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'portcullis-aside-'));
  try {
    const file = path.join(directory, 'ledger');
    writeFileSync(file, 'one');
    expect(readFileSync(stateFiles.setAside(file), 'utf8')).toBe('one');
    mkdirSync(path.join(file, 'deep'), { recursive: true });
    const aside = stateFiles.setAside(file);
    expect(existsSync(path.join(aside, 'deep'))).toBe(true);
    writeFileSync(file, 'two');
    expect(readFileSync(stateFiles.setAside(file), 'utf8')).toBe('two');
    expect(existsSync(file)).toBe(false);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
