import { afterEach, describe, expect, it } from 'vitest';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { play } from './program.js';

const worlds: ScenarioRun['world'][] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

async function run(scenario: Scenario): Promise<ScenarioRun> {
  const done = await play(scenario);
  worlds.push(done.world);
  return done;
}

const modelsAsked = (done: ScenarioRun): unknown[] =>
  done.requests
    .map((request) => (request.body as { model?: unknown } | undefined)?.model)
    .filter((model) => model !== undefined);

describe('which model is asked', () => {
  it('resolves fallback models like the first one', async () => {
    const done = await run({
      args: ['--model', 'claude-sonnet-4-5', '--fallback-model', 'haiku'],
      env: { CLAUDE_CODE_MAX_RETRIES: '0' },
      script: [{ error: { status: 529, type: 'overloaded_error', message: 'busy' } }, 'ok'],
    });
    expect(done.exitCode).toBe(0);
    expect(modelsAsked(done)).toEqual(['claude-sonnet-4-5', 'claude-haiku-5-5']);
  });

  it('refuses a fallback whose price is unknown under a budget', async () => {
    const done = await run({
      format: 'text',
      args: ['--model', 'sonnet', '--fallback-model', 'mystery', '--max-budget-usd', '1'],
      script: [],
    });
    expect(done.exitCode).toBe(3);
    expect(done.stderr).toContain('no price is known for mystery');
  });

  it('takes the one model of another server, and asks which of several', async () => {
    const env = (url: string) => ({
      ANTHROPIC_BASE_URL: undefined,
      ANTHROPIC_API_KEY: undefined,
      OPENAI_BASE_URL: `${url}/v1`,
    });
    const one = await startFakeModelServer({ script: ['hello'], models: ['only-model'] });
    const several = await startFakeModelServer({ script: [], models: ['a', 'b'] });
    try {
      const taken = await run({ format: 'text', env: env(one.url) });
      expect(taken).toMatchObject({ exitCode: 0, stdout: 'hello\n' });
      const asked = await run({ format: 'text', env: env(several.url) });
      expect(asked.exitCode).toBe(3);
      expect(asked.stderr).toContain('--model or OPENAI_MODEL: a, b');
    } finally {
      await one.close();
      await several.close();
    }
  });

  it('counts the calls for a summary against the budget', async () => {
    const first = await run({ args: ['--model', 'claude-sonnet-4-5'], script: ['one', 'two'] });
    const dear = { input_tokens: 1_000_000, output_tokens: 0 };
    const compacted = await run({
      world: first.world,
      args: ['--continue', '--model', 'claude-sonnet-4-5'],
      prompt: '/compact',
      script: [{ text: '<summary>short</summary>', usage: dear }],
    });
    expect(compacted.result).toMatchObject({ subtype: 'success', num_turns: 0 });
    // The cost is that of the session: what the first run has used is in it.
    const before = Number(first.result?.total_cost_usd);
    expect(compacted.result?.total_cost_usd).toBeCloseTo(before + 3, 9);
    expect(compacted.frames.some((frame) => frame.subtype === 'compact_boundary')).toBe(true);
    const after = await run({ world: first.world, args: ['--continue'], script: ['ok'] });
    const body = JSON.stringify(after.requests[0]?.body);
    expect(body).toContain('short');
    expect(body).toContain('Primary working directory:');
  });
});

describe('receipts on the wire', () => {
  it('are sent when asked for', async () => {
    const script = [{ tool: 'Bash', input: { command: 'pwd' } }, 'ok'];
    const asked = await run({ args: ['--include-decisions'], script });
    expect(asked.frames.find((frame) => frame.subtype === 'decision')).toMatchObject({
      receipt: { tool: 'Bash', decision: 'allow' },
    });
    expect((await run({ script })).frames.some((frame) => frame.subtype === 'decision')).toBe(
      false,
    );
  });
});

describe('flags that contradict each other', () => {
  it.each([
    [['--fork-session'], 'needs --continue or --resume'],
    [
      ['--continue', '--session-id', '00000000-0000-4000-8000-000000000001'],
      'a session keeps its id',
    ],
    [['--continue', '--resume-session-at', 'x'], 'needs --resume with an id'],
  ])('%j', async (args, words) => {
    const done = await run({ format: 'text', args, script: [] });
    expect(done.exitCode).toBe(2);
    expect(done.stderr).toContain(words);
  });
});
