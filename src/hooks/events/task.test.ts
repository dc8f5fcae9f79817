import { describe, expect, it } from 'vitest';
import {
  type EventHook,
  eventHooks,
  FAILED_OPEN,
  scene,
} from '../../../test/support/event-hooks.js';
import { taskCompleted, taskCreated } from './agent.js';

const TASK = { id: '3', subject: 'tidy up', description: 'all of it', teammateName: 'ann' };

const ask = async (
  event: 'TaskCreated' | 'TaskCompleted',
  hooks: readonly EventHook[],
): Promise<string | undefined> => {
  const rig = eventHooks({ [event]: hooks });
  return event === 'TaskCreated' ? taskCreated(rig, TASK, scene) : taskCompleted(rig, TASK, scene);
};

describe('task hooks', () => {
  it('are not asked when there are none', async () => {
    expect(await ask('TaskCreated', [])).toBeUndefined();
    expect(await ask('TaskCompleted', [])).toBeUndefined();
  });

  it('read the task, without what it has not', async () => {
    const rig = eventHooks({ TaskCreated: [{}], TaskCompleted: [{}] });
    await taskCreated(rig, TASK, scene);
    await taskCompleted(rig, { id: '1', subject: 's' }, scene);
    expect(rig.fired.map(({ event, occasion }) => [event, occasion.fields])).toEqual([
      [
        'TaskCreated',
        {
          task_id: '3',
          task_subject: 'tidy up',
          task_description: 'all of it',
          teammate_name: 'ann',
        },
      ],
      ['TaskCompleted', { task_id: '1', task_subject: 's' }],
    ]);
  });

  it('object in words, each of them', async () => {
    const noes: readonly EventHook[] = [
      { label: 'a', decision: 'deny', reason: 'too vague' },
      {},
      { label: 'b', decision: 'deny' },
    ];
    expect(await ask('TaskCreated', noes)).toBe('a said no: too vague\nb said no');
    expect(await ask('TaskCompleted', noes)).toBe('a said no: too vague\nb said no');
  });

  it('stop a completion by continue:false, but no creation', async () => {
    const stops: readonly EventHook[] = [{ label: 'a', stop: 'enough' }];
    expect(await ask('TaskCreated', stops)).toBeUndefined();
    expect(await ask('TaskCompleted', stops)).toBe('a wants everything to stop: enough');
  });

  it('let things pass by failing', async () => {
    expect(await ask('TaskCreated', [FAILED_OPEN])).toBeUndefined();
    expect(await ask('TaskCompleted', [FAILED_OPEN])).toBeUndefined();
  });
});
