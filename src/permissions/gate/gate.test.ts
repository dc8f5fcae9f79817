import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { Guard } from './guard.js';
import type { AskAnswer, AskRequest } from './types.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'a\n',
      '.env': 'x',
      'src/x.ts': 'x',
      'link-out': { symlink: '../outside.txt' },
      'dir-out': { symlink: '..' },
      docs: { directory: true },
      'docs/guide.txt': { symlink: '../.mcp.json' },
    },
    home: { 'h.txt': 'h', 'docs/d.txt': 'd' },
  });
});
afterAll(() => project.remove());

const rig = (options: Omit<RigOptions, 'cwd' | 'home'> = {}) =>
  gateRig({ cwd: project.directory, home: project.home, ...options });

/** An asker that gives these answers in turn and keeps the questions. */
function scripted(...answers: readonly unknown[]) {
  const asked: AskRequest[] = [];
  const asker = async (request: AskRequest): Promise<AskAnswer> => {
    asked.push(request);
    const answer = answers[asked.length - 1];
    if (answer instanceof Error) throw answer;
    return answer as AskAnswer;
  };
  return { asker, asked };
}

const YES = { behavior: 'allow' };

describe('files', () => {
  it.each<[string, string, Omit<RigOptions, 'cwd' | 'home'>, string]>([
    ['Read', 'a.txt', {}, 'runs'],
    ['Read', 'link-out', {}, 'asks'],
    ['Read', 'dir-out/x', {}, 'asks'],
    ['Read', '/etc/passwd', {}, 'asks'],
    ['Read', '../project-sibling/x', {}, 'asks'],
    ['Read', '/etc/passwd', { mode: 'bypassPermissions' }, 'runs'],
    ['Read', '/etc/passwd', { allow: ['Read'] }, 'runs'],
    ['Read', '/etc/passwd', { allow: ['Read(//etc/**)'] }, 'runs'],
    ['Read', '/etc/passwd', { mode: 'plan' }, 'asks'],
    ['Read', 'link-out', { allow: ['Read(./link-out)'] }, 'asks'],
    ['Read', '.env', { deny: ['Read(.env)'] }, 'denied'],
    ['Read', '.ENV', { deny: ['read(.env)'] }, 'denied'],
    ['Grep', '.env', { deny: ['Read(.env)'] }, 'denied'],
    ['Write', '.env', { deny: ['Read(.env)'], mode: 'bypassPermissions' }, 'denied'],
    ['Read', '.env', { deny: ['Edit(.env)'] }, 'runs'],
    ['Edit', 'src/x.ts', { deny: ['Write(./src/**)'], mode: 'acceptEdits' }, 'denied'],
    ['Write', 'n.txt', {}, 'asks'],
    ['Write', 'n.txt', { mode: 'acceptEdits' }, 'runs'],
    ['Write', 'n.txt', { mode: 'dontAsk' }, 'asks'],
    ['Write', 'n.txt', { mode: 'plan' }, 'asks'],
    ['Write', 'n.txt', { mode: 'plan', allow: ['Write'] }, 'asks'],
    ['Write', 'n.txt', { allow: ['Write'] }, 'runs'],
    ['Write', 'n.txt', { allow: ['Edit'] }, 'asks'],
    ['Write', 'src/n.ts', { allow: ['Edit(./src/**)'] }, 'runs'],
    ['NotebookEdit', 'src/n.ts', { allow: ['Edit(src/**)'] }, 'runs'],
    ['Write', 'src-evil/n.ts', { allow: ['Edit(src/**)'] }, 'asks'],
    ['Write', 'n.txt', { allow: ['Edit(**)'] }, 'runs'],
    ['Write', '../n.txt', { allow: ['Edit(**)'] }, 'asks'],
    ['Edit', '../n.txt', { allow: ['Edit(**)'] }, 'asks'],
    ['Edit', '../n.txt', { allow: ['Edit(*)'] }, 'runs'],
    ['Write', 'n.txt', { allow: ['Edit(*)'] }, 'asks'],
    ['Write', '.git/config', { allow: ['Edit(**)'] }, 'asks'],
    ['Edit', 'n.txt', { allow: ['Write(**)'] }, 'asks'],
    ['Read', '/etc/passwd', { allow: ['Read(**)'] }, 'asks'],
    ['Read', '/etc/passwd', { mode: 'bypassPermissions', deny: ['Read(**)'] }, 'denied'],
    ['Write', 'src/n.ts', { allow: ['Write(./src/**)'] }, 'runs'],
    ['Edit', 'src/n.ts', { allow: ['Write(./src/**)'] }, 'asks'],
    ['Write', 'n.txt', { allow: ['Edit'], deny: ['Write'] }, 'denied'],
    ['Write', '../n.txt', { mode: 'acceptEdits' }, 'asks'],
    ['Write', 'dir-out/n.txt', { mode: 'acceptEdits' }, 'asks'],
    ['Write', '.git/config', { mode: 'acceptEdits' }, 'asks'],
    ['Write', '.GIT/config', { mode: 'acceptEdits' }, 'asks'],
    ['Write', '.git/config', { allow: ['Write'] }, 'asks'],
    ['Write', '.git/config', { mode: 'bypassPermissions' }, 'asks'],
    ['Write', 'docs/guide.txt', { mode: 'acceptEdits' }, 'asks'],
    ['Write', 'pkg/.mcp.json', { mode: 'acceptEdits' }, 'asks'],
    ['Write', '.claude/worktrees/w/n.txt', { mode: 'acceptEdits' }, 'runs'],
    ['Write', '.claude/worktrees/w/.claude/settings.json', { mode: 'acceptEdits' }, 'asks'],
    ['Write', 'CLAUDE.md', { mode: 'acceptEdits' }, 'runs'],
  ])('%s %s with %j: %s', async (tool, file_path, options, expected) => {
    expect(await rig(options).outcome(tool, { file_path })).toBe(expected);
  });

  it('counts added directories as inside', async () => {
    const roots = [project.directory, `${project.home}/docs`];
    expect(await rig({ roots }).outcome('Read', { file_path: `${project.home}/docs/d.txt` })).toBe(
      'runs',
    );
    expect(await rig({ roots }).outcome('Read', { file_path: `${project.home}/h.txt` })).toBe(
      'asks',
    );
  });
});

describe('other tools', () => {
  it.each<[string, Record<string, unknown>, Omit<RigOptions, 'cwd' | 'home'>, string]>([
    ['WebFetch', { url: 'https://example.com/' }, {}, 'asks'],
    [
      'WebFetch',
      { url: 'https://example.com/' },
      { allow: ['WebFetch(domain:example.com)'] },
      'runs',
    ],
    [
      'WebFetch',
      { url: 'https://example.com/' },
      { deny: ['WebFetch(domain:example.com)'], allow: ['WebFetch'] },
      'denied',
    ],
    ['mcp__srv__do', {}, {}, 'asks'],
    ['mcp__srv__do', {}, { allow: ['mcp__srv'] }, 'runs'],
    ['mcp__srv__do', {}, { allow: ['mcp__srv'], deny: ['mcp__srv__do'] }, 'denied'],
    ['mcp__srv__do', {}, { mode: 'acceptEdits' }, 'asks'],
    ['mcp__srv__do', {}, { deny: ['mcp__*'], mode: 'bypassPermissions' }, 'denied'],
    ['TodoWrite', {}, { mode: 'plan' }, 'runs'],
    ['TodoWrite', {}, { ask: ['TodoWrite'], mode: 'bypassPermissions' }, 'asks'],
    ['Bash', { command: 'ls', run_in_background: true }, {}, 'runs'],
    [
      'Bash',
      { command: 'ls', run_in_background: true },
      { deny: ['Bash(run_in_background:true)'] },
      'denied',
    ],
    ['Bash', { command: 'ls' }, { deny: ['Bash(run_in_background:true)'] }, 'runs'],
  ])('%s %j with %j: %s', async (tool, input, options, expected) => {
    expect(await rig(options).outcome(tool, input)).toBe(expected);
  });
});

describe('what the model is told', () => {
  it('names the rule that denied, with its place', async () => {
    const verdict = await rig({ deny: ['Bash(rm *)'] }).call('Bash', { command: 'rm a.txt' });
    expect(verdict).toMatchObject({ kind: 'refused', interrupt: false });
    const message = verdict.kind === 'refused' ? verdict.message : '';
    expect(message).toContain('denied by permission rule Bash(rm *)');
    expect(message).toContain('.claude/settings.json:1');
  });

  it.each([
    ['Bash', { command: 'npm test -- x' }, 'Bash(npm test *)'],
    ['Bash', { command: 'chmod +x a.txt' }, 'Bash(chmod +x a.txt)'],
    ['Bash', { command: 'npm test && npm publish' }, 'Bash(npm test && npm publish)'],
    ['Bash', { command: 'find . -delete' }, 'Bash(find . -delete)'],
    ['Read', { file_path: '/etc/passwd' }, 'Read(//etc/**)'],
    ['Write', { file_path: 'n*.txt' }, 'Edit(./n\\*.txt)'],
    ['WebFetch', { url: 'https://example.com/x' }, 'WebFetch(domain:example.com)'],
    ['mcp__srv__do', {}, 'mcp__srv__do'],
  ])('says which rule would allow %s %j, and it does', async (tool, input, rule) => {
    const verdict = await rig().call(tool, input);
    expect(verdict).toMatchObject({ kind: 'refused', suggestion: rule });
    const message = verdict.kind === 'refused' ? verdict.message : '';
    expect(message).toContain('requires approval');
    expect(message).toContain(rule);
    expect(await rig({ allow: [rule] }).outcome(tool, input)).toBe('runs');
  });

  it('names the mode', async () => {
    const plan = await rig({ mode: 'plan' }).call('Write', { file_path: 'n' });
    expect(plan).toMatchObject({ message: expect.stringContaining('while in plan mode') });
    const dontAsk = await rig({ mode: 'dontAsk' }).call('Write', { file_path: 'n' });
    expect(dontAsk).toMatchObject({ message: expect.stringContaining("don't ask mode") });
  });
});

describe('questions', () => {
  it('puts what is open to the asker, with the reason', async () => {
    const { asker, asked } = scripted(YES);
    const verdict = await rig({ asker }).call('Write', { file_path: 'n' });
    expect(verdict.kind).toBe('allowed');
    expect(asked).toMatchObject([{ mode: 'default', suggestion: 'Edit(./n)' }]);
    expect(verdict.receipt).toMatchObject({ decision: 'allow', decidedBy: 'asker', tool: 'Write' });
  });

  it.each([
    [{ behavior: 'deny', message: 'not now' }, 'not now'],
    [{ behavior: 'yes' }, 'refused'],
    [undefined, 'refused'],
    [new Error('gone'), 'gone'],
  ])('takes anything but a clear yes as no: %j', async (answer, text) => {
    const { asker } = scripted(answer);
    const verdict = await rig({ asker }).call('Write', { file_path: 'n' });
    expect(verdict).toMatchObject({ kind: 'refused', message: expect.stringContaining(text) });
  });

  it('passes on that the turn should end', async () => {
    const { asker } = scripted({ behavior: 'deny', message: 'stop', interrupt: true });
    expect(await rig({ asker }).call('Write', { file_path: 'n' })).toMatchObject({
      interrupt: true,
    });
  });

  it('stops waiting when the call is aborted', async () => {
    const abort = new AbortController();
    const asker = (): Promise<AskAnswer> => {
      abort.abort(new Error('enough'));
      return new Promise(() => {});
    };
    const verdict = await rig({ asker, signal: abort.signal }).call('Write', { file_path: 'n' });
    expect(verdict).toMatchObject({ kind: 'refused', interrupt: true });
  });

  it('is not put in don’t ask mode, nor for what a rule denies', async () => {
    const { asker, asked } = scripted(YES, YES);
    expect((await rig({ asker, mode: 'dontAsk' }).call('Write', { file_path: 'n' })).kind).toBe(
      'refused',
    );
    expect((await rig({ asker, deny: ['Write'] }).call('Write', { file_path: 'n' })).kind).toBe(
      'refused',
    );
    expect(asked).toEqual([]);
  });

  it('is put in bypass mode for ask rules and for tools that are questions', async () => {
    const { asker, asked } = scripted(YES, YES);
    const gate = rig({ asker, mode: 'bypassPermissions', ask: ['Bash(git push:*)'] });
    expect((await gate.call('Bash', { command: 'git push' })).kind).toBe('allowed');
    expect((await gate.call('AskUserQuestion', { questions: [] })).kind).toBe('allowed');
    expect(asked).toHaveLength(2);
    expect((await rig({ mode: 'bypassPermissions' }).call('ExitPlanMode', {})).kind).toBe(
      'refused',
    );
  });

  it('is put once when raised twice at the same time, and anew later', async () => {
    let answer: (given: AskAnswer) => void = () => {};
    let count = 0;
    const asker = (): Promise<AskAnswer> => {
      count++;
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const gate = rig({ asker });
    const calls = [
      gate.call('Bash', { command: 'npm test' }),
      gate.call('Bash', { command: 'npm test' }),
    ];
    while (count === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
    answer({ behavior: 'allow' });
    expect((await Promise.all(calls)).map((verdict) => verdict.kind)).toEqual([
      'allowed',
      'allowed',
    ]);
    expect(count).toBe(1);
    const later = gate.call('Bash', { command: 'npm test' });
    while (count === 1) await new Promise((resolve) => setImmediate(resolve));
    answer({ behavior: 'deny', message: 'no' });
    expect((await later).kind).toBe('refused');
  });
});

describe('input that comes with an answer', () => {
  const answerWith = (updatedInput: Record<string, unknown>) =>
    scripted({ behavior: 'allow', updatedInput }).asker;

  it('is used when nothing holds it back', async () => {
    const asker = answerWith({ command: 'npm run other' });
    const verdict = await rig({ asker }).call('Bash', { command: 'npm test' });
    expect(verdict).toMatchObject({ kind: 'allowed', input: { command: 'npm run other' } });
    if (verdict.kind === 'allowed') expect(verdict.permit.input).toBe(verdict.input);
  });

  it.each<[string, Omit<RigOptions, 'cwd' | 'home'>, Record<string, unknown>, string]>([
    ['a deny rule', { deny: ['Bash(rm *)'] }, { command: 'rm a.txt' }, 'denied by permission rule'],
    ['an ask rule', { ask: ['Bash(rm *)'] }, { command: 'rm a.txt' }, 'held back'],
    ['a critical path', {}, { command: 'rm -rf /' }, 'held back'],
    ['its own form', {}, { command: 'ls', invalid: 1 }, 'not valid'],
  ])('is refused because of %s', async (_, options, input, text) => {
    const verdict = await rig({ ...options, asker: answerWith(input) }).call('Bash', {
      command: 'npm test',
    });
    expect(verdict).toMatchObject({ kind: 'refused', message: expect.stringContaining(text) });
  });

  it('is no new input when it is the same', async () => {
    const asker = answerWith({ command: 'git push' });
    const gate = rig({ asker, ask: ['Bash(git push:*)'] });
    expect((await gate.call('Bash', { command: 'git push' })).kind).toBe('allowed');
  });

  it('may fall under the very question that was just answered, and under no other', async () => {
    const asker = answerWith({ command: 'git push origin main' });
    const same = rig({ asker, ask: ['Bash(git push:*)'] });
    expect((await same.call('Bash', { command: 'git push' })).kind).toBe('allowed');
    const other = rig({ asker, ask: ['Bash(git push:*)', 'Bash(npm *)'] });
    expect((await other.call('Bash', { command: 'npm test' })).kind).toBe('refused');
    const denied = rig({ asker, ask: ['Bash(git push:*)'], deny: ['Bash(git push origin:*)'] });
    expect((await denied.call('Bash', { command: 'git push' })).kind).toBe('refused');
  });

  it('may be the answers to a tool that is a question', async () => {
    const asker = answerWith({ questions: [], answers: { a: 'b' } });
    const verdict = await rig({ asker }).call('AskUserQuestion', { questions: [] });
    expect(verdict).toMatchObject({ kind: 'allowed', input: { answers: { a: 'b' } } });
  });
});

describe('guards', () => {
  const guard = (
    name: string,
    decide: Guard['decide'],
    onFailure: Guard['onFailure'] = 'deny',
  ): Guard => ({
    name,
    onFailure,
    decide,
  });

  it('count as their stated verdict when they fail', async () => {
    const broken = guard('broken', () => {
      throw new Error('no disk');
    });
    const verdict = await rig({ guards: [broken], mode: 'bypassPermissions' }).call('Bash', {
      command: 'ls',
    });
    expect(verdict).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('the guard "broken" failed: no disk'),
      receipt: { decidedBy: 'broken' },
    });
    expect(verdict.receipt.trace[0]).toMatchObject({ decision: 'deny', failure: 'no disk' });
    const { asker, asked } = scripted(YES);
    const unsure = guard('unsure', () => Promise.reject(new Error('late')), 'ask');
    expect((await rig({ guards: [unsure], asker }).call('Bash', { command: 'ls' })).kind).toBe(
      'allowed',
    );
    expect(asked[0]?.reason).toContain('late');
  });

  it('are all asked, and the strictest wins', async () => {
    const asks = guard('asks', async () => ({ decision: 'ask', reason: 'hm' }));
    const denies = guard('denies', async () => ({ decision: 'deny', reason: 'no way' }));
    const defers = guard('defers', async () => ({ decision: 'defer', reason: 'later' }));
    const options = { asker: scripted(YES).asker, mode: 'bypassPermissions' } as const;
    const worst = await rig({ ...options, guards: [asks, defers, denies] }).call('Bash', {
      command: 'ls',
    });
    expect(worst.receipt).toMatchObject({
      decision: 'deny',
      decidedBy: 'denies',
      reason: 'no way',
    });
    expect(worst.receipt.trace.map((step) => step.guard)).toEqual([
      'asks',
      'defers',
      'denies',
      'deny rules',
      'ask rules',
      'protected paths',
      'critical removals',
      'plan mode',
      'shell analysis',
      'effect rules',
      'needs a person',
    ]);
    const deferred = await rig({ ...options, guards: [asks, defers] }).call('Bash', {
      command: 'ls',
    });
    expect(deferred).toMatchObject({ kind: 'refused', receipt: { decision: 'defer' } });
  });

  it('leave a receipt of everything', async () => {
    const verdict = await rig({ allow: ['Bash(npm test:*)'] }).call('Bash', {
      command: 'npm test',
    });
    expect(verdict.receipt).toMatchObject({
      toolUseId: 'toolu_1',
      tool: 'Bash',
      agent: 'main',
      decision: 'allow',
      decidedBy: 'shell commands',
      mode: 'default',
      input: { command: 'npm test' },
      reason: expect.stringContaining('Bash(npm test:*)'),
    });
  });
});
