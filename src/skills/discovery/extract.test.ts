import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { privateDirectory } from '../../platform/fs/private-files.js';
import { openExtraction } from './bundled-skills.js';

const top = mkdtempSync(path.join(tmpdir(), 'portcullis-extract-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

describe('extraction of bundled files', () => {
  it.each(['../other/x', '/etc/x', 'a/../../b', '..'])('refuses the member %j', (name) => {
    const place = privateDirectory(top, 'p-');
    const extraction = openExtraction(place);
    expect(() => extraction.extract('skill', { [name]: 'x' })).toThrow('no name for a file');
    place.remove();
  });

  it('writes each file once', () => {
    const place = privateDirectory(top, 'p-');
    const extraction = openExtraction(place);
    expect(extraction.extract('s', { 'a.md': 'A' })).toBe(path.join(place.path, 's'));
    expect(extraction.extract('s', { 'a.md': 'other' })).toBe(extraction.directoryOf('s'));
    expect(readFileSync(path.join(place.path, 's/a.md'), 'utf8')).toBe('A');
    place.remove();
  });
});
