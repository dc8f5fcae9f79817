import { describe, expect, it } from 'vitest';
import { eventHooks, scene } from '../../../test/support/event-hooks.js';
import { createBackgroundRounds } from './scene.js';

describe('rounds in the background', () => {
  it('run a few at a time, in order, all of them', async () => {
    const log: string[] = [];
    const rounds = createBackgroundRounds({ tell: () => {}, most: 2 });
    let running = 0;
    let highest = 0;
    for (let n = 0; n < 7; n++) {
      rounds.run(async () => {
        running += 1;
        highest = Math.max(highest, running);
        log.push(`start ${n}`);
        await new Promise(setImmediate);
        running -= 1;
      });
    }
    await rounds.close();
    expect(highest).toBe(2);
    expect(log).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `start ${n}`));
  });

  it('tell what throws, at once or later, and go on', async () => {
    const told: string[] = [];
    const rounds = createBackgroundRounds({ tell: (text) => void told.push(text) });
    rounds.run(() => {
      throw new Error('at once');
    });
    rounds.run(() => Promise.reject(new Error('later')));
    let isRun = false;
    rounds.run(async () => {
      isRun = true;
    });
    await rounds.close();
    expect(told).toEqual(['a hook could not be run: at once', 'a hook could not be run: later']);
    expect(isRun).toBe(true);
  });

  it('leave out what is too much, and say so once', async () => {
    const told: string[] = [];
    const rounds = createBackgroundRounds({
      tell: (text) => void told.push(text),
      most: 1,
      mostWaiting: 2,
    });
    const taken = Array.from({ length: 6 }, () => rounds.run(() => new Promise(setImmediate)));
    expect(taken).toEqual([true, true, true, false, false, false]);
    expect(told).toHaveLength(1);
    await rounds.close();
    expect(rounds.run(async () => {})).toBe(false);
  });

  it('are over at once when nothing runs', async () => {
    await createBackgroundRounds({ tell: () => {} }).close();
  });
});

describe('hooks in the background', () => {
  const loaded = { fields: { file_path: '/there/CLAUDE.md', title: undefined }, scene };

  it('are asked by what they match, and waited for at the close', async () => {
    let finish = (): void => {};
    const after = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const rig = eventHooks({ InstructionsLoaded: [{ matcher: 'session_start', after }] });
    const rounds = createBackgroundRounds(rig);
    for (const reason of ['session_start', 'include']) {
      rounds.ask(rig.dispatch, 'InstructionsLoaded', { ...loaded, matched: [reason] });
    }
    expect(rig.fired).toMatchObject([{ occasion: { matched: ['session_start'] } }]);
    expect(rig.fired[0]?.occasion.fields).not.toHaveProperty('title');
    let isClosed = false;
    const closing = rounds.close().then(() => {
      isClosed = true;
    });
    await Promise.resolve();
    expect(isClosed).toBe(false);
    finish();
    await closing;
    expect(rig.told).toEqual([]);
  });

  it('are ended when the close has waited long enough', async () => {
    const rig = eventHooks({ Notification: [{ after: new Promise(() => {}) }] });
    const rounds = createBackgroundRounds({ ...rig, closeMs: 1 });
    for (let n = 0; n < 6; n++) rounds.ask(rig.dispatch, 'Notification', loaded);
    await rounds.close();
    expect(rig.fired).toHaveLength(4);
    expect(rig.fired.every(({ occasion }) => occasion.signal.aborted)).toBe(true);
    expect(rig.told).toEqual([
      'hooks were still running 0.001 s after the session ended and were ended, and 2 more were not run',
    ]);
    rounds.ask(rig.dispatch, 'Notification', loaded);
    expect(rig.fired).toHaveLength(4);
  });
});
