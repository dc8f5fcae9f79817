import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { type Message, type WireHost, wireHost } from '../support/wire-host.js';
import { run } from './worlds.js';

/** Plays a session whose host answers questions in turn, and no once the answers are used up. */
async function play(
  answers: readonly unknown[],
  scenario: Scenario,
  host: WireHost = {},
): Promise<{ done: ScenarioRun; asked: readonly Message[] }> {
  const left = [...answers];
  const { log, scenario: wire } = wireHost({
    canUseTool: () => left.shift() ?? { behavior: 'deny', message: 'NO ANSWER LEFT' },
    ...host,
  });
  const done = await run({
    ...scenario,
    ...wire,
    args: ['--permission-prompt-tool', 'stdio', ...(scenario.args ?? [])],
  });
  return { done, asked: log.asked };
}

const touch = (name: string) => ({ tool: 'Bash', input: { command: `touch ${name}` } });
const addRules = (ruleContent: string, destination: string, behavior = 'allow') => ({
  behavior: 'allow',
  updatedPermissions: [
    { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent }], behavior, destination },
  ],
});
const LOCAL = '.claude/settings.local.json';
const made = (done: ScenarioRun, ...names: string[]) =>
  names.filter((name) => done.project.exists(name));

describe('updatedPermissions', () => {
  it('for the session: the next call is not asked about, and nothing is written', async () => {
    const { done, asked } = await play([addRules('touch *', 'session')], {
      script: [touch('a'), touch('b'), 'end'],
    });
    expect(asked).toHaveLength(1);
    expect(made(done, 'a', 'b')).toEqual(['a', 'b']);
    expect(done.project.exists(LOCAL)).toBe(false);
  });

  it('for the project: written, and in force at once', async () => {
    const { done, asked } = await play([addRules('touch *', 'localSettings')], {
      files: { [LOCAL]: '{\n    "model": "x"\n}\n' },
      script: [touch('a'), touch('b'), 'end'],
    });
    expect(asked).toHaveLength(1);
    expect(made(done, 'a', 'b')).toEqual(['a', 'b']);
    expect(done.project.read(LOCAL)).toBe(
      '{\n    "model": "x",\n    "permissions": {\n        "allow": [\n            "Bash(touch *)"\n        ]\n    }\n}\n',
    );
  });

  it('a rule that was saved by an answer is in force in the next session', async () => {
    const first = await play([addRules('touch *', 'localSettings')], {
      script: [touch('a'), 'end'],
    });
    const next = await run({ world: first.done.world, script: [touch('b'), 'end'] });
    expect(next.stderr).toBe('');
    expect(made(next, 'b')).toEqual(['b']);
  });

  it('does not beat a deny rule or an ask rule', async () => {
    const { done, asked } = await play(
      [addRules('touch *', 'session'), { behavior: 'deny', message: 'no' }],
      {
        home: {
          '.claude/settings.json': {
            json: { permissions: { deny: ['Bash(touch b)'], ask: ['Bash(touch c)'] } },
          },
        },
        script: [touch('a'), touch('b'), touch('c'), 'end'],
      },
    );
    expect(asked.map((request) => (request.input as Message).command)).toEqual([
      'touch a',
      'touch c',
    ]);
    expect(made(done, 'a', 'b', 'c')).toEqual(['a']);
    expect(done.toolResult(1).text).toContain('denied by permission rule Bash(touch b)');
  });

  it('a deny rule that comes with a yes holds from then on', async () => {
    const { done } = await play([addRules('touch b', 'session', 'deny'), { behavior: 'allow' }], {
      script: [touch('a'), touch('b'), 'end'],
    });
    expect(made(done, 'a', 'b')).toEqual(['a']);
  });

  it('changes the mode, and tells so', async () => {
    const { done, asked } = await play(
      [
        {
          behavior: 'allow',
          updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
        },
      ],
      {
        script: [
          { tool: 'Write', input: { file_path: 'a', content: 'x' } },
          { tool: 'Write', input: { file_path: 'b', content: 'x' } },
          'end',
        ],
      },
    );
    expect(asked).toHaveLength(1);
    expect(made(done, 'a', 'b')).toEqual(['a', 'b']);
    expect(done.frames).toContainEqual(
      expect.objectContaining({ subtype: 'status', permissionMode: 'acceptEdits' }),
    );
  });

  it.each([
    [
      'an unknown type',
      [{ type: 'addRule', rules: [], behavior: 'allow', destination: 'session' }],
    ],
    ['no list', 'all'],
  ])('with %s: the answer is no', async (_what, updatedPermissions) => {
    const { done } = await play([{ behavior: 'allow', updatedPermissions }], {
      script: [touch('a'), 'end'],
    });
    expect(made(done, 'a')).toEqual([]);
  });

  it('leaves a settings file with mistakes alone, and says so', async () => {
    const { world, project } = await run({ script: ['nothing yet'] });
    const text = '{ "permissions": { "allow": [] } } // mine';
    const { done, asked } = await play(
      [],
      { world, script: [touch('a'), touch('b'), 'end'] },
      {
        canUseTool() {
          // Broken while the session runs: a start with such a file is refused.
          project.write(LOCAL, text);
          return addRules('touch *', 'localSettings');
        },
      },
    );
    expect(asked).toHaveLength(1);
    expect(made(done, 'a', 'b')).toEqual(['a', 'b']);
    expect(project.read(LOCAL)).toBe(text);
    expect(done.frames).toContainEqual(
      expect.objectContaining({
        subtype: 'informational',
        content: expect.stringContaining('was left alone'),
      }),
    );
  });
});

describe('the scope of an answer', () => {
  const scoped = (scope: Record<string, unknown>) => ({ behavior: 'allow', scope });

  it('ends with its time', async () => {
    const over = scoped({ what: 'prefix', until: 'session', expiresAt: Date.now() - 1000 });
    const { done, asked } = await play([over], {
      script: [
        { tool: 'Bash', input: { command: 'pytest-not-there a' } },
        { tool: 'Bash', input: { command: 'pytest-not-there b' } },
        'end',
      ],
    });
    expect(asked).toHaveLength(2);
    expect(done.toolResult(1).text).toContain('NO ANSWER LEFT');
    expect(done.frames).toContainEqual(
      expect.objectContaining({
        subtype: 'informational',
        content: expect.stringContaining('this call alone'),
      }),
    );
  });

  it('holds for the turn, and not for the next', async () => {
    const { done, asked } = await play(
      [scoped({ what: 'exact', until: 'turn' })],
      { script: [touch('a'), touch('a'), 'end', touch('a'), 'end'] },
      { prompts: ['one', 'two'] },
    );
    expect(asked).toHaveLength(2);
    expect(done.toolResult(1).isError).toBe(false);
    expect(done.toolResult(2).isError).toBe(true);
  });

  it('for the user: in the user’s settings', async () => {
    const { done } = await play([scoped({ what: 'prefix', until: 'user' })], {
      script: [{ tool: 'Bash', input: { command: 'git commit -m x' } }, 'end'],
    });
    const file = path.join(done.project.home, '.claude/settings.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      permissions: { allow: ['Bash(git commit *)'] },
    });
  });

  it('that cannot be read is no yes', async () => {
    const { done } = await play([scoped({ what: 'exact', until: 'forever' })], {
      script: [touch('a'), 'end'],
    });
    expect(made(done, 'a')).toEqual([]);
  });
});

describe('with nobody to answer', () => {
  it('says what is missing, then to stop, and ends a run that goes on', async () => {
    const done = await run({
      format: 'json',
      script: Array.from({ length: 8 }, () => touch('x0')),
    });
    expect(done.exitCode).toBe(7);
    expect(done.requests).toHaveLength(6);
    expect(done.toolResult(0).text).toContain('Bash(touch x0)');
    expect(done.toolResult(0).text).toContain('Do not try another way');
    expect(done.toolResult(1).text).not.toContain('refusal');
    expect(done.toolResult(2).text).toContain('refusal 3 of the same need');
    expect(done.result).toMatchObject({
      is_error: true,
      errors: [expect.stringContaining('refused 6 times')],
    });
    expect(done.result?.permission_denials).toHaveLength(6);
  });

  it('counts calls of one answer once, and other needs apart', async () => {
    const done = await run({
      format: 'json',
      script: [
        { blocks: Array.from({ length: 8 }, () => touch('x0')) },
        { tool: 'Bash', input: { command: 'git push' } },
        { tool: 'WebFetch', input: { url: 'https://a.example/', prompt: 'x' } },
        'I could not.',
      ],
    });
    expect(done.exitCode).toBe(4);
    expect(done.result?.permission_denials).toHaveLength(10);
  });
});
