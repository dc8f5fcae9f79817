import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHookVariables, readEnvFile } from '../../src/hooks/dispatch/env-file.js';
import type { Result } from '../../src/lib/result.js';
import type { Environment } from '../../src/platform/environment.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { temporaryDirectory, testSupervisor } from '../process/helpers.js';

const PATH = process.env.PATH ?? '/usr/bin:/bin';

function read(
  content: string,
  options: { readonly env?: Environment; readonly name?: string } = {},
): Promise<Result<Readonly<Record<string, string>>, string>> {
  const file = path.join(temporaryDirectory(), options.name ?? 'env');
  writeFileSync(file, content);
  return readFile(file, options.env);
}

function readFile(
  file: string,
  env: Environment = {},
): Promise<Result<Readonly<Record<string, string>>, string>> {
  return readEnvFile(file, {
    processes: testSupervisor(),
    fs: nodeFileSystem,
    env: { PATH, ...env },
  });
}

describe('the file of variables', () => {
  it('gives what it sets, exported or not, with any value', async () => {
    const content = `export A=1\nB='two words'\nexport C=$'line\\nbreak' D=\nE="ü=$A"\n`;
    expect(await read(content)).toEqual({
      ok: true,
      value: { A: '1', B: 'two words', C: 'line\nbreak', D: '', E: 'ü=1' },
    });
  });

  it('gives changes only, built on what commands have', async () => {
    const result = await read('export PATH="/opt/x:$PATH"; export SAME=s; export G="$GOPATH/bin"', {
      env: { SAME: 's', GOPATH: '/go', GITHUB_TOKEN: 'hidden' },
    });
    expect(result).toEqual({ ok: true, value: { PATH: `/opt/x:${PATH}`, G: '/go/bin' } });
  });

  it('lets secrets through that it sets itself', async () => {
    const result = await read('export GITHUB_TOKEN=abc ANTHROPIC_API_KEY=k');
    expect(result).toMatchObject({
      value: { GITHUB_TOKEN: 'abc', ANTHROPIC_API_KEY: 'k' },
    });
  });

  it('refuses names that would change what commands mean, and names them', async () => {
    const content =
      'export BASH_ENV=/x NODE_OPTIONS=--inspect GIT_DIR=/g PORTCULLIS_HOME=/p CLAUDE_CODE_X=1 CDPATH=/ OK=1';
    const found = await read(content);
    const variables = createHookVariables();
    expect(found.ok && variables.merge(found.value)).toEqual([
      'BASH_ENV',
      'CDPATH',
      'CLAUDE_CODE_X',
      'GIT_DIR',
      'NODE_OPTIONS',
      'PORTCULLIS_HOME',
    ]);
    expect(variables.current()).toEqual({ OK: '1' });
  });

  it('is not disturbed by what it prints, defines, or changes in the shell', async () => {
    const content = `echo noise; printf 'FAKE=1\\0\\0'; printf 'FAKE=1\\0' >&3 2>/dev/null
f() { :; }; export -f f; printf() { echo X; }; env() { echo X; }; unset -f printf
set -euf; IFS=,; cd /; PATH=/nowhere; false || true; X=1`;
    const result = await read(content);
    expect(result.ok && result.value).toEqual({ PATH: '/nowhere', X: '1' });
  });

  it('takes a last command that fails for nothing special', async () => {
    expect(await read('export A=1\n[ -f /no/such ] && export B=2\n')).toMatchObject({
      value: { A: '1' },
    });
  });

  it('is nothing when it is empty or not there', async () => {
    const nothing = { ok: true, value: {} };
    expect(await read('')).toEqual(nothing);
    expect(await read('# only a comment\n')).toEqual(nothing);
    expect(await readFile(path.join(temporaryDirectory(), 'none'))).toEqual(nothing);
  });

  it('may have a name that no shell likes', async () => {
    expect(await read('export A=1', { name: "-n $(touch x) ' env" })).toMatchObject({
      value: { A: '1' },
    });
  });
});

describe('a file of variables that cannot be read', () => {
  it('is refused whole when it is no shell code', async () => {
    const result = await read('export A=1\nif then (\n');
    expect(result).toMatchObject({ ok: false });
    expect(!result.ok && result.error).toContain('not valid shell code');
    expect(!result.ok && result.error).toContain('line 2');
  });

  it('is refused when it ends the shell', async () => {
    expect(await read('export A=1; exit 0')).toMatchObject({
      error: expect.stringContaining('ended the shell'),
    });
    expect(await read('set -e; export A=1; false')).toMatchObject({ ok: false });
    expect(await read('kill -KILL $$')).toMatchObject({ ok: false });
  });

  it('is refused when it is too long or no file', async () => {
    expect(await read(`A='${'x'.repeat(300_000)}'`)).toMatchObject({
      error: expect.stringContaining('at most 262144'),
    });
    const directory = path.join(temporaryDirectory(), 'dir');
    mkdirSync(directory);
    expect(await readFile(directory)).toMatchObject({
      error: expect.stringContaining('not a regular file'),
    });
  });

  it('is given up after its time', async () => {
    expect(await read('sleep 100')).toMatchObject({ error: expect.stringContaining('after 5 s') });
  });

  it('is said to need bash where there is none', async () => {
    expect(await read('A=1', { env: { PATH: temporaryDirectory() } })).toMatchObject({
      error: expect.stringContaining('Cannot start bash'),
    });
  });
});
