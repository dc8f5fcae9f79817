import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/tool-call.js';
import { PortcullisError } from '../errors.js';
import { nodeFileSystem } from '../platform/fs/node-fs.js';
import { boundText, failureFrom, RESULT_CAP, spillInto } from './output.js';

describe('boundText', () => {
  const never = async (): Promise<string> => {
    throw new Error('the disk is full');
  };

  it('leaves a text alone up to the cap', async () => {
    const text = 'x'.repeat(RESULT_CAP);
    expect(await boundText(text, { spill: never })).toBe(text);
  });

  it('saves a longer one for its owner alone and shows where, and how it begins', async () => {
    const root = temporaryDirectory();
    const directory = () => path.join(root, 'spill');
    const spill = spillInto(nodeFileSystem, { directory, name: 'grep-../x' });
    const text = `start${'x'.repeat(RESULT_CAP)}`;
    const shown = await boundText(text, { spill });
    const file = path.join(root, 'spill', 'grep-.._x.txt');
    expect(shown).toContain(file);
    expect(shown).toContain('start');
    expect(shown.length).toBeLessThan(3000);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('shows both ends and the reason when it cannot be saved', async () => {
    const text = `start${'x'.repeat(200)}end`;
    const shown = await boundText(text, { cap: 100, spill: never });
    expect(shown).toMatch(/^start/);
    expect(shown).toContain('end\n');
    expect(shown).toContain('the disk is full');
  });
});

describe('failureFrom', () => {
  it('adds the remedy', () => {
    const thrown = new PortcullisError('io', 'cannot write /a', { remedy: 'Choose /b.' });
    expect(failureFrom(thrown)).toEqual({ content: 'cannot write /a. Choose /b.', isError: true });
    expect(failureFrom('odd')).toEqual({ content: 'odd', isError: true });
  });
});
