import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { Precheck } from './precheck.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject();
});
afterAll(() => project.remove());

const DENY = { deny: ['Bash(touch *)'] };
const EVIL = 'touch forbidden';
const rig = (options: Omit<RigOptions, 'cwd' | 'home'> = {}) =>
  gateRig({ cwd: project.directory, home: project.home, ...DENY, ...options });

/** Reads as one command first, and as another after so many reads. */
function turncoat(reads: number): Record<string, unknown> {
  let left = reads;
  return {
    get command() {
      return left-- > 0 ? 'npm test' : EVIL;
    },
  };
}

describe('an input that changes after it was judged', () => {
  it.each(['before the answer', 'after the verdict'])('does not run: %s', async (when) => {
    const input = { command: 'npm test' };
    const verdict = await rig({
      asker: async () => {
        if (when === 'before the answer') input.command = EVIL;
        return { behavior: 'allow' };
      },
    }).call('Bash', input);
    input.command = EVIL;
    expect(verdict).toMatchObject({
      kind: 'allowed',
      input: { command: 'npm test' },
      permit: { input: { command: 'npm test' } },
      receipt: { input: { command: 'npm test' } },
    });
  });

  it('cannot be changed by whoever is asked', async () => {
    const verdict = await rig({
      asker: async ({ call }) => {
        Object.assign(call.input, { command: EVIL });
        return { behavior: 'allow' };
      },
    }).call('Bash', { command: 'npm test' });
    expect(verdict.kind).toBe('refused');
  });

  it('is refused where it is code that answers reads', async () => {
    await expect(rig().call('Bash', turncoat(1))).rejects.toThrow('is code, not a value');
  });

  it.each([0, 1, 2, 3, 6])('is refused as part of an answer, after %i reads', async (reads) => {
    const asker = async () => ({ behavior: 'allow', updatedInput: turncoat(reads) }) as const;
    const verdict = await rig({ asker }).call('Bash', { command: 'npm run x' });
    expect(verdict).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is code, not a value'),
    });
  });

  it('is judged as it was given where it came with an answer', async () => {
    const updatedInput = { command: 'npm run y' };
    const asker = async () => {
      queueMicrotask(() => queueMicrotask(() => Object.assign(updatedInput, { command: EVIL })));
      return { behavior: 'allow', updatedInput } as const;
    };
    const verdict = await rig({ asker }).call('Bash', { command: 'npm run x' });
    if (verdict.kind === 'allowed') expect(verdict.input.command).not.toBe(EVIL);
    Object.assign(updatedInput, { command: EVIL });
    if (verdict.kind === 'allowed') expect(verdict.input.command).not.toBe(EVIL);
  });

  it('is judged as it was given where a hook gave it', async () => {
    const wanted = { command: 'npm run y' };
    const precheck: Precheck = async (view, { retarget }) => {
      const next = await retarget(wanted);
      return { view: 'invalid' in next ? view : next, trace: [] };
    };
    const verdict = await rig({
      precheck,
      asker: async () => {
        wanted.command = EVIL;
        return { behavior: 'allow' };
      },
    }).call('Bash', { command: 'npm test' });
    expect(verdict).toMatchObject({ kind: 'allowed', input: { command: 'npm run y' } });
  });
});
