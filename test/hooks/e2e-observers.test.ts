import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HookEventName } from '../../src/hooks/registry/hook.js';
import { hookEventFacts } from '../../src/protocol/hooks/hook-events.js';
import { run } from '../e2e/worlds.js';
import { wireHost } from '../support/wire-host.js';
import {
  allowBash,
  bash,
  type FailureWorld,
  failureWorld,
  modesFor,
  notices,
  proseJudge,
} from './e2e-rig.js';
import { FIRING, type Tour, tour } from './e2e-tour.js';

/** Events whose hooks hold nothing up when they fail. */
const WATCHING = FIRING.filter((event) => hookEventFacts(event).role !== 'gate');

let failures: FailureWorld;
let failing: Tour;
let without: Tour;
beforeAll(async () => {
  failures = await failureWorld();
  [failing, without] = await Promise.all([
    tour({
      hooks: (event) => (WATCHING.includes(event) ? handlersFor(event) : []),
      home: failures.home,
      actors: [proseJudge],
      slowly: true,
    }),
    tour({ hooks: () => [] }),
  ]);
}, 300_000);
afterAll(() => failures.close());

function handlersFor(event: HookEventName) {
  return modesFor(event, failures.modes).map((mode) => mode.handler(event));
}

describe('hooks that fail where they are no guards', () => {
  it('change nothing: the runs end as without them', () => {
    for (const session of ['main', 'plan'] as const) {
      const [hooked, plain] = [failing[session], without[session]];
      expect(hooked.exitCode).toBe(plain.exitCode);
      expect(resultsOf(hooked)).toEqual(resultsOf(plain));
      expect(sentTo(hooked)).toEqual(sentTo(plain));
      expect(hooked.scriptProblems.filter((text) => !text.includes('judge'))).toEqual([]);
    }
    expect(failing.conversation.exitCode).toBe(0);
    expect(failing.world.project.exists('asked')).toBe(true);
    expect(without.world.project.exists('asked')).toBe(true);
  });

  it.each(WATCHING)('%s: each failure is told, with its own cause', (event) => {
    const told = [...notices(failing.main, 'hook_failed'), ...notices(failing.plan, 'hook_failed')];
    const shown = failing.conversation.stdout
      .split('\n')
      .map((line) => line.replace(/^(> )?! /, ''));
    const mine = [...told, ...shown].filter((text) => text.startsWith(`${event}: `));
    for (const mode of modesFor(event, failures.modes)) {
      // A child that keeps dying is left alone for a while; its hook fails all the same.
      const words = mode.name.startsWith('child-') ? '"read line; ' : mode.text;
      const about = mine.filter((text) => text.includes(words));
      expect(about.length, `${mode.name}: ${mine.join('\n')}`).toBeGreaterThan(0);
      expect(about[0]).toMatch(/failed after [\d.]+ s \([a-z-]+: .* and was passed over$/);
    }
  });
});

type Session = Tour['main'];

function resultsOf({ frames }: Session) {
  return frames
    .filter(({ type }) => type === 'result')
    .map(({ subtype, is_error, result, num_turns, terminal_reason, permission_denials }) => ({
      ...{ subtype, is_error, result, num_turns, terminal_reason },
      denied: (permission_denials as unknown[]).length,
    }));
}

/** What the model read, without what no two runs share. */
function sentTo({ requests, project }: Session): readonly string[] {
  return (
    requests
      .map(({ body }) => JSON.stringify((body as { messages: unknown }).messages, withoutLate))
      .filter((text) => !text.includes('Judge: '))
      .map((text) => text.replaceAll(project.root, '<root>').replace(/toolu_script_\d+/g, 'toolu'))
      // The files of bundled skills lie under a name that is new for each process.
      .map((text) => text.replace(/portcullis-skills-[\w-]+/g, 'skills'))
      .map((text) => text.replace(/\ba[0-9a-f]{16}\b/g, 'agent'))
  );
}

/** Leaves out the notice that a server has connected after the start, as it does on a busy machine. */
function withoutLate(_key: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.filter((part) => !String(part?.text).startsWith('<system-reminder>\nMore tools of'));
}

describe('callbacks of a host that fail where they are no guards', () => {
  it('are passed over, and told', async () => {
    const events = ['PostToolUse', 'PostToolBatch', 'Stop', 'SessionStart', 'MessageDisplay'];
    const registered = [
      { hookCallbackIds: ['throws'], timeout: 30 },
      { hookCallbackIds: ['hangs'], timeout: 0.3 },
    ];
    const { scenario } = wireHost({
      initialize: { hooks: Object.fromEntries(events.map((event) => [event, registered])) },
      callback: ({ callback_id }) =>
        callback_id === 'throws' ? Promise.reject(new Error('BOOM')) : undefined,
    });
    const done = await run({ ...scenario, args: allowBash, script: [bash('echo hi'), 'end'] });
    expect(done.result).toMatchObject({ subtype: 'success', result: 'end', num_turns: 2 });
    expect(done.toolResult(0)).toMatchObject({ text: expect.stringContaining('hi') });
    const told = notices(done, 'hook_callback_failed');
    for (const event of events) {
      const mine = told.filter((text) => text.startsWith(`${event}: `));
      expect(mine.some((text) => text.includes('threw: BOOM'))).toBe(true);
      expect(mine.some((text) => text.includes('timeout: no answer within 0.3 s'))).toBe(true);
    }
  });
});
