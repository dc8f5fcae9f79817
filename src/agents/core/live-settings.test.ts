import { describe, expect, it } from 'vitest';
import type { LiveSettingsDeps } from '../../settings/files/watch.js';
import { type LiveSessionSettings, openLiveSessionSettings, sharedLook } from './live-settings.js';
import type { Parts } from './session-parts.js';

describe('one look for all who ask', () => {
  it('is shared before it begins, and is another one for who asks during it', async () => {
    const ends: (() => void)[] = [];
    let begun = 0;
    const look = sharedLook(() => {
      begun++;
      return new Promise((resolve) => ends.push(resolve));
    });
    const first = look();
    expect(look()).toBe(first);
    await Promise.resolve();
    expect(begun).toBe(1);
    const second = look();
    expect(second).not.toBe(first);
    expect(look()).toBe(second);
    ends[0]?.();
    await first;
    expect(begun).toBe(2);
    ends[1]?.();
    await second;
    expect(begun).toBe(2);
  });

  it('goes on after one that failed', async () => {
    let begun = 0;
    const look = sharedLook(async () => {
      if (++begun === 1) throw new Error('no');
    });
    await expect(look()).rejects.toThrow('no');
    await look();
    expect(begun).toBe(2);
  });
});

describe('a call of the host while a hook is asked about a change', () => {
  it('does not wait for that hook', async () => {
    let given: Pick<LiveSettingsDeps, 'veto'> = {};
    const environment = {
      watch(deps: Pick<LiveSettingsDeps, 'veto'>) {
        given = deps;
        return { refresh: async () => void (await given.veto?.([])) };
      },
    } as unknown as Parameters<typeof openLiveSessionSettings>[0];
    const asked: string[] = [];
    const instructions = { refresh: async () => void asked.push('instructions') };
    const rules: LiveSessionSettings = openLiveSessionSettings(
      environment,
      { instructions } as unknown as Parts,
      {
        async veto() {
          asked.push('hook');
          await rules.refreshForHost();
          return undefined;
        },
        refreshWatch: () => undefined,
      },
    );
    await rules.refreshForHost();
    expect(asked).toEqual(['hook', 'instructions']);
  });
});
