import { afterEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../src/model/scripted/format.js';
import type { Scenario, ScenarioRun, ScenarioWorld } from '../../src/testing/scenario.js';
import { play } from '../e2e/program.js';
import {
  agent,
  call,
  inBackground,
  journalOf,
  messagesOf,
  sessionOf,
  timesIn,
} from './arrival-rig.js';

let world: ScenarioWorld | undefined;
afterEach(() => {
  world?.remove();
  world = undefined;
});

const actors = (main: Actor['replies'], others: Record<string, Actor['replies']>): Actor[] => [
  ...Object.entries(others).map(([match, replies]) => ({ name: match, match, replies })),
  { name: 'main', replies: main },
];

async function run(scenario: Scenario): Promise<ScenarioRun> {
  const done = await play({ ...scenario, ...(world === undefined ? {} : { world }) });
  world = done.world;
  return done;
}

const bash = (command: string) => call('Bash', { command });
const BASH = ['--allowedTools', 'Bash'];
/** An agent does nothing before the file is there: no test depends on who is faster. */
const UNTIL_GO = bash('while [ ! -e go ]; do sleep 0.05; done');
const GO = bash('touch go');

/** The last request of the main agent, as text. */
function lastOfMain(done: ScenarioRun, not: readonly string[] = []): string {
  const own = done.requests.filter(({ body }) => {
    const [first = ''] = messagesOf(body);
    return not.every((word) => !first.includes(word));
  });
  return messagesOf(own.at(-1)?.body).join('\n');
}

describe('a report of a background agent', () => {
  it('arrives once, is journalled before, and is marked as arrived', async () => {
    const done = await run({
      actors: actors([agent('SUBONE', inBackground), 'end', 'read it'], { SUBONE: ['REPORTONE'] }),
    });
    expect(done.scriptProblems).toEqual([]);
    expect(timesIn(lastOfMain(done, ['SUBONE']), 'REPORTONE')).toBe(1);
    const types = journalOf(done).map((line) => JSON.parse(line).type);
    expect(types).toEqual(['started', 'ended', 'delivered']);
  });

  it('is kept in a file when it is long', async () => {
    const done = await run({
      actors: actors([agent('SUBONE', inBackground), 'end', 'read it'], {
        SUBONE: [`BEGIN${'x'.repeat(40_000)}FINIS`],
      }),
    });
    const text = lastOfMain(done, ['SUBONE']);
    expect(text).toContain('characters are too many to show. All of them: ');
    expect(text).not.toContain('FINIS');
    expect(text.length).toBeLessThan(20_000);
  });

  it('of a run that ended without reading it arrives when the session is taken up again', async () => {
    const first = await run({
      actors: actors([agent('SUBONE', inBackground), 'end'], {
        SUBONE: [{ text: 'REPORTONE', delayMs: 3_000 }],
      }),
      env: { CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: '50' },
    });
    expect(lastOfMain(first, ['SUBONE'])).not.toContain('task-notification');
    const args = ['--resume', sessionOf(first)];
    const second = await run({ args, prompt: 'again', script: ['ok'] });
    const told = lastOfMain(second);
    expect(timesIn(told, '<task-notification>')).toBe(1);
    expect(told).toContain('the session is over');
    const third = await run({ args, prompt: 'once more', script: ['ok'] });
    expect(timesIn(lastOfMain(third), '<task-notification>')).toBe(1);
  });
});

describe('waiting', () => {
  it('returns the reports, which then do not arrive a second time', async () => {
    const done = await run({
      actors: actors(
        [
          agent('SUBONE', inBackground),
          agent('SUBTWO', inBackground),
          call('WaitForAgents', {}),
          'end',
        ],
        {
          SUBONE: [{ text: 'REPORTONE', delayMs: 1_500 }],
          SUBTWO: [{ text: 'REPORTTWO', delayMs: 1_400 }],
        },
      ),
    });
    expect(done.scriptProblems).toEqual([]);
    const text = lastOfMain(done, ['SUBONE', 'SUBTWO']);
    expect([timesIn(text, 'REPORTONE'), timesIn(text, 'REPORTTWO')]).toEqual([1, 1]);
    expect(text).not.toContain('<task-notification>');
    const types = journalOf(done).map((line) => JSON.parse(line).type);
    expect(types.filter((type) => type === 'waited')).toHaveLength(2);
    expect(types.filter((type) => type === 'delivered')).toHaveLength(2);
  });

  it('for any returns with the first; the other one arrives by itself', async () => {
    const ids = (anyUser: string) =>
      [...anyUser.matchAll(/agentId: (a[\da-f]+)/g)].map(([, id]) => id);
    const done = await run({
      args: BASH,
      actors: actors(
        [
          agent('SUBONE', inBackground),
          agent('SUBTWO', inBackground),
          ({ anyUser }) => call('WaitForAgents', { until: 'any', ids: ids(anyUser) }),
          GO,
          'end',
          'read it',
          'read it',
        ],
        { SUBONE: [UNTIL_GO, 'REPORTONE'], SUBTWO: ['REPORTTWO'] },
      ),
    });
    const text = lastOfMain(done, ['SUBONE', 'SUBTWO']);
    expect([timesIn(text, 'REPORTONE'), timesIn(text, 'REPORTTWO')]).toEqual([1, 1]);
    expect(done.toolResult(2).text).toContain('running. You will be told when it ends.');
  });

  it('ends with its time, and the agent goes on', async () => {
    const done = await run({
      args: BASH,
      actors: actors(
        [
          agent('SUBONE', inBackground),
          call('WaitForAgents', { timeout_seconds: 0.05 }),
          GO,
          'end',
          'read it',
        ],
        { SUBONE: [UNTIL_GO, 'REPORTONE'] },
      ),
    });
    expect(done.toolResult(1).text).toContain('running. You will be told when it ends.');
    expect(timesIn(lastOfMain(done, ['SUBONE']), 'REPORTONE')).toBe(1);
  });

  it('is only for agents below, and says so', async () => {
    const done = await run({
      actors: actors(
        [call('WaitForAgents', { ids: ['nobody'] }), call('WaitForAgents', {}), 'end'],
        {},
      ),
    });
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.toolResult(1).text).toBe('There are no agents to wait for.');
  });
});

describe('polling', () => {
  it('is answered once and then refused', async () => {
    let file = '';
    const look: Actor['replies'][number] = ({ lastUser }) => {
      file = /output_file: (\S+)/.exec(lastUser)?.[1] ?? file;
      return bash(`sleep 1; tail -n 5 ${file}`);
    };
    const read: Actor['replies'][number] = () => call('Read', { file_path: file });
    const done = await run({
      args: BASH,
      actors: actors([agent('SUBONE', inBackground), look, read, GO, 'end', 'read it'], {
        SUBONE: [UNTIL_GO, 'REPORTONE'],
      }),
    });
    expect(done.toolResult(1).text).toContain('is still running, and you will be told');
    expect(done.toolResult(1).text).not.toContain('WaitForAgents');
    expect(done.toolResult(2).text).toContain(
      'refused: go on with something else, call WaitForAgents',
    );
    expect(timesIn(lastOfMain(done, ['SUBONE']), 'REPORTONE')).toBe(1);
  });
});
