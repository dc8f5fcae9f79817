import { describe, expect, it } from 'vitest';
import {
  type EventHook,
  eventHooks,
  FAILED_OPEN,
  scene,
} from '../../../test/support/event-hooks.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { subagentStart, teammateIdle } from './agent.js';

const CHILD: AgentRef = {
  id: 'a7',
  type: 'reviewer',
  path: 'main/reviewer#1',
  depth: 1,
  background: false,
};

describe('SubagentStart hooks', () => {
  it('give the agent context and cannot keep it from starting', async () => {
    const rig = eventHooks({
      SubagentStart: [
        { matcher: 'reviewer', context: 'be kind', text: 'not for the model' },
        { label: 'b', decision: 'deny', reason: 'no agents' },
        { stop: 'halt' },
      ],
    });
    const started = await subagentStart(rig, { ...scene, agent: CHILD });
    expect(started).toEqual({ contexts: ['be kind'] });
    expect(rig.fired).toMatchObject([
      { occasion: { agent: CHILD, fields: { agent_id: 'a7', agent_type: 'reviewer' } } },
    ]);
    expect(rig.told).toHaveLength(2);
    expect(rig.told[0]).toContain('b said no: no agents');
  });

  it('are not asked about other types', async () => {
    const rig = eventHooks({ SubagentStart: [{ matcher: 'planner', context: 'x' }] });
    const started = await subagentStart(rig, { ...scene, agent: CHILD });
    expect(started).toEqual({ contexts: [] });
    expect(rig.fired).toEqual([]);
  });
});

describe('TeammateIdle hooks', () => {
  const idle = (hooks: readonly EventHook[]) =>
    teammateIdle(
      eventHooks({ TeammateIdle: hooks }),
      { teammate_name: 'ann', team_name: 'blue' },
      scene,
    );

  it.each<[string, readonly EventHook[], object]>([
    ['nobody', [], {}],
    ['no opinion', [{}], {}],
    ['a failure', [FAILED_OPEN], {}],
    ['a no', [{ label: 'a', decision: 'deny', reason: 'tests' }], { keepWorking: 'tests (a)' }],
    ['a stop', [{ stop: 'budget' }], { stop: 'budget' }],
    ['a stop beside a no', [{ decision: 'deny', reason: 'x' }, { stop: 'y' }], { stop: 'y' }],
    ["a model's no that ends", [{ decision: 'deny', reason: 'z', endsTurn: true }], { stop: 'z' }],
  ])('with %s', async (_name, hooks, verdict) => {
    expect(await idle(hooks)).toEqual(verdict);
  });
});
