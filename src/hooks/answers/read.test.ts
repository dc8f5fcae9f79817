import { describe, expect, it } from 'vitest';
import {
  ALLOW,
  DENY,
  ended,
  hook,
  json,
  read,
  specific,
} from '../../../test/support/hook-answers.js';
import type { HookEventName } from '../../protocol/hooks/hook-events.js';
import type { HookHandler } from '../registry/hook.js';
import { readRaw } from './read.js';

describe('exit code 0', () => {
  it('is no opinion when nothing is printed', () => {
    for (const nothing of ['', ' \n\t', '\ufeff', '{}']) {
      expect(read(0, nothing)).toEqual({ answer: { decision: 'none', fields: {} } });
    }
  });

  it.each(['allow', 'deny', 'ask', 'defer'])('takes the decision %s', (word) => {
    const stdout = json(specific({ permissionDecision: word, permissionDecisionReason: 'R' }));
    expect(read(0, stdout).answer).toMatchObject({ decision: word, reason: 'R' });
  });

  it('ignores keys that nobody knows', () => {
    const stdout = json({ ...JSON.parse(DENY), extra: { deep: [1] }, more: null });
    expect(read(0, stdout)).toMatchObject({ answer: { decision: 'deny', reason: 'WHY' } });
  });

  it('skips a byte order mark and blanks around the object', () => {
    expect(read(0, `\ufeff \n${DENY}\n\n`).answer.decision).toBe('deny');
  });

  it('says nothing of standard error', () => {
    const { answer, complaint } = read(0, '', { stderr: 'debug' });
    expect(answer).toEqual({ decision: 'none', fields: {} });
    expect(complaint).toBeUndefined();
  });

  it('keeps plain text, as context only where the event says so', () => {
    expect(read(0, 'hello\n').answer).toEqual({ decision: 'none', fields: {}, text: 'hello' });
    const started = readRaw(hook('SessionStart'), ended(0, 'hello\n'));
    expect(started.answer).toEqual({
      decision: 'none',
      fields: {},
      text: 'hello',
      context: 'hello',
    });
  });
});

describe('exit code 2', () => {
  it.each<[string, string, string, string]>([
    ['the reason of the object', DENY, 'stderr', 'WHY'],
    ['a bare reason', json({ reason: 'BARE' }), '', 'BARE'],
    ['standard error', '', ' stderr \n', 'stderr'],
    ['standard error, not the reason of a yes', ALLOW, 'stderr', 'stderr'],
    ['standard error beside broken JSON', DENY.slice(0, 20), 'stderr', 'stderr'],
    ['text on standard output', 'because', '', 'because'],
    ['broken JSON itself', '{"decision": "bl', '', '{"decision": "bl'],
  ])('says no with %s', (_name, stdout, stderr, reason) => {
    expect(read(2, stdout, { stderr })).toMatchObject({
      answer: { decision: 'deny', reason },
    });
    expect(read(2, stdout, { stderr }).failure).toBeUndefined();
  });

  it.each(['', '{}', ALLOW, json({ async: true })])('says no without a word: %s', (stdout) => {
    const { answer, failure } = read(2, stdout);
    expect(answer.decision).toBe('deny');
    expect(answer.reason).toContain('exit code 2');
    expect(answer.asyncMs).toBeUndefined();
    expect(failure).toBeUndefined();
  });

  it('keeps what it adds, and nothing that grants', () => {
    const added = json({
      systemMessage: 'S',
      ...specific({ permissionDecision: 'allow', additionalContext: 'C' }),
    });
    const { answer } = read(2, added);
    expect(answer).toMatchObject({ decision: 'deny', context: 'C', systemMessage: 'S' });
    expect(answer.fields).not.toHaveProperty('permissionDecision');
    const grant = specific({ decision: { behavior: 'allow' } }, 'PermissionRequest');
    const request = readRaw(hook('PermissionRequest'), ended(2, json(grant)));
    expect(request.answer).toMatchObject({ decision: 'deny', fields: {} });
    const accept = specific({ action: 'accept', content: { a: 1 } }, 'Elicitation');
    const elicited = readRaw(hook('Elicitation'), ended(2, json(accept)));
    expect(elicited.answer).toMatchObject({ decision: 'deny', fields: {} });
  });

  it('shows the model no plain text as context', () => {
    const { answer } = readRaw(hook('UserPromptSubmit'), ended(2, 'text'));
    expect(answer.context).toBeUndefined();
  });
});

describe('exit code 1', () => {
  it('is an error that does not block', () => {
    const stderr = '\n\u001b[31mfirst\u001b[0m line\nsecond';
    expect(read(1, 'text', { stderr })).toEqual({
      answer: { decision: 'none', fields: {}, text: 'text' },
      complaint: 'first line | second',
    });
    expect(read(1, 'out').complaint).toBe('out');
    expect(read(1).complaint).not.toBe('');
  });

  it.each([
    [
      'Traceback (most recent call last):\n  File "g.py", line 2, in <module>\n    main()\nNameError: name x\n',
      'main() | NameError: name x',
    ],
    [
      "/g.js:1\nthrow new Error('no config')\n^\n\nError: no config\n    at Object.<anonymous> (/g.js:1:7)\n    at node:internal/x:9\n\nNode.js v22.0.0\n",
      "throw new Error('no config') | Error: no config",
    ],
    ['', 'printed nothing'],
    [`${'x'.repeat(500)}END`, `…${'x'.repeat(237)}END`],
  ])('is told by the last lines that say something: %j', (stderr, complaint) => {
    expect(read(1, '', { stderr }).complaint).toBe(complaint);
  });

  it.each(['deny', 'ask', 'defer'])('still says %s', (word) => {
    const stdout = json(
      specific({ permissionDecision: word, permissionDecisionReason: 'R', updatedInput: {} }),
    );
    expect(read(1, stdout, { stderr: 'E' })).toEqual({
      answer: { decision: word, reason: 'R', fields: { permissionDecision: word } },
      complaint: 'E',
    });
  });

  it('still blocks, stops, declines', () => {
    expect(read(1, json({ decision: 'block', reason: 'R' })).answer.decision).toBe('deny');
    expect(read(1, json({ continue: false, stopReason: 'R' })).answer.stop).toBe('R');
    const declined = readRaw(
      hook('Elicitation'),
      ended(1, json(specific({ action: 'decline' }, 'Elicitation'))),
    );
    expect(declined.answer.fields).toEqual({ action: 'decline' });
    const denied = specific({ decision: { behavior: 'deny', message: 'M' } }, 'PermissionRequest');
    expect(readRaw(hook('PermissionRequest'), ended(1, json(denied))).answer).toMatchObject({
      decision: 'deny',
      fields: { decision: { behavior: 'deny' } },
    });
  });

  it.each<[string, object]>([
    ['a yes', JSON.parse(ALLOW)],
    ['an old yes', { decision: 'approve' }],
    ['a rewrite', specific({ updatedInput: { command: 'ls' } })],
    ['a rewrite at the top', { tool_input: { command: 'ls' } }],
    ['a context', specific({ additionalContext: 'C' })],
    ['async', { async: true }],
  ])('does not count for %s', (_name, output) => {
    expect(read(1, json(output), { stderr: 'E' })).toEqual({
      answer: { decision: 'none', fields: {} },
      complaint: 'E',
    });
  });

  it('is no context either', () => {
    const { answer } = readRaw(hook('SessionStart'), ended(1, 'text'));
    expect(answer.context).toBeUndefined();
  });

  it('is a failure where the file says that a failure blocks; a no stays a no', () => {
    const strict = { ...hook(), strict: true };
    expect(readRaw(strict, ended(1, 'text', { stderr: 'E' }))).toEqual({
      answer: { decision: 'none', fields: {} },
      failure: { cause: 'exit-code', message: 'it ended with exit code 1: E' },
    });
    expect(readRaw(strict, ended(1, DENY))).toMatchObject({ answer: { decision: 'deny' } });
  });

  it('is a failure for WorktreeCreate, which has no error that does not block', () => {
    expect(readRaw(hook('WorktreeCreate'), ended(1, '/tree'))).toMatchObject({
      failure: { cause: 'exit-code' },
    });
  });
});

describe('every other end', () => {
  it.each([3, 64, 125, 128, 137, 255, -1])('exit code %d is a failure', (code) => {
    expect(read(code, 'text', { stderr: 'E\nF' })).toEqual({
      answer: { decision: 'none', fields: {} },
      failure: { cause: 'exit-code', message: `it ended with exit code ${code}: E | F` },
    });
    expect(read(code, ALLOW).failure?.cause).toBe('exit-code');
    expect(read(code, DENY.slice(0, -2)).failure?.cause).toBe('exit-code');
  });

  it('still takes a valid no', () => {
    expect(read(3, DENY)).toMatchObject({ answer: { decision: 'deny', reason: 'WHY' } });
    expect(read(3, DENY).failure).toBeUndefined();
    expect(read(3, json({ continue: false })).answer.stop).toEqual(expect.any(String));
  });

  it.each([126, 127])('exit code %d names the program that cannot be started', (code) => {
    const stderr = 'sh: 1: guard: not found';
    const { failure } = read(code, '', { stderr });
    expect(failure).toEqual({
      cause: 'cannot-start',
      message: `guard cannot be started (exit code ${code}: ${stderr})`,
      remedy: expect.stringMatching(
        code === 127
          ? /^Install guard .*"enabled": false/
          : /^Make guard executable .*"enabled": false/,
      ),
      repeated: 'guard still cannot be started',
    });
  });

  it.each<[HookHandler, string]>([
    [{ type: 'command', command: '"/a b/guard" -x' }, '/a b/guard'],
    [{ type: 'command', command: "A=1 B=2 'my guard'" }, 'my guard'],
    [{ type: 'command', command: '/a b/guard', args: [] }, '/a b/guard'],
    [{ type: 'command', command: '' }, 'guard'],
    [{ type: 'http', url: 'http://localhost' }, 'guard'],
  ])('finds the program in %j', (handler, program) => {
    const { failure } = readRaw(hook('PreToolUse', handler), ended(127));
    expect(failure?.message).toBe(`${program} cannot be started (exit code 127)`);
  });

  it('death by a signal is a failure, whatever was printed', () => {
    for (const stdout of ['', ALLOW, DENY]) {
      const raw = { exitCode: null, signal: 'SIGKILL' };
      expect(read(0, stdout, raw)).toEqual({
        answer: { decision: 'none', fields: {} },
        failure: { cause: 'signal', message: 'it was ended by SIGKILL' },
      });
    }
    expect(read(0, '', { exitCode: null }).failure?.cause).toBe('signal');
  });
});

describe('other ends', () => {
  it('a failure stays what it is', () => {
    const failure = { cause: 'timeout', message: 'no answer within 1 s' } as const;
    expect(readRaw(hook(), { kind: 'failed', failure })).toEqual({
      answer: { decision: 'none', fields: {} },
      failure,
    });
  });

  it('the text of an MCP tool is read like what a process prints', () => {
    const text = (event: HookEventName, given: string) =>
      readRaw(hook(event), { kind: 'text', text: given });
    expect(text('PreToolUse', DENY).answer.decision).toBe('deny');
    expect(text('UserPromptSubmit', 'hello').answer.context).toBe('hello');
    expect(text('PreToolUse', '{').failure?.cause).toBe('broken-output');
  });
});
