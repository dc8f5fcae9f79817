import { describe, expect, it } from 'vitest';
import { History } from '../journal/history.js';
import type { NodeState } from '../types.js';
import { givesRights, readPlan } from './plan-file.js';

const BLOB = 'a'.repeat(64);
const FILE: NodeState = { kind: 'file', size: 1, mode: 0o644, blob: BLOB };
const STEP = { path: 'f', undoes: [1], from: FILE, to: { kind: 'directory', mode: 0o755 } };
const PLAN = { version: 1, id: 'p', session: 's', root: '/w', at: 1, steps: [STEP] };

const read = (plan: object): unknown => readPlan(JSON.stringify(plan));
const withStep = (step: object): unknown => read({ ...PLAN, steps: [STEP, { ...STEP, ...step }] });

describe('a plan that was left behind', () => {
  it('is read as it was written', () => {
    expect(read(PLAN)).toEqual(PLAN);
    const target = { kind: 'message', messageId: 'm' };
    const steps = [{ path: 'l', undoes: [], to: { kind: 'link', target: '../x' } }];
    expect(read({ ...PLAN, target, of: 'q', steps })).toBeDefined();
    expect(withStep({ path: 'g', to: FILE })).toBeDefined();
  });

  it.each([
    ['no text', { id: 1 }],
    ['no name', { session: '' }],
    ['no time', { at: 'x' }],
    ['another version', { version: 2 }],
    ['no list', { steps: {} }],
    ['no target', { target: 'm' }],
  ])('is none with %s', (_, part) => {
    expect(read({ ...PLAN, ...part })).toBeUndefined();
  });

  it.each([
    ['a path twice', {}],
    ['a way out', { path: '../f' }],
    ['git’s data', { path: '.git/hooks/x' }],
    ['no state', { path: 'g', from: 5 }],
    ['a device', { path: 'g', to: { kind: 'special' } }],
    ['no such kind', { path: 'g', to: { kind: 'door', mode: 0o644 } }],
    ['no bytes', { path: 'g', to: { kind: 'file', size: 1, mode: 0o644 } }],
    ['a wrong name of bytes', { path: 'g', to: { ...FILE, blob: '../../etc/passwd' } }],
    ['a mode that is not a number', { path: 'g', to: { kind: 'directory', mode: 'x' } }],
    ['a mode that is too large', { path: 'g', to: { ...FILE, mode: 0o10644 } }],
    ['a size below nothing', { path: 'g', to: { ...FILE, size: -1 } }],
    ['a link to nothing', { path: 'g', to: { kind: 'link' } }],
    ['a link that is not a text', { path: 'g', to: { kind: 'link', target: 'a\0b' } }],
    ['numbers that are none', { path: 'g', undoes: [null] }],
  ])('is none when one of its steps has %s', (_, part) => {
    expect(withStep(part)).toBeUndefined();
  });
});

describe('the rights of an owner', () => {
  const plain = { ...FILE, mode: 0o755 };
  const rights = { ...FILE, mode: 0o4755 };

  it('are given back, and not given anew', () => {
    const history = new History();
    expect(givesRights({ path: 'f', from: plain, to: plain }, history)).toBe(false);
    expect(givesRights({ path: 'f', from: plain, to: rights }, history)).toBe(true);
    expect(givesRights({ path: 'f', from: rights, to: rights }, history)).toBe(false);
    const change = { seq: 1, at: 1, authors: [], before: rights, after: plain };
    history.add({ t: 'changes', list: [{ ...change, path: 'f' }] });
    expect(givesRights({ path: 'f', from: plain, to: rights }, history)).toBe(false);
    expect(givesRights({ path: 'g', from: plain, to: rights }, history)).toBe(true);
  });
});
