import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { run } from '../e2e/worlds.js';

const FIXTURE = path.join(import.meta.dirname, 'wire-prompt-tool.fixture.mjs');
const bash = (command: string) => ({ tool: 'Bash', input: { command } });

interface Plan {
  readonly answer?: unknown;
  readonly isError?: boolean;
  readonly silent?: boolean;
}

async function play(
  { answer, ...plan }: Plan,
  scenario: Scenario = {},
): Promise<ScenarioRun & { asked: string }> {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const args = [FIXTURE, JSON.stringify({ ...plan, answer: text, journal: 'asked.log' })];
  const judge = { command: process.execPath, args, timeout: 1_000 };
  const done = await run({
    script: [bash('touch wanted'), 'end'],
    ...scenario,
    args: [
      '--permission-prompt-tool',
      'mcp__judge__approve',
      '--mcp-config',
      JSON.stringify({ mcpServers: { judge } }),
      ...(scenario.args ?? []),
    ],
  });
  const log = done.project.at('asked.log');
  return { ...done, asked: existsSync(log) ? readFileSync(log, 'utf8') : '' };
}

describe('--permission-prompt-tool', () => {
  it('lets an MCP tool allow a call, also with another input', async () => {
    const done = await play({
      answer: { behavior: 'allow', updatedInput: { command: 'touch approved' } },
    });
    expect(done.exitCode).toBe(0);
    expect([done.project.exists('approved'), done.project.exists('wanted')]).toEqual([true, false]);
    const [, ...words] = done.asked.trim().split(' ');
    expect(JSON.parse(words.join(' '))).toEqual({
      tool_name: 'Bash',
      input: { command: 'touch wanted' },
      tool_use_id: expect.stringMatching(/.+/),
    });
  });

  it('lets it refuse, and passes its reason on', async () => {
    const done = await play({ answer: { behavior: 'deny', message: 'NOT ON MY WATCH' } });
    expect(done.toolResult(0).text).toContain('NOT ON MY WATCH');
    expect(done.project.exists('wanted')).toBe(false);
  });

  it.each([
    ['an error', { answer: { behavior: 'allow' }, isError: true }],
    ['no JSON', { answer: 'yes, go on' }],
    ['another word', { answer: { behavior: 'ALLOW' } }],
    ['a list', { answer: [{ behavior: 'allow' }] }],
    ['an input that is none', { answer: { behavior: 'allow', updatedInput: 'touch x' } }],
    ['nothing in time', { silent: true }],
  ])('takes %s for a no', async (_name, plan) => {
    const done = await play(plan);
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.project.exists('wanted')).toBe(false);
    expect(done.result).toMatchObject({ permission_denials: [{ tool_name: 'Bash' }] });
  });

  it('is asked only where rules leave a call open', async () => {
    const allowed = await play(
      { answer: { behavior: 'deny', message: 'no' } },
      {
        args: ['--allowedTools', 'Bash(touch *)'],
      },
    );
    expect([allowed.asked, allowed.project.exists('wanted')]).toEqual(['', true]);
    const denied = await play(
      { answer: { behavior: 'allow' } },
      {
        args: ['--disallowedTools', 'Bash(touch *)'],
      },
    );
    expect([denied.asked, denied.project.exists('wanted')]).toEqual(['', false]);
  });

  it('judges anew what it changed', async () => {
    const done = await play(
      { answer: { behavior: 'allow', updatedInput: { command: 'touch forbidden' } } },
      { args: ['--disallowedTools', 'Bash(touch forbidden)'] },
    );
    expect(done.project.exists('forbidden')).toBe(false);
  });

  it('keeps the tool itself, and tools that need a person, from the model', async () => {
    const done = await play(
      { answer: { behavior: 'allow' } },
      { script: [{ tool: 'mcp__judge__approve', input: {} }, 'end'] },
    );
    const { tools } = (done.requests[0]?.body ?? { tools: [] }) as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name);
    expect(names).toContain('mcp__judge__other');
    expect(names).not.toContain('mcp__judge__approve');
    expect(names).not.toContain('AskUserQuestion');
    expect(done.toolResult(0).text).toContain('No such tool');
    expect(done.asked).toBe('');
  });

  it('does not begin without the tool', async () => {
    const done = await run({
      script: ['never'],
      args: ['--permission-prompt-tool', 'mcp__nobody__approve'],
    });
    expect([done.exitCode, done.requests]).toEqual([3, []]);
    expect(done.stderr).toContain('there is no MCP tool mcp__nobody__approve');
    const denied = await play(
      { answer: { behavior: 'allow' } },
      {
        args: ['--disallowedTools', 'mcp__judge'],
      },
    );
    expect(denied.exitCode).toBe(3);
  });
});
