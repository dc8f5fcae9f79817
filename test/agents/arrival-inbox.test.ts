import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../src/model/scripted/format.js';
import { isRunByAgent } from '../../src/platform/process/run-by-agent.js';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM, play } from '../e2e/program.js';
import { agent, call, inBackground } from './arrival-rig.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());

const READ_BY_SOMEBODY = {
  '.claude/settings.json': { json: { portcullis: { inbox: { unattended: true } } } },
};

const ACTORS: readonly Actor[] = [
  {
    name: 'sub',
    match: 'SUBONE',
    replies: [call('Bash', { command: 'touch made.txt' }), 'REPORTONE', 'REPORTONE'],
  },
  { name: 'main', replies: [agent('SUBONE', inBackground), 'end', 'read it'] },
];

function open(home: Parameters<typeof makeTempProject>[0] = {}): TempProject {
  project = makeTempProject(home);
  return project;
}

function inbox(
  at: TempProject,
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<{ readonly code: number; readonly text: string }> {
  const [node = '', file = ''] = PROGRAM;
  return new Promise((resolve) => {
    execFile(
      node,
      [file, 'inbox', ...words],
      { cwd: at.directory, env: { PATH: process.env.PATH, HOME: at.home, ...env } },
      (failure, stdout, stderr) =>
        resolve({ code: Number(failure?.code ?? 0), text: stdout + stderr }),
    );
  });
}

interface Listed {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  readonly agent: { readonly path: string };
}

async function question(at: TempProject): Promise<Listed> {
  for (;;) {
    const { text } = await inbox(at, ['list', '--json']);
    const [first] = JSON.parse(text) as Listed[];
    if (first !== undefined) return first;
    await sleep(50);
  }
}

const go = (at: TempProject, more: Partial<Scenario> = {}): Promise<ScenarioRun> =>
  play({ world: { project: at, remove: () => at.remove() }, actors: ACTORS, ...more });

/** An agent that works on this project cannot answer either, so that it cannot see this work. */
const byAgent = isRunByAgent(process.env);

describe.skipIf(byAgent)('a question of a background agent', () => {
  it('waits in the inbox, for its owner alone, and is answered from there', async () => {
    const at = open({ home: READ_BY_SOMEBODY });
    const run = go(at);
    const asked = await question(at);
    expect(asked).toMatchObject({
      tool: 'Bash',
      summary: 'touch made.txt',
      agent: { path: 'main/general-purpose#1' },
    });
    const file = path.join(at.home, '.portcullis/inbox', `${asked.id}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    const answered = await inbox(at, ['answer', asked.id, 'allow']);
    expect(answered).toMatchObject({ code: 0, text: expect.stringContaining('Allowed: main/') });
    const done = await run;
    expect(at.exists('made.txt')).toBe(true);
    expect(existsSync(file)).toBe(false);
    const states = done.frames.flatMap((frame) =>
      frame.subtype === 'inbox' ? [[frame.state, frame.answered_by]] : [],
    );
    expect(states).toEqual([
      ['asked', undefined],
      ['answered', `inbox ${asked.id}`],
    ]);
    expect(await inbox(at, ['list'])).toMatchObject({ text: 'No agent waits for an answer.\n' });
  });

  it('may be refused, with a word for the agent; what was answered stays answered', async () => {
    const at = open({ home: READ_BY_SOMEBODY });
    const run = go(at);
    const { id } = await question(at);
    const no = await inbox(at, ['answer', id, 'deny', '--message', 'NOTTODAY']);
    expect(no.text).toContain('Refused');
    const late = await inbox(at, ['answer', id, 'allow']);
    expect(late.code).not.toBe(0);
    const done = await run;
    expect(at.exists('made.txt')).toBe(false);
    expect(JSON.stringify(done.requests.map(({ body }) => body))).toContain('NOTTODAY');
  });

  it('is not answered by an agent', async () => {
    const at = open({ home: READ_BY_SOMEBODY });
    const run = go(at);
    const { id } = await question(at);
    for (const name of ['CLAUDECODE', 'PORTCULLIS']) {
      const refused = await inbox(at, ['answer', id, 'allow'], { [name]: '1' });
      expect(refused.code).not.toBe(0);
      expect(refused.text).toContain('only a person may run inbox answer');
    }
    await inbox(at, ['answer', id, 'deny']);
    await run;
    expect(at.exists('made.txt')).toBe(false);
  });

  it('is refused at once where nobody reads the inbox, and where the agent asks nobody', async () => {
    const without = await go(open());
    expect(without.project.exists('made.txt')).toBe(false);
    expect(JSON.stringify(without.requests.map(({ body }) => body))).toContain(
      'no person is here to give it',
    );
    without.project.remove();
    const silent = '---\nname: quiet\ndescription: d\nportcullis:\n  asks: deny\n---\nbody';
    const at = open({ home: { ...READ_BY_SOMEBODY, '.claude/agents/quiet.md': silent } });
    const actors = ACTORS.map((actor) =>
      actor.name === 'main'
        ? {
            ...actor,
            replies: [agent('SUBONE', { ...inBackground, subagent_type: 'quiet' }), 'end', 'end'],
          }
        : actor,
    );
    const denied = await go(at, { actors });
    expect(denied.frames.some(({ subtype }) => subtype === 'inbox')).toBe(false);
    expect(at.exists('made.txt')).toBe(false);
  });
});

describe('an agent that would answer itself', () => {
  it('is refused, whatever is allowed', async () => {
    const at = open({ home: READ_BY_SOMEBODY });
    const done = await go(at, {
      args: ['--allowedTools', 'Bash'],
      actors: [
        {
          name: 'main',
          replies: [
            call('Bash', { command: 'env -u CLAUDECODE portcullis inbox answer q1 allow' }),
            'end',
          ],
        },
      ],
    });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('only people answer'),
    });
  });
});
