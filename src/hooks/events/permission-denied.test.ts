import { afterAll, describe, expect, it } from 'vitest';
import { fakeHooks, type Says } from '../../../test/support/fake-hooks.js';
import { gateRig, type RigOptions, standIn } from '../../../test/support/gate-rig.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { makeTempProject } from '../../testing/temp-project.js';
import { createDenialHooks } from './permission-request.js';

const project = makeTempProject();
afterAll(() => project.remove());

const ifRule = () => async () => true;

/** Refuses a call and tells the hooks of it. */
async function refuse(says: Says, options: Partial<RigOptions> = {}) {
  const { dispatch, fired } = fakeHooks('PermissionDenied', { retry: says });
  const input = { command: 'npm test' };
  const gate = gateRig({ cwd: project.directory, home: project.home, ...options });
  const verdict = await gate.call('Bash', input);
  const tool = standIn('Bash');
  const workspace = { cwd: project.directory, roots: [project.directory], setCwd: () => undefined };
  const call = {
    toolUseId: 'toolu_1',
    tool,
    input,
    subject: tool.subject(input, workspace),
    agent: MAIN_AGENT,
    workspace,
    signal: new AbortController().signal,
  };
  return { fired, ...(await createDenialHooks(dispatch, { ifRule })(call, verdict)) };
}

const watch: Says = () => ({});

describe('PermissionDenied hooks', () => {
  it('hear of what the mode refused, and why', async () => {
    const { fired, hint } = await refuse(watch, { mode: 'plan' });
    expect(hint).toBeUndefined();
    expect(fired).toMatchObject([
      {
        mode: 'plan',
        fields: {
          tool_name: 'Bash',
          tool_input: { command: 'npm test' },
          tool_use_id: 'toolu_1',
          reason: expect.stringContaining('npm'),
        },
      },
    ]);
  });

  it('do not hear of what a rule, a person or a hook refused or nobody allowed, nor of what ran', async () => {
    for (const options of [
      { deny: ['Bash'] },
      { asker: async () => ({ behavior: 'deny', message: 'no' }) as const },
      { guards: [{ name: 'g', onFailure: 'deny', decide: async () => ({ decision: 'deny' }) }] },
      { allow: ['Bash'] },
      {},
      { mode: 'dontAsk' },
    ] satisfies Partial<RigOptions>[]) {
      expect((await refuse(watch, options)).fired).toEqual([]);
    }
  });

  it('can tell the model to try again, which changes nothing about the refusal', async () => {
    const { hint } = await refuse(() => ({ answer: { fields: { retry: true } } }), {
      mode: 'plan',
    });
    expect(hint).toContain('retry says that this call may be tried again');
    for (const retry of [false, 'true', 1]) {
      const unmoved = await refuse(() => ({ answer: { fields: { retry } } }), { mode: 'plan' });
      expect(unmoved.hint).toBeUndefined();
    }
  });
});
