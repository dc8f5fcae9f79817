import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { describeWith } from '../support/programs.js';
import { PROGRAM } from './program.js';
import { openTerminal, type Terminal } from './terminal.js';

const KEY = 'sk-secret-of-the-test';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function makeProject(): TempProject {
  const project = makeTempProject();
  open.push({ close: () => project.remove() });
  return project;
}

async function startModel(models?: readonly string[]): Promise<FakeModelServer> {
  const script = ['ok', 'first', 'second'];
  const server = await startFakeModelServer(models === undefined ? { script } : { script, models });
  open.push(server);
  return server;
}

async function portcullis(
  project: TempProject,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
) {
  const [node = '', program = ''] = PROGRAM;
  const child = spawn(node, [program, ...args], {
    cwd: project.directory,
    env: { PATH: process.env.PATH ?? '', HOME: project.home, ...options.env },
  });
  let out = '';
  let said = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  child.stdin.end(options.input ?? '');
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(out + said).not.toContain(KEY);
  return { code, out, said };
}

const stored = (project: TempProject): string => path.join(project.home, '.portcullis/model.json');

describe('portcullis setup', () => {
  it('takes the key of the environment, tries it, and stores it for its owner alone', async () => {
    const [project, server] = [makeProject(), await startModel()];
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
    const done = await portcullis(project, ['setup', '--yes'], { env });
    expect(done).toMatchObject({ code: 0, said: '' });
    expect(done.out).toMatch(/answered\.\nStored in .*model\.json, which only you can read/);
    expect(server.requests).toHaveLength(1);
    expect(statSync(stored(project)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(stored(project), 'utf8'))).toMatchObject({
      provider: 'anthropic',
      apiKey: KEY,
    });
    const later = await portcullis(project, ['-p', 'hello']);
    expect(later).toMatchObject({ code: 0, out: 'first\n' });
    expect(server.requests[1]?.headers['x-api-key']).toBe(KEY);
  });

  it('takes a server by its address with a model, and the key from standard input', async () => {
    const [project, server] = [makeProject(), await startModel(['small', 'large'])];
    const args = ['setup', '--base-url', `${server.url}/v1`, '--model', 'large', '--key-stdin'];
    expect(await portcullis(project, args, { input: `${KEY}\n` })).toMatchObject({ code: 0 });
    expect(await portcullis(project, ['-p', 'hello'])).toMatchObject({ code: 0, out: 'first\n' });
    const [, request] = server.requests.filter(({ path: at }) => at.includes('completions'));
    expect(request).toMatchObject({
      body: { model: 'large' },
      headers: { authorization: `Bearer ${KEY}` },
    });
  });

  it('stores nothing that does not answer', async () => {
    const project = makeProject();
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const done = await portcullis(project, ['setup', '--yes'], { env });
    expect(done.code).toBe(3);
    expect(done.said).toContain('the model does not answer');
    expect(project.exists('../home/.portcullis/model.json')).toBe(false);
  });

  it('is a choice that the environment and flags go before, and --forget removes', async () => {
    const [project, first, second] = [makeProject(), await startModel(), await startModel()];
    const to = (server: FakeModelServer, key: string) => ({
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_BASE_URL: server.url,
    });
    await portcullis(project, ['setup', '--yes', '--no-try'], { env: to(first, KEY) });
    await portcullis(project, ['-p', 'hello'], { env: to(second, 'other') });
    expect([first.requests.length, second.requests.length]).toEqual([0, 1]);
    // A stored key does not go to an address of the environment.
    await portcullis(project, ['-p', 'x'], { env: { ANTHROPIC_BASE_URL: second.url } });
    expect(second.requests.at(-1)?.headers['x-api-key']).toBeUndefined();
    expect(await portcullis(project, ['setup', '--forget'])).toMatchObject({ code: 0 });
    expect(await portcullis(project, ['-p', 'hello'])).toMatchObject({ code: 3 });
  });

  it.each([
    [
      'is open to others',
      (file: string) => chmodSync(file, 0o644),
      /open to other users.*chmod 600/s,
    ],
    ['cannot be read', (file: string) => writeFileSync(file, '{'), /run portcullis setup again/],
  ])('stops a start when its file %s', async (_how, spoil, words) => {
    const project = makeProject();
    const env = { ANTHROPIC_API_KEY: KEY };
    await portcullis(project, ['setup', '--yes', '--no-try'], { env });
    spoil(stored(project));
    const done = await portcullis(project, ['-p', 'hello']);
    expect(done.code).toBe(3);
    expect(done.said).toMatch(words);
  });

  it('is not for agents', async () => {
    const project = makeProject();
    const env = { ANTHROPIC_API_KEY: KEY, PORTCULLIS: '1' };
    const done = await portcullis(project, ['setup', '--yes'], { env });
    expect(done.code).toBe(1);
    expect(done.said).toContain('only a person may run portcullis setup');
  });
});

describe('portcullis auth status', () => {
  it('tells clients whether a model is configured, and how, and never a secret', async () => {
    const project = makeProject();
    const none = await portcullis(project, ['auth', 'status', '--json']);
    expect(none.code).toBe(1);
    expect(JSON.parse(none.out)).toMatchObject({ loggedIn: false, authMethod: 'none' });
    const env = { ANTHROPIC_API_KEY: KEY };
    const given = await portcullis(project, ['auth', 'status'], { env });
    expect(given.code).toBe(0);
    expect(JSON.parse(given.out)).toMatchObject({
      loggedIn: true,
      authMethod: 'api_key',
      apiProvider: 'firstParty',
      source: 'environment',
    });
    await portcullis(project, ['setup', '--yes', '--no-try', '--model', 'opus'], { env });
    const kept = await portcullis(project, ['auth', 'status', '--text']);
    expect(kept.out).toBe('Sessions use anthropic, opus (stored, api_key).\n');
  });
});

describe('portcullis sessions', () => {
  it('lists the sessions of this project, newest first', async () => {
    const project = makeProject();
    expect(await portcullis(project, ['sessions'])).toMatchObject({
      code: 0,
      out: 'There are no sessions here. --all lists every project.\n',
    });
    writeFileSync(path.join(project.directory, 'script.json'), '["answered"]');
    const run = ['-p', '--script', 'script.json'];
    await portcullis(project, [...run, 'the first prompt']);
    await portcullis(project, [...run, '--name', 'a title', 'the second prompt']);
    const rows = JSON.parse((await portcullis(project, ['sessions', '--json'])).out);
    expect(rows).toMatchObject([
      { title: 'a title', firstPrompt: 'the second prompt', messages: 2 },
      { title: 'the first prompt', messages: 2, directory: project.directory },
    ]);
    const { out } = await portcullis(project, ['sessions', '--all', '--limit', '1']);
    expect(out).toMatch(/^SESSION .*DIRECTORY .*\n.*a title\n$/);
    expect(out).toContain(rows[0].id);
  });
});

describeWith(['tmux'], 'in a terminal', () => {
  async function terminal(...options: Parameters<typeof openTerminal>): Promise<Terminal> {
    const opened = await openTerminal(...options);
    open.push(opened);
    return opened;
  }

  it('without a model a conversation offers to set one up, and hides the key', async () => {
    const env = { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' };
    const shell = await terminal({ script: ['ok', 'an answer'], env });
    expect(await shell.shows('Answer [y/n]')).toContain('No model is configured. Set one up now?');
    shell.line('y');
    const menu = await shell.shows(/Number \[1-\d\]/);
    shell.line(/(\d) {2}another server/.exec(menu)?.[1] ?? '');
    await shell.shows('Address');
    shell.line(`${shell.server.url}/v1`);
    await shell.shows('Key (empty for none)');
    shell.line(KEY);
    await shell.shows('Model: ');
    shell.line('small');
    await shell.shows('Start with: portcullis');
    expect(shell.screen()).not.toContain(KEY);
    await shell.shows('/help lists commands');
    shell.line('hello');
    await shell.shows('an answer');
  });

  it('--resume offers the sessions of the directory and shows how the chosen one ended', async () => {
    const first = await terminal({ script: ['the last words', 'a new answer'] });
    await first.shows('/help lists commands');
    first.line('the old prompt');
    await first.shows('the last words');
    first.press('C-d');
    await first.exitCode();
    first.line(first.command('--resume'));
    await first.shows('Resume which one? [1-1]');
    first.line('1');
    await first.shows(
      /\] 1\n[\s\S]*\/help lists commands[^\n]*\s+> the old prompt\s+the last words\s+> /,
    );
    first.line('and now');
    await first.shows('a new answer');
  });
});
