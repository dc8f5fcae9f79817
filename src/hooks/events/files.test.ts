import { describe, expect, it } from 'vitest';
import { type EventHook, eventHooks, scene } from '../../../test/support/event-hooks.js';
import type { FileWatcherDeps } from '../../platform/fs/watch-files.js';
import { createBackgroundRounds } from '../dispatch/scene.js';
import type { HookEventName } from '../registry/hook.js';
import { createWatchHooks } from './files.js';

const open = (
  scripts: Partial<Record<HookEventName, readonly EventHook[]>>,
  matchers: readonly (string | undefined)[] = [],
) => {
  const rig = eventHooks(scripts);
  const sets: (readonly string[])[] = [];
  let watcher: FileWatcherDeps | undefined;
  let isClosed = false;
  const background = createBackgroundRounds(rig);
  const hooks = createWatchHooks({
    ...rig,
    background,
    matchers: () => matchers,
    projectDir: '/project',
    scene: () => scene,
    openWatcher: (deps) => {
      watcher = deps;
      return {
        set: (paths) => void sets.push([...paths]),
        close: () => {
          isClosed = true;
        },
      };
    },
  });
  const fields = (event: HookEventName) =>
    rig.fired.filter((one) => one.event === event).map(({ occasion }) => occasion.fields);
  return {
    ...rig,
    hooks,
    async close() {
      hooks.close();
      await background.close();
    },
    sets,
    fields,
    change: (path: string, event: 'change' | 'add' | 'unlink') => watcher?.onChange(path, event),
    isOpen: () => watcher !== undefined && !isClosed,
  };
};

describe('FileChanged hooks', () => {
  it('are the only reason to watch anything', () => {
    const { hooks, isOpen } = open({}, ['.env']);
    hooks.refresh();
    hooks.watch(['/a'], '/there');
    expect(isOpen()).toBe(false);
  });

  it('watch the names in their matchers and the paths that hooks asked for', () => {
    const { hooks, sets } = open({ FileChanged: [{}] }, [
      '.env | .envrc',
      '.env',
      undefined,
      '*',
      '.*\\.py',
      'src/x',
      '..',
    ]);
    hooks.refresh();
    expect(sets.at(-1)).toEqual(['/project/.env', '/project/.envrc']);
    hooks.watch(['/abs/file', 'relative'], '/there/sub');
    expect(sets.at(-1)).toEqual([
      '/project/.env',
      '/project/.envrc',
      '/abs/file',
      '/there/sub/relative',
    ]);
    const before = sets.length;
    hooks.watch(['/abs/file'], '/there');
    expect(sets).toHaveLength(before);
  });

  it('are told what happened, matched by the name of the file, and may watch more', async () => {
    const { hooks, close, change, sets, fired, told } = open(
      {
        FileChanged: [
          { matcher: '.env', fields: { watchPaths: ['/more', 'here'] } },
          { matcher: '.env', label: 'b', decision: 'deny', reason: 'oh' },
        ],
      },
      ['.env'],
    );
    hooks.refresh();
    change('/project/.env', 'add');
    change('/project/other', 'change');
    await close();
    expect(fired.map(({ occasion }) => [occasion.matched, occasion.fields])).toEqual([
      [['.env'], { file_path: '/project/.env', event: 'add' }],
    ]);
    expect(told[0]).toContain('b said no: oh');
    expect(sets).toEqual([['/project/.env']]);
  });

  it('that want more watched get it while the session lasts', async () => {
    const { hooks, change, sets } = open({ FileChanged: [{ fields: { watchPaths: ['/more'] } }] }, [
      '.env',
    ]);
    hooks.refresh();
    change('/project/.env', 'change');
    await new Promise(setImmediate);
    expect(sets.at(-1)).toEqual(['/project/.env', '/more']);
  });

  it('hear of what happens while they run once, afterwards', async () => {
    let finish = (): void => {};
    const after = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { hooks, close, change, fields } = open({ FileChanged: [{ after }] }, ['a']);
    hooks.refresh();
    change('/a', 'change');
    change('/a', 'unlink');
    change('/a', 'add');
    change('/a', 'change');
    change('/b', 'add');
    change('/b', 'add');
    change('/b', 'unlink');
    expect(fields('FileChanged')).toHaveLength(2);
    finish();
    while (fields('FileChanged').length < 3) await new Promise(setImmediate);
    await close();
    expect(fields('FileChanged')).toEqual([
      { file_path: '/a', event: 'change' },
      { file_path: '/b', event: 'add' },
      { file_path: '/a', event: 'change' },
    ]);
  });

  it('hear nothing after the close', async () => {
    const { hooks, close, change, fired, isOpen } = open({ FileChanged: [{}] }, ['a']);
    hooks.refresh();
    await close();
    expect(isOpen()).toBe(false);
    change('/project/a', 'change');
    hooks.watch(['/b'], '/');
    hooks.refresh();
    expect(fired).toEqual([]);
  });
});

describe('CwdChanged hooks', () => {
  const moved = { old_cwd: '/there', new_cwd: '/there/sub' };

  it('replace what hooks asked for, and leave it when they name no paths', async () => {
    const script: EventHook[] = [{ fields: { watchPaths: ['near', '/far'] } }];
    const { hooks, sets, fields } = open({ FileChanged: [{}], CwdChanged: script }, ['.env']);
    hooks.refresh();
    hooks.watch(['/old'], '/');
    await hooks.cwdChanged(moved, scene);
    expect(sets.at(-1)).toEqual(['/project/.env', '/there/sub/near', '/far']);
    expect(fields('CwdChanged')).toEqual([moved]);
    script[0] = {};
    const before = sets.length;
    await hooks.cwdChanged(moved, scene);
    expect(sets).toHaveLength(before);
    script[0] = { fields: { watchPaths: [] } };
    await hooks.cwdChanged(moved, scene);
    expect(sets.at(-1)).toEqual(['/project/.env']);
  });

  it('are not asked when nothing moved or there are none', async () => {
    const { hooks, fired } = open({ CwdChanged: [{}] });
    await hooks.cwdChanged({ old_cwd: '/a', new_cwd: '/a' }, scene);
    await open({}).hooks.cwdChanged(moved, scene);
    expect(fired).toEqual([]);
  });

  it('cannot hold the move up', async () => {
    const { hooks, told } = open({ CwdChanged: [{ decision: 'deny', reason: 'stay' }] });
    await hooks.cwdChanged(moved, scene);
    expect(told[0]).toContain('stay');
  });
});
