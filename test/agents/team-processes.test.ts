import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { teamFiles } from '../../src/agents/teams/host/files.js';
import { exclusiveTasks } from '../../src/agents/teams/tasks.js';
import { openTeamClient } from '../../src/agents/teams/team-client.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { randomUuid } from '../../src/platform/random.js';
import { createTaskStore } from '../../src/tools/tasks/task-store.js';

const root = mkdtempSync(path.join(tmpdir(), 'team-processes-'));
const program = path.join(root, 'worker.mjs');

beforeAll(async () => {
  await build({
    entryPoints: [path.resolve(import.meta.dirname, 'team-worker.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    loader: { '.md': 'text' },
    logLevel: 'warning',
  });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs it to its end, or kills it after a moment. What it had done by its own word. */
async function work(
  where: string,
  [what, name, round]: readonly [string, string, number],
  killAfterMs?: number,
): Promise<readonly string[]> {
  const log = path.join(where, `${name}-${round}.log`);
  const child = spawn(process.execPath, [program, where, what, name, log], { stdio: 'pipe' });
  let problem = '';
  child.stderr.on('data', (data) => {
    problem += data;
  });
  const exit = once(child, 'exit');
  if (killAfterMs !== undefined) {
    while (!existsSync(log) && child.exitCode === null) await pause(2);
    await pause(killAfterMs);
    child.kill('SIGKILL');
  }
  const [code] = await exit;
  expect([killAfterMs === undefined ? code : 0, problem]).toEqual([0, '']);
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
}

describe('processes that work together', () => {
  it('never claim the same task, also when some are killed while they do', async () => {
    const where = mkdtempSync(path.join(root, 'claims-'));
    const tasks = createTaskStore({
      fs: nodeFileSystem,
      directory: path.join(where, 'tasks'),
      exclusive: exclusiveTasks,
    });
    for (let number = 0; number < 60; number++) {
      await tasks.create('t', { subject: `task ${number}`, description: 'x' });
    }
    const names = ['ann', 'bob', 'cid', 'dot'];
    const killed = names.map((name, index) =>
      work(where, ['claim', `${name}x`, 0], index < 2 ? 5 + Math.random() * 30 : 1),
    );
    const done = await Promise.all([
      ...names.map((name) => work(where, ['claim', name, 1])),
      ...killed,
    ]);
    const claimed = done.flat().filter((one) => one !== 'end');
    expect(new Set(claimed).size).toBe(claimed.length);
    const list = await tasks.list('t');
    const owned = list.ok ? list.value : [];
    expect(
      owned.filter(({ owner, status }) => owner === undefined || status !== 'in_progress'),
    ).toEqual([]);
    // Whoever was told that it has a task has it.
    for (const [index, mine] of done.entries()) {
      const name = index < 4 ? names[index] : `${names[index - 4]}x`;
      for (const id of mine.filter((one) => one !== 'end')) {
        expect(owned.find((task) => task.id === id)?.owner).toBe(name);
      }
    }
  }, 300_000);

  it('lose no message and send none twice, killed or not', async () => {
    const where = mkdtempSync(path.join(root, 'mail-'));
    const warnings: string[] = [];
    const opened = openTeamClient({
      directory: path.join(where, 'teams'),
      team: 't',
      self: 'team-lead',
      uuid: randomUuid,
      now: Date.now,
      warn: (text) => void warnings.push(text),
    });
    if (!opened.ok) throw new Error(opened.error);
    const desk = opened.value;
    const process = teamFiles.self();
    await desk.team.create({ sessionId: 's', cwd: where, process }, 1);
    const names = ['ann', 'bob', 'cid'];
    for (const [index, name] of names.entries()) {
      const joined = await desk.team.join({
        name,
        agentId: `a${index}`,
        agentType: 'x',
        description: 'x',
        way: 'tmux',
        state: 'working',
        planRequired: false,
        process,
        model: 'm',
        cwd: where,
        joinedAt: 1,
      });
      expect(joined.ok).toBe(true);
    }
    const got: string[] = [];
    desk.post.add({
      name: 'team-lead',
      tell(message) {
        const [block] = message.content;
        if (block?.type === 'text') got.push(block.text.split('\n')[1] ?? '');
        desk.post.recorded('team-lead', message);
        return true;
      },
    });
    const done = await Promise.all([
      work(where, ['mail', 'ann', 0]),
      ...['bob', 'cid'].map(async (name) => {
        const all: string[] = [];
        for (let round = 0; round < 6; round++) {
          all.push(...(await work(where, ['mail', name, round], Math.random() * 60)));
        }
        return all;
      }),
    ]);
    const said = done.flat().filter((one) => one !== 'end');
    const box = path.join(where, 'teams/t/inboxes/team-lead.json');
    for (
      const end = Date.now() + 20_000;
      readFileSync(box, 'utf8').trim() !== '[]';
      await pause(20)
    ) {
      if (Date.now() > end) throw new Error('mail is left');
    }
    await desk.post.close();
    expect(new Set(got).size).toBe(got.length);
    expect(said.filter((text) => !got.includes(text))).toEqual([]);
    expect(warnings).toEqual([]);
  }, 300_000);
});
