import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../src/app.js';
import type { Actor, Reply, RequestView } from '../../src/model/scripted/format.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { cases } from '../support/counts.js';
import { agent, call, inBackground, messagesOf, timesIn } from './arrival-rig.js';

const AT_ONCE = 3;
const RANDOM_KILLS = cases(9, 100);
const EACH = cases(2, 1);
const DIE = path.resolve(import.meta.dirname, '../fixtures/bin/die-at-write.cjs');
const NEVER = 'nothing';

/**
 * Two agents in the background, one that is waited for, and perhaps a wait for the others. `late`: one of
 * the first two answers when what it was asked is on the disk, and the one that is waited for has ended.
 */
type Shape = 'told' | 'waits' | 'late';
const SHAPES: readonly Shape[] = ['told', 'waits', 'late'];
const DELAY_MS: Readonly<Record<Shape, number>> = { told: 15, waits: 15, late: 250 };

const CHILDREN = { SUBONE: 'REPORTONE', SUBTWO: 'REPORTTWO', SUBTHREE: 'REPORTTHREE' } as const;
type Child = keyof typeof CHILDREN;
const NAMES = Object.keys(CHILDREN) as readonly Child[];

function mainReply(shape: Shape, { turn }: RequestView): Reply {
  if (turn === 0) {
    const blocks = (['SUBONE', 'SUBTWO'] as const).map((name) => {
      const { tool = '', input = {} } = agent(name, inBackground) as Exclude<Reply, string>;
      return { tool, input };
    });
    return { blocks };
  }
  if (turn === 1) return agent('SUBTHREE');
  if (turn === 2 && shape === 'waits') return call('WaitForAgents', { timeout_seconds: 20 });
  return 'ok';
}

function actorsOf(shape: Shape, onChild: (name: Child) => void): readonly Actor[] {
  return [
    ...NAMES.map((name) => ({
      name,
      match: name,
      replies: [
        () => {
          onChild(name);
          return {
            text: `${CHILDREN[name]} is done`,
            delayMs: name === 'SUBTWO' ? DELAY_MS[shape] : 0,
          };
        },
      ],
    })),
    {
      name: 'main',
      replies: Array.from({ length: 20 }, () => (view: RequestView) => mainReply(shape, view)),
    },
  ];
}

/** A session of the real program that is killed, and what a later one is told. */
class Trial {
  readonly project: TempProject;
  readonly sessionId = crypto.randomUUID();

  constructor() {
    this.project = makeTempProject();
  }

  env(server: FakeModelServer, more: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.project.home,
      TMPDIR: this.project.root,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'test-key',
      CLAUDE_CODE_MAX_RETRIES: '0',
      ...more,
    };
  }

  /** Runs the program to its end, whichever that is. `kill` is called when an agent is answered. */
  async run(
    shape: Shape,
    options: { env?: Record<string, string>; onChild?: (name: Child, kill: () => void) => void },
  ): Promise<string | null> {
    let kill = (): void => undefined;
    const server = await startFakeModelServer({
      actors: actorsOf(shape, (name) => options.onChild?.(name, () => kill())),
    });
    const [node = '', ...program] = PROGRAM;
    const args = ['-r', DIE, ...program, '-p', '--session-id', this.sessionId, '--', 'go'];
    const child = spawn(node, args, {
      cwd: this.project.directory,
      env: this.env(server, options.env),
      stdio: 'ignore',
    });
    kill = () => void child.kill('SIGKILL');
    const deadline = setTimeout(kill, 20_000);
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    clearTimeout(deadline);
    await server.close();
    return signal;
  }

  /** Takes the session up again in this process, and returns all that the model is shown. */
  async resume(): Promise<string> {
    const server = await startFakeModelServer({ script: Array.from({ length: 5 }, () => 'ok') });
    const session = await openSession({
      cwd: this.project.directory,
      env: this.env(server),
      entrypoint: 'test',
      start: { kind: 'resume', id: this.sessionId, newId: undefined, at: undefined },
      fork: false,
      persist: true,
      trust: false,
      emit: () => undefined,
    });
    const content = [{ type: 'text' as const, text: 'again' }];
    await session.run([{ uuid: crypto.randomUUID(), content }]);
    await session.close();
    await server.close();
    return messagesOf(server.requests.at(-1)?.body).join('\n');
  }

  /** The files of the session, by their names; none: it never came so far. */
  files(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const projects = path.join(this.project.home, '.claude/projects');
    for (const name of listing(projects)) {
      if (!name.endsWith('.jsonl')) continue;
      found.set(path.basename(name), readFileSync(path.join(projects, name), 'utf8'));
    }
    return found;
  }
}

function listing(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

/** Ids of the agents that the journal knows, by their prompts. */
function startedIn(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const lines = (files.get('deliveries.jsonl') ?? '').split('\n');
  const started = new Map<string, string>();
  for (const line of lines) {
    try {
      const record = JSON.parse(line);
      if (record.type === 'started') started.set(record.description.replace('do ', ''), record.id);
    } catch {
      // The line that the process died over.
    }
  }
  return started;
}

/**
 * Whatever the moment was: each agent that was started is heard of exactly once, and what it had
 * said by then is in it exactly once; taking the session up again changes nothing.
 */
async function expectOnce(trial: Trial): Promise<Found> {
  const files = trial.files();
  for (const [name, text] of files) expectOwnLines(name, text);
  const transcript = files.get(`${trial.sessionId}.jsonl`) ?? '';
  if (!/"type":"(user|assistant)"[^\n]*\n/.test(transcript)) return NEVER;
  const started = startedIn(files);
  const first = await trial.resume();
  // Once more, now and then: it costs as much as the first time.
  const again = trials.indexOf(trial) % 4 === 0 ? [await trial.resume()] : [];
  let reported = false;
  const owed = owedIn(files);
  for (const name of NAMES) {
    const id = started.get(name);
    const report = CHILDREN[name];
    const said = id === undefined ? '' : (files.get(`agent-${id}.jsonl`) ?? '');
    const hasSaid = said.split('\n').some((line) => isWhole(line) && line.includes(report));
    for (const shown of [first, ...again]) {
      expect([name, timesIn(shown, report)]).toEqual([name, hasSaid ? 1 : 0]);
    }
    if (id === undefined) continue;
    reported ||= hasSaid;
    // By a notification, by the result of a wait, or by the result of the call that started it.
    const heard = [`<task-id>${id}</task-id>`, `<agent-report id=\\"${id}\\"`, `agentId: ${id} (`];
    expect(Math.max(...heard.map((mark) => timesIn(first, mark)))).toBe(1);
    expect(timesIn(first, heard[0] ?? '') + timesIn(first, heard[1] ?? '')).toBeLessThan(2);
  }
  if (owed) return 'owed';
  return reported ? 'reported' : 'cut-off';
}

/** All that a file holds was written to it, and whole, but for the line that the process died over. */
function expectOwnLines(name: string, text: string): void {
  const whole = text.split('\n').slice(0, -1);
  expect([name, whole.filter((line) => !isWhole(line))]).toEqual([name, []]);
  const agentId = /^agent-(.+)\.jsonl$/.exec(name)?.[1];
  if (agentId === undefined) return;
  const ids = new Set(whole.map((line) => JSON.parse(line).agentId));
  expect([...ids].filter((id) => id !== agentId)).toEqual([]);
}

/** `owed`: it was killed after an end was journalled, and before that was known to have arrived. */
type Found = 'owed' | 'reported' | 'cut-off' | typeof NEVER;

function owedIn(files: ReadonlyMap<string, string>): boolean {
  const journal = files.get('deliveries.jsonl') ?? '';
  return timesIn(journal, '"type":"ended"') > timesIn(journal, '"type":"delivered"');
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

async function inParallel<T>(jobs: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const left = jobs.map((job, index) => ({ job, index }));
  const results: T[] = [];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      results[next.index] = await next.job();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

const trials: Trial[] = [];
function newTrial(): Trial {
  const trial = new Trial();
  trials.push(trial);
  return trial;
}
afterAll(() => {
  for (const { project } of trials) project.remove();
});

const steps = new Map<Shape, number>();
beforeAll(async () => {
  for (const shape of SHAPES) {
    const trial = newTrial();
    const file = path.join(trial.project.root, 'steps');
    expect(await trial.run(shape, { env: { DIE_COUNT: file } })).toBeNull();
    steps.set(shape, Number(readFileSync(file, 'utf8')));
  }
}, 300_000);

describe('a process that is killed while its agents report', () => {
  for (const shape of SHAPES) {
    it(`at every ${EACH === 1 ? '' : 'second '}step of what it writes (${shape})`, {
      timeout: 300_000,
    }, async () => {
      const count = steps.get(shape) ?? 0;
      expect(count).toBeGreaterThan(20);
      // Up to where the first agents have begun, all go the same way.
      const from = shape === 'told' ? 1 : Math.floor(count / 2);
      const length = Math.floor((count - from) / EACH) + 1;
      const jobs = Array.from({ length }, (_, index) => async () => {
        const trial = newTrial();
        const how = index % 2 === 0 ? 'middle' : 'before';
        await trial.run(shape, { env: { DIE_AT: String(from + index * EACH), DIE_HOW: how } });
        return await expectOnce(trial);
      });
      const seen = await inParallel(jobs);
      expect(seen.filter((one) => one === 'owed').length).toBeGreaterThan(cases(0, 3));
    });
  }

  it(`${RANDOM_KILLS} times at random moments`, { timeout: 300_000 }, async () => {
    const jobs = Array.from({ length: RANDOM_KILLS }, (_, index) => async () => {
      const trial = newTrial();
      const shape = index % 2 === 0 ? 'told' : 'waits';
      const which = NAMES[index % NAMES.length];
      await trial.run(shape, {
        onChild(name, kill) {
          if (name === which) setTimeout(kill, Math.random() * 30);
        },
      });
      return await expectOnce(trial);
    });
    const seen = await inParallel(jobs);
    expect(seen.filter((one) => one === 'owed').length).toBeGreaterThan(cases(0, 3));
  });
});
