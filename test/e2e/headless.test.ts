import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { until } from '../process/helpers.js';
import { PROGRAM, play } from './program.js';

const worlds: ScenarioRun['world'][] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

async function run(scenario: Scenario): Promise<ScenarioRun> {
  const done = await play(scenario);
  worlds.push(done.world);
  return done;
}

/** Sends a signal as soon as a command runs. */
function signalledInCall(signal: NodeJS.Signals, command: string): Promise<ScenarioRun> {
  const project = makeTempProject();
  return run({
    world: { project, remove: () => project.remove() },
    args: ['--allowedTools', 'Bash'],
    script: [{ tool: 'Bash', input: { command: `touch begun; ${command}` } }],
    stdin: '',
    onStart: (program) =>
      void until(() => project.exists('begun')).then(() => program.kill(signal)),
  });
}

describe('headless mode', () => {
  it('prints the answer as text, and nothing else', async () => {
    const done = await run({ format: 'text', script: ['The answer.'] });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'The answer.\n', stderr: '' });
  });

  it('prints one JSON object', async () => {
    const done = await run({ format: 'json', script: ['The answer.'] });
    expect(done.exitCode).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'The answer.',
      num_turns: 1,
      permission_denials: [],
      terminal_reason: 'completed',
      stop_reason: 'end_turn',
    });
  });

  it('streams frames: init, each block, each result, the end', async () => {
    const done = await run({
      files: { 'a.txt': 'hello\n' },
      script: [{ blocks: ['I look.', { tool: 'Read', input: { file_path: 'a.txt' } }] }, 'Done.'],
    });
    expect(
      done.frames.map((frame) => [frame.type, frame.subtype].filter(Boolean).join('/')),
    ).toEqual(['system/init', 'assistant', 'assistant', 'user', 'assistant', 'result/success']);
    const [init, , call, answered] = done.frames;
    expect(init).toMatchObject({ permissionMode: 'default', cwd: done.project.directory });
    expect(call).toMatchObject({ parent_tool_use_id: null, message: { stop_reason: null } });
    expect(answered).toMatchObject({
      tool_use_result: { type: 'text', file: { content: 'hello' } },
    });
    const ids = new Set(done.frames.map((frame) => frame.session_id));
    expect(ids.size).toBe(1);
    expect(done.toolResult(0)).toEqual({
      text: expect.stringContaining('1\thello'),
      isError: false,
    });
  });

  it('sends raw stream events on request, each block before its stop event', async () => {
    const done = await run({ args: ['--include-partial-messages'], script: ['Hi.'] });
    const kinds = done.frames.map((frame) =>
      frame.type === 'stream_event' ? (frame.event as { type: string }).type : String(frame.type),
    );
    const order = kinds.filter((kind, index) => kind !== kinds[index - 1]);
    expect(order).toEqual([
      'system',
      'message_start',
      'content_block_start',
      'content_block_delta',
      'assistant',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'result',
    ]);
  });

  it('takes the prompt from a pipe, after the one on the command line', async () => {
    const piped = await run({ prompt: null, stdin: 'FROM THE PIPE', script: ['ok'] });
    expect(JSON.stringify(piped.requests[0]?.body)).toContain('FROM THE PIPE');
    const both = await run({ prompt: 'FIRST', stdin: 'SECOND', script: ['ok'] });
    expect(JSON.stringify(both.requests[0]?.body)).toContain('FIRST\\nSECOND');
  });

  it('refuses what nobody allowed, says so, and does not exit 0', async () => {
    const done = await run({
      format: 'json',
      script: [{ tool: 'Bash', input: { command: 'touch made' } }, 'I could not.'],
    });
    expect(done.exitCode).toBe(4);
    expect(done.project.exists('made')).toBe(false);
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('requires approval'),
    });
    expect(JSON.parse(done.stdout).permission_denials).toEqual([
      expect.objectContaining({ tool_name: 'Bash', tool_input: { command: 'touch made' } }),
    ]);
    expect(done.stderr).toContain('--allowedTools');
  });

  it('exits 0 when a refusal was made up for', async () => {
    const done = await run({
      script: [
        { tool: 'Bash', input: { command: 'touch made' } },
        { tool: 'Bash', input: { command: 'ls' } },
        'Listed instead.',
      ],
    });
    expect(done.exitCode).toBe(0);
  });

  it('runs what the command line allows, and never what it bans', async () => {
    const allowed = await run({
      args: ['--allowedTools', 'Bash(touch *)'],
      script: [{ tool: 'Bash', input: { command: 'touch made' } }, 'done'],
    });
    expect(allowed.exitCode).toBe(0);
    expect(allowed.project.exists('made')).toBe(true);
    const banned = await run({
      args: ['--allowedTools', 'Bash', '--disallowedTools=Bash'],
      script: [{ tool: 'Bash', input: { command: 'touch made' } }, 'done'],
    });
    expect(banned.project.exists('made')).toBe(false);
    expect(banned.toolResult(0).text).toContain('No such tool available');
  });

  it('stops at the limit of turns with its own exit code and an attachment in the transcript', async () => {
    const done = await run({
      args: ['--max-turns', '1'],
      script: [{ tool: 'Bash', input: { command: 'pwd' } }],
    });
    expect(done.exitCode).toBe(5);
    expect(done.result).toMatchObject({
      subtype: 'error_max_turns',
      is_error: true,
      errors: ['Reached maximum number of turns (1)'],
    });
    const transcript = execFileSync('sh', ['-c', 'cat "$HOME"/.claude/projects/*/*.jsonl'], {
      env: { ...process.env, HOME: done.project.home },
      encoding: 'utf8',
    });
    expect(transcript).toContain('max_turns_reached');
  });

  it('stops at the budget, and refuses a budget that it cannot keep', async () => {
    const dear = { input_tokens: 1_000_000, output_tokens: 1_000_000 };
    const done = await run({
      args: ['--model', 'claude-sonnet-4-5', '--max-budget-usd', '0.5'],
      script: [{ tool: 'Bash', input: { command: 'pwd' }, usage: dear }],
    });
    expect(done.exitCode).toBe(6);
    expect(done.result).toMatchObject({ subtype: 'error_max_budget_usd', total_cost_usd: 18 });
    const unknown = await run({
      format: 'text',
      args: ['--model', 'some-model', '--max-budget-usd', '1'],
      script: [],
    });
    expect(unknown.exitCode).toBe(3);
    expect(unknown.stderr).toContain('no price is known for some-model');
  });

  it('says that a cost is unknown instead of guessing', async () => {
    const done = await run({ args: ['--model', 'some-model'], script: ['ok'] });
    expect(done.result).toMatchObject({
      total_cost_usd: 0,
      cost_unknown_models: ['some-model'],
      modelUsage: { 'some-model': { costBasis: 'unknown' } },
    });
  });

  it('gives the structured answer, after telling what was wrong with the first', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const done = await run({
      args: ['--json-schema', JSON.stringify(schema)],
      script: [
        { tool: 'StructuredOutput', input: { n: 'five' } },
        { tool: 'StructuredOutput', input: { n: 5 } },
      ],
    });
    expect(done.exitCode).toBe(0);
    expect(done.result).toMatchObject({
      subtype: 'success',
      structured_output: { n: 5 },
      result: '{"n":5}',
    });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringContaining('number'),
    });
  });

  it('fails when the structured answer never comes', async () => {
    const done = await run({
      args: [
        '--json-schema',
        '{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}',
      ],
      script: ['a', 'b', 'c', 'd', 'e'],
    });
    expect(done.exitCode).toBe(1);
    expect(done.result).toMatchObject({
      subtype: 'error_max_structured_output_retries',
      is_error: true,
    });
  });

  it('resolves tool names without regard to case and keeps what the model wrote', async () => {
    const done = await run({ script: [{ tool: 'bash', input: { command: 'echo lower' } }, 'ok'] });
    expect(done.toolResult(0)).toMatchObject({
      isError: false,
      text: expect.stringContaining('lower'),
    });
    expect(JSON.stringify(done.requests[1]?.body)).toContain('"name":"bash"');
  });

  it('tells of an unknown tool and names the nearest', async () => {
    const done = await run({ script: [{ tool: 'Raed', input: {} }, 'ok'] });
    expect(done.toolResult(0)).toEqual({
      isError: true,
      text: 'No such tool available: Raed. Did you mean Read?',
    });
  });

  it('follows an interrupt with a result and exit 130', async () => {
    const done = await signalledInCall('SIGINT', 'sleep 60');
    expect(done.exitCode).toBe(130);
    expect(done.result).toMatchObject({
      subtype: 'error_during_execution',
      terminal_reason: 'aborted_tools',
    });
  });

  it('leaves with 143 on SIGTERM and takes its children along', async () => {
    const command = `sleep 61.${process.pid}`;
    const done = await signalledInCall('SIGTERM', command);
    expect(done.exitCode).toBe(143);
    // There may be time for a result, but never for one that says that all is well.
    expect(done.result?.is_error ?? true).toBe(true);
    expect(spawnSync('pgrep', ['-f', command]).status).toBe(1);
  });
});

describe('the command line', () => {
  const cli = (...args: string[]) => {
    const [command = '', ...first] = PROGRAM;
    return spawnSync(command, [...first, ...args], {
      encoding: 'utf8',
      input: '',
      env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    });
  };

  it('prints its version', () => {
    expect(cli('--version').stdout).toMatch(/^\d+\.\d+\.\d+ \(Portcullis\)\n$/);
    expect(cli('-v').stdout).toMatch(/^[2-9]\d*\.\d+\.\d+ \(Portcullis \d+\.\d+\.\d+\)\n$/);
  });

  it('prints help with every flag', () => {
    const { stdout, status } = cli('--help');
    expect(status).toBe(0);
    for (const flag of ['--output-format', '--max-turns', '--resume', '--trust', '--json-schema'])
      expect(stdout).toContain(flag);
  });

  it.each([
    [['-p', '--output-format', 'yaml', 'x'], '"yaml" is not one of text, json, stream-json'],
    [['-p', '--output-format', 'stream-json', 'x'], 'needs --verbose'],
    [['-p', '--max-turns', 'many', 'x'], 'not a whole number'],
    [['-p', '--max-budget-usd=-1', 'x'], 'not an amount above 0'],
    [['-p', '--disalowedTools', 'Bash', 'x'], 'did you mean --disallowedTools?'],
    [['-p', '--session-id', 'abc', 'x'], 'not a UUID'],
    [['-p', '--json-schema', '{', 'x'], 'not valid JSON'],
    [['-p', '--continue', '--resume', 'x', '--', 'y'], 'exclude each other'],
    [['-p'], 'there is no prompt'],
    [['demmo'], 'did you mean: portcullis demo'],
    [['-p', '--resume', '--', 'x'], 'portcullis sessions lists them'],
    [['--model', 'x', 'mcp', 'list'], 'put it first: portcullis mcp'],
  ])('refuses %j as a usage error', (args, words) => {
    const { status, stderr, stdout } = cli(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  it('says what to do when no model is configured', () => {
    const { status, stderr } = cli('-p', 'hello');
    expect(status).toBe(3);
    expect(stderr).toContain('ANTHROPIC_API_KEY');
  });
});

describe('a prompt that a hook blocks', () => {
  it('is told once, and the run does not look done', async () => {
    const hooks = {
      UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo NOT-TODAY >&2; exit 2' }] }],
    };
    const done = await run({
      prompt: 'say it',
      home: { '.claude/settings.json': { json: { hooks } } },
      script: ['never'],
      format: 'text',
    });
    expect(done.exitCode).toBe(4);
    expect(done.stdout.match(/NOT-TODAY/g)).toHaveLength(1);
    expect(done.stderr).not.toContain('NOT-TODAY');
    expect(done.requests).toEqual([]);
  });
});
