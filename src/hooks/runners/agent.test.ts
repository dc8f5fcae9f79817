import { describe, expect, it } from 'vitest';
import { hookOf, JUDGE, requestOf } from '../../../test/hooks/runner-rig.js';
import { err, ok } from '../../lib/result.js';
import { type AgentJudge, type AgentQuestion, createAgentRunner } from './model.js';

const hook = hookOf({ type: 'agent', prompt: 'Judge $ARGUMENTS', model: 'opus' });

describe('an agent hook', () => {
  it('asks the judge with the input, and gives its verdict', async () => {
    const asked: AgentQuestion[] = [];
    const judge: AgentJudge = async (question) => {
      asked.push(question);
      return ok({ ok: false, reason: 'no tests' });
    };
    expect(await createAgentRunner({ judge })(hook, requestOf())).toEqual({
      kind: 'verdict',
      ok: false,
      reason: 'no tests',
    });
    expect(asked[0]).toMatchObject({
      model: 'opus',
      toolUseId: 'toolu_1',
      agent: { path: 'main' },
      prompt: expect.stringContaining('{"hook_event_name":"PreToolUse"'),
    });
  });

  it('passes on why there is no verdict', async () => {
    const judge: AgentJudge = async () => err({ cause: 'no-verdict', message: 'out of turns' });
    expect(await createAgentRunner({ judge })(hook, requestOf())).toEqual({
      kind: 'failed',
      failure: { cause: 'no-verdict', message: 'out of turns' },
    });
  });

  it('fails where no judge can be run, or it breaks', async () => {
    const unavailable = { kind: 'failed', failure: { cause: 'unavailable' } };
    expect(await createAgentRunner({})(hook, requestOf())).toMatchObject(unavailable);
    const judge: AgentJudge = () => Promise.reject(new Error('broken'));
    expect(await createAgentRunner({ judge })(hook, requestOf())).toMatchObject(unavailable);
  });

  it('gives the judge a limited time, and ends it', async () => {
    let given: AbortSignal | undefined;
    const judge: AgentJudge = (_question, signal) => {
      given = signal;
      return new Promise(() => {});
    };
    expect(await createAgentRunner({ judge })(hook, requestOf({ timeoutMs: 20 }))).toMatchObject({
      failure: { cause: 'timeout', message: 'no answer within 0.02 s' },
    });
    expect(given?.aborted).toBe(true);
  });

  it('asks no judge about a judge', async () => {
    const judge: AgentJudge = () => Promise.reject(new Error('asked'));
    expect(await createAgentRunner({ judge })(hook, requestOf({ agent: JUDGE }))).toMatchObject({
      failure: { cause: 'unavailable', message: 'a judge cannot be judged by a judge' },
    });
  });
});
