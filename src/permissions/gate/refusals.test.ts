import { describe, expect, it } from 'vitest';
import { standIn } from '../../../test/support/gate-rig.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createWorkspace } from '../../tools/workspace.js';
import { createRefusals } from './refusals.js';
import type { Gate, GateCall, GateVerdict } from './types.js';

const workspace = createWorkspace(['/p']);

function callOf(name: string, input: Record<string, unknown>, agent = MAIN_AGENT): GateCall {
  const tool = standIn(name);
  return {
    toolUseId: 't',
    tool,
    input,
    subject: tool.subject(input, workspace),
    agent,
    workspace,
    signal: new AbortController().signal,
  };
}

function refusing(decidedBy = 'nobody to ask', kind: 'refused' | 'allowed' = 'refused'): Gate {
  return async (call) =>
    ({
      kind,
      message: 'No.',
      interrupt: false,
      receipt: {
        toolUseId: 't',
        tool: call.tool.name,
        agent: 'main',
        decision: 'deny',
        decidedBy,
        reason: 'nothing allows it',
        trace: [],
        input: call.input,
        mode: 'default',
      },
    }) as unknown as GateVerdict;
}

function watched(gate: Gate = refusing()) {
  const refusals = createRefusals({ monotonic: () => 0 });
  const watch = refusals.watch(gate);
  const bash = async (command: string): Promise<string> => {
    for (const path of ['main', 'main/x#1']) refusals.nextAnswer(path);
    const verdict = await watch(callOf('Bash', { command }));
    return verdict.kind === 'refused' ? verdict.message : 'ran';
  };
  return { refusals, watch, bash };
}

describe('refusals of the same need', () => {
  it('end it with the reason that a model may read', async () => {
    const gate: Gate = async (call) => {
      const verdict = await refusing()(call);
      return { ...verdict, reasonForModel: 'it has changed' } as GateVerdict;
    };
    const { refusals, bash } = watched(gate);
    for (let time = 0; time < 6; time++) await bash('touch a');
    const said = refusals.stuck('main');
    expect(said).toContain('it has changed');
    expect(said).not.toContain('nothing allows it');
  });

  it('tells the model to stop after three, and ends it after six', async () => {
    const { refusals, bash } = watched();
    expect(await bash('touch a')).toBe('No.');
    expect(await bash('touch a')).toBe('No.');
    expect(await bash('touch b')).toBe('No.');
    expect(await bash('touch   a')).toContain('refusal 3 of the same need');
    await bash('touch a');
    await bash('touch a');
    expect(refusals.stuck('main')).toBeUndefined();
    expect(await bash('touch a')).toContain('refusal 6');
    expect(refusals.stuck('main')).toContain('Bash was refused 6 times');
    expect(refusals.stuck('main/x#1')).toBeUndefined();
  });

  it('keeps needs apart: subcommands, files, hosts, agents', async () => {
    const { refusals, watch } = watched();
    const child = { ...MAIN_AGENT, path: 'main/x#1' };
    const calls = [
      callOf('Bash', { command: 'git push' }),
      callOf('Bash', { command: 'git commit' }),
      callOf('Write', { file_path: 'a' }),
      callOf('Write', { file_path: 'b' }),
      callOf('WebFetch', { url: 'https://a.example/x' }),
      callOf('WebFetch', { url: 'https://b.example/x' }),
      callOf('Bash', { command: 'git push' }, child),
    ];
    for (let round = 0; round < 2; round++) {
      for (const path of ['main', 'main/x#1']) refusals.nextAnswer(path);
      for (const call of calls) {
        const verdict = await watch(call);
        expect(verdict).toMatchObject({ message: 'No.' });
      }
    }
    for (const path of ['main', 'main/x#1']) refusals.nextAnswer(path);
    expect(await watch(callOf('WebFetch', { url: 'https://a.example/y' }))).toMatchObject({
      message: expect.stringContaining('refusal 3'),
    });
  });

  it('keeps calls apart that name neither command, file nor host', async () => {
    const { refusals, watch } = watched();
    for (let at = 0; at < 9; at++) {
      refusals.nextAnswer('main');
      await watch(callOf('Skill', { skill: `s${at}` }));
    }
    expect(refusals.stuck('main')).toBeUndefined();
    for (let at = 0; at < 6; at++) {
      refusals.nextAnswer('main');
      await watch(callOf('Skill', { skill: 's' }));
    }
    expect(refusals.stuck('main')).toContain('Skill was refused 6 times');
  });

  it('counts the calls of one model answer once', async () => {
    const { refusals, watch } = watched();
    for (const path of ['main', 'main/x#1']) refusals.nextAnswer(path);
    for (let index = 0; index < 10; index++) {
      expect(await watch(callOf('Bash', { command: `touch ${index}` }))).toMatchObject({
        message: 'No.',
      });
    }
    expect(refusals.stuck('main')).toBeUndefined();
  });

  it('starts anew with a prompt', async () => {
    const { refusals, bash } = watched();
    for (let index = 0; index < 6; index++) await bash('touch x');
    refusals.beginTurn('main');
    expect(refusals.stuck('main')).toBeUndefined();
    expect(await bash('touch x')).toBe('No.');
  });

  it('does not count the noes of somebody who is there', async () => {
    const { refusals, bash } = watched(refusing('asker'));
    for (let index = 0; index < 8; index++) expect(await bash('touch x')).toBe('No.');
    expect(refusals.stuck('main')).toBeUndefined();
  });
});
