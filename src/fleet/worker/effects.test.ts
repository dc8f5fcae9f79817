import { describe, expect, it } from 'vitest';
import type { DrivenCall } from '../../app.js';
import { callHash, effectOf } from './effects.js';

function call(tool: Partial<DrivenCall['tool']>, input = {}, readsOnly = false): DrivenCall {
  return {
    tool: { name: 'Bash', kind: 'execute', ...tool },
    input,
    readsOnly,
  } as unknown as DrivenCall;
}

const order = { idempotent: ['Bash(./deploy.sh)', 'mcp__tickets__*', 'mcp__mail__send'] };
const server = { server: 'x', key: 'x', source: 'user', tool: 't', alwaysLoad: false };

describe('what a second run of a call does', () => {
  it.each<[string, DrivenCall, string]>([
    ['a command that only reads', call({}, { command: 'ls' }, true), 'read'],
    ['any other command', call({}, { command: 'make' }), 'unsafe'],
    ['a fetch', call({ name: 'WebFetch', kind: 'network' }), 'read'],
    ['a tool of a server', call({ name: 'mcp__x__y', kind: 'network', origin: server }), 'unsafe'],
    [
      'one that is named',
      call({ name: 'mcp__mail__send', kind: 'network', origin: server }),
      'idempotent',
    ],
    [
      'one that a wildcard covers',
      call({ name: 'mcp__tickets__new', origin: server }),
      'idempotent',
    ],
    ['one with a longer name', call({ name: 'mcp__mail__send_all', origin: server }), 'unsafe'],
    ['an edit', call({ name: 'Edit', kind: 'edit' }), 'idempotent'],
    ['an agent', call({ name: 'Agent', kind: 'control' }), 'unsafe'],
    ['a command that is named', call({}, { command: './deploy.sh' }), 'idempotent'],
    ['with arguments', call({}, { command: './deploy.sh web' }), 'idempotent'],
    ['with another command behind it', call({}, { command: './deploy.sh; rm x' }), 'unsafe'],
    ['with a substitution', call({}, { command: './deploy.sh $(date)' }), 'unsafe'],
    ['with a longer name of its own', call({}, { command: './deploy.sh2' }), 'unsafe'],
  ])('%s', (_, given, effect) => {
    expect(effectOf(given, order)).toBe(effect);
  });
});

describe('the hash of a call', () => {
  it('is the same on another machine, and another for another input or directory', () => {
    const one = { tool: 'Bash', cwd: '/a/tree/sub', input: { command: 'ls' } };
    const hash = callHash(one, '/a/tree');
    expect(callHash({ ...one, cwd: '/b/sub' }, '/b')).toBe(hash);
    expect(callHash({ ...one, cwd: '/a/tree' }, '/a/tree')).not.toBe(hash);
    expect(callHash({ ...one, input: { command: 'rm' } }, '/a/tree')).not.toBe(hash);
  });
});
