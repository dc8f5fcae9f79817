import { describe, expect, it } from 'vitest';
import {
  type EventHook,
  eventHooks,
  FAILED,
  FAILED_OPEN,
  scene,
} from '../../../test/support/event-hooks.js';
import type { WatchedPath } from '../../settings/types.js';
import { type ConfigChange, configChangesOf, configObjections } from './config.js';

const PROJECT: ConfigChange = { source: 'project_settings', file_path: '/p/settings.json' };
const POLICY: ConfigChange = { source: 'policy_settings', file_path: '/etc/managed.json' };

const ask = async (hooks: readonly EventHook[], changes: readonly ConfigChange[] = [PROJECT]) => {
  const rig = eventHooks({ ConfigChange: hooks });
  return { ...rig, refusal: await configObjections(rig, changes, scene) };
};

describe('ConfigChange hooks', () => {
  it('are not asked when there are none', async () => {
    const { refusal, fired } = await ask([]);
    expect(refusal).toBeUndefined();
    expect(fired).toEqual([]);
  });

  it('are matched by source, once for each file', async () => {
    const local: ConfigChange = { source: 'local_settings', file_path: '/p/local.json' };
    const { fired } = await ask([{ matcher: 'local_settings' }], [PROJECT, local]);
    expect(fired.map(({ occasion }) => [occasion.matched, occasion.fields])).toEqual([
      [['local_settings'], local],
    ]);
  });

  it.each<[string, EventHook, string]>([
    ['a no', { label: 'a.sh', decision: 'deny', reason: 'frozen' }, 'a.sh said no: frozen'],
    ['a stop', { label: 'a.sh', stop: 'halt' }, 'a.sh wants everything to stop: halt'],
    ['a question', { label: 'a.sh', decision: 'ask' }, 'a.sh wants a person to decide'],
    [
      'a failure',
      FAILED,
      'guard failed: guard.sh gave no verdict (timeout: no answer within 1 s; limit 1 s, used 1.2 s)',
    ],
  ])('refuse by %s', async (_name, hook, text) => {
    const { refusal } = await ask([{}, hook]);
    expect(refusal).toBe(`/p/settings.json: ${text}`);
  });

  it('pass by a yes, by no opinion, and by a failure that is declared harmless', async () => {
    expect((await ask([{ decision: 'allow' }, {}, FAILED_OPEN])).refusal).toBeUndefined();
  });

  it('cannot refuse what an administrator changed, and are heard about all else', async () => {
    const hooks = [FAILED, { label: 'a.sh', decision: 'deny' } as const];
    const alone = await ask(hooks, [POLICY]);
    expect(alone.refusal).toBeUndefined();
    expect(alone.fired).toHaveLength(1);
    expect(alone.told).toHaveLength(2);
    expect(alone.told[1]).toContain('/etc/managed.json: a.sh said no');
    const both = await ask(hooks, [POLICY, PROJECT]);
    expect(both.refusal?.split('\n')).toHaveLength(2);
  });
});

describe('changed settings files', () => {
  it('have the names that hooks know, each once', () => {
    const at = (source: WatchedPath['source'], path = source): WatchedPath => ({
      source,
      path,
      stamp: '',
    });
    const changed = [
      at('managed'),
      at('user'),
      at('project'),
      at('local'),
      at('cli'),
      at('sdk'),
      { ...at('project'), stamp: 'another' },
    ];
    expect(configChangesOf(changed)).toEqual([
      { source: 'policy_settings', file_path: 'managed' },
      { source: 'user_settings', file_path: 'user' },
      { source: 'project_settings', file_path: 'project' },
      { source: 'local_settings', file_path: 'local' },
      { source: 'user_settings', file_path: 'cli' },
      { source: 'user_settings', file_path: 'sdk' },
    ]);
  });
});
