import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { official, PROGRAM } from './official.js';
import { resultOf, shown, transcripts } from './suite/look.js';
import { play } from './suite/play.js';
import { makeWorld, type World } from './suite/world.js';

const CLIENT = path.join(import.meta.dirname, 'fixtures/doomed-client.mjs');
const SERVER = path.join(import.meta.dirname, '../mcp/tools-e2e.fixture.mjs');
const LIBRARY = fileURLToPath(import.meta.resolve('@anthropic-ai/claude-agent-sdk'));

/** What the processes of one run have in their environment, wherever they hang in the tree. */
const MARK = 'TREE_OF_THE_TEST';

describe.runIf(existsSync('/proc/self/environ'))(
  'a client that is killed in the middle of a turn',
  () => {
    it('leaves no process behind, and a session that can be gone on with', async () => {
      const mark = `mark-${process.pid}-${Date.now()}`;
      const world = await makeWorld({
        files: { 'kit.json': '{"tools":[]}' },
        script: [{ tool: 'Bash', input: { command: 'sleep 60 & sleep 60' } }],
      });
      const client = startClient(world, mark);
      const told = await saysUntil(client, 'called');
      expect(told).toContain('servers connected');
      // The client, the program, its server, the shell and what it runs.
      const before = await until(() => {
        const found = processesOf(mark);
        return found.filter(({ command }) => command.startsWith('sleep')).length === 2
          ? found
          : undefined;
      });
      expect(before.length).toBeGreaterThanOrEqual(5);
      client.kill('SIGKILL');
      const left = await until(
        () => (processesOf(mark).length === 0 ? [] : undefined),
        5_000,
      ).catch(() => processesOf(mark));
      expect(left).toEqual([]);
      await goesOn(world, told);
    });

    it('while the model answers leaves no process behind either', async () => {
      const mark = `mark-${process.pid}-${Date.now()}-answer`;
      const world = await makeWorld({
        files: { 'kit.json': '{"tools":[]}' },
        script: [{ text: 'half', serve: { misbehave: 'hang_midway' } }],
      });
      const client = startClient(world, mark);
      const told = await saysUntil(client, 'servers');
      await until(() => (world.model.requests.length > 0 ? [] : undefined));
      client.kill('SIGKILL');
      const left = await until(
        () => (processesOf(mark).length === 0 ? [] : undefined),
        5_000,
      ).catch(() => processesOf(mark));
      expect(left).toEqual([]);
      await goesOn(world, told);
    });
  },
);

function startClient(world: World, mark: string): ChildProcess {
  const options = {
    cwd: world.project.directory,
    pathToClaudeCodeExecutable: PROGRAM,
    env: { ...world.env, [MARK]: mark },
    allowedTools: ['Bash'],
    mcpServers: {
      kit: {
        command: process.execPath,
        args: [SERVER, world.project.at('kit.json')],
        env: { [MARK]: mark },
      },
    },
  };
  const client = spawn(process.execPath, [CLIENT, LIBRARY, JSON.stringify(options)], {
    env: { ...process.env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    client.kill('SIGKILL');
    for (const { pid } of processesOf(mark)) process.kill(pid, 'SIGKILL');
  });
  return client;
}

/** What a client has said, up to a line that begins with this word. */
async function saysUntil(client: ChildProcess, word: string): Promise<string> {
  let said = '';
  client.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await until(() => (new RegExp(`^${word}.*\n`, 'm').test(said) ? [] : undefined));
  return said;
}

/** Processes that carry the mark of a run. */
function processesOf(mark: string): readonly { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.split('\0').includes(`${MARK}=${mark}`)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // One that has ended and only waits to be collected has no command line any more.
      return command === '' ? [] : [{ pid: Number(name), command }];
    } catch {
      // It ended while it was looked at.
      return [];
    }
  });
}

async function goesOn(world: World, told: string): Promise<void> {
  const id = /^session (.*)$/m.exec(told)?.[1] ?? '';
  expect(transcripts(world).map((file) => file.id)).toEqual([id]);
  const next = await play(official, {
    in: world,
    prompt: 'which?',
    script: ['TULIP'],
    options: { resume: id },
  });
  expect(resultOf(next)).toMatchObject({ subtype: 'success', result: 'TULIP', session_id: id });
  expect(shown(next.world, 0)).toMatch(/remember TULIP.*which\?/);
}

/** What `look` gives, once it gives something. */
async function until<Found>(look: () => Found | undefined, withinMs = 50_000): Promise<Found> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
