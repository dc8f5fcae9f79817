import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Reply } from '../../src/model/scripted/format.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';

const LONG = { tool: 'Bash', input: { command: 'touch begun; sleep 120' } };

async function start(script: readonly Reply[], args: readonly string[] = []) {
  const project = makeTempProject();
  const model = await startFakeModelServer({ script });
  const [command = '', ...first] = PROGRAM;
  const base = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
  const child = spawn(command, [...first, ...base, '--allowedTools=Bash', ...args], {
    cwd: project.directory,
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      TMPDIR: project.root,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'test-key',
    },
    stdio: 'pipe',
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await model.close();
    project.remove();
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const prompt = (text: string): void =>
    send({ type: 'user', message: { role: 'user', content: text } });
  return { child, project, model, ended, send, prompt };
}

function transcriptOf(home: string): string {
  const projects = path.join(home, '.claude/projects');
  const files = readdirSync(projects, { recursive: true }).map(String);
  return files
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(path.join(projects, name), 'utf8'))
    .join('');
}

describe('the program behind a client', () => {
  it('ends soon after it was told to, with everything written', async () => {
    const { child, project, ended, prompt } = await start([LONG]);
    child.stdout.resume();
    prompt('THE PROMPT');
    await expect.poll(() => existsSync(project.at('begun')), { timeout: 20_000 }).toBe(true);
    child.stdin.end();
    child.kill('SIGTERM');
    const before = Date.now();
    expect(await ended).toEqual({ code: 143, signal: null });
    expect(Date.now() - before).toBeLessThan(20_000);
    expect(transcriptOf(project.home)).toContain('THE PROMPT');
  });

  it('ends soon after an interrupt and the end of its input', async () => {
    const { child, project, ended, prompt, send } = await start([LONG]);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    prompt('THE PROMPT');
    await expect.poll(() => existsSync(project.at('begun')), { timeout: 20_000 }).toBe(true);
    send({ type: 'control_request', request_id: 'i', request: { subtype: 'interrupt' } });
    child.stdin.end();
    const before = Date.now();
    expect(await ended).toEqual({ code: 1, signal: null });
    expect(Date.now() - before).toBeLessThan(20_000);
    const frames = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(frames.filter(({ type }) => type === 'control_response')).toHaveLength(1);
    expect(frames.at(-1)).toMatchObject({ type: 'result', terminal_reason: 'aborted_tools' });
  });

  it('waits for a client that does not read, and goes on when it does', async () => {
    const noisy = { tool: 'Bash', input: { command: 'yes xxxxxxxxx | head -c 29000' } };
    const script = [...Array.from({ length: 60 }, () => noisy), 'done'];
    const { child, model, ended, prompt } = await start(script);
    child.stdout.pause();
    prompt('go');
    child.stdin.end();
    await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBeGreaterThan(2);
    await pause(3_000);
    const made = model.requests.length;
    expect(made).toBeLessThan(15);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    child.stdout.resume();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(out.trim().split('\n').at(-1)).toContain('"result":"done"');
  }, 300_000);

  it('tells a client that reads frames of a command line that it cannot honour', async () => {
    const { child, ended } = await start([], ['--project-config-root=/somewhere']);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    expect(await ended).toEqual({ code: 1, signal: null });
    expect(JSON.parse(out)).toMatchObject({
      type: 'result',
      subtype: 'error_during_execution',
      errors: [expect.stringContaining('--project-config-root')],
    });
  });
});
