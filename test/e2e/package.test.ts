import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const place = mkdtempSync(path.join(tmpdir(), 'portcullis-package-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the package', () => {
  it('holds all that the program needs, and none of the sources', () => {
    // It is built already; what is tested is the list of files.
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', place];
    const [made] = JSON.parse(
      execFileSync('npm', pack, {
        cwd: ROOT,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
    const names: string[] = made.files.map((file: { path: string }) => file.path);
    expect(names).toEqual(
      expect.arrayContaining(['bin/portcullis', 'dist/cli/main.js', 'README.md']),
    );
    expect(names.filter((name) => /^(?:src|test|scripts)\//.test(name))).toEqual([]);
    execFileSync('tar', ['xzf', path.join(place, made.filename), '-C', place]);
    const program = path.join(place, 'package/bin/portcullis');
    const said = (...args: string[]): string =>
      execFileSync(process.execPath, [program, ...args], {
        cwd: place,
        encoding: 'utf8',
        env: { HOME: place },
      });
    expect(said('--version')).toMatch(/^\d+\.\d+\.\d+ \(Portcullis\)\n$/);
    expect(said('sessions', '--help')).toContain('Usage: portcullis sessions');
  });
});
