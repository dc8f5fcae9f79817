import { describe, expect, it } from 'vitest';
import { eventHooks, scene } from '../../../test/support/event-hooks.js';
import { createAttention, createNotificationHooks, type Notification } from './notification.js';

describe('Notification hooks', () => {
  it('are told by type, without being waited for', async () => {
    const rig = eventHooks({ Notification: [{ matcher: 'auth_success', decision: 'deny' }] });
    const hooks = createNotificationHooks(rig);
    hooks.notify({ type: 'auth_success', message: 'hello', title: 'T' }, scene);
    hooks.notify({ type: 'idle_prompt', message: 'waiting' }, scene);
    await hooks.close();
    expect(rig.fired.map(({ occasion }) => occasion.fields)).toEqual([
      { message: 'hello', title: 'T', notification_type: 'auth_success' },
    ]);
    expect(rig.told).toEqual([]);
  });

  it('have no title where there is none', async () => {
    const rig = eventHooks({ Notification: [{}] });
    const hooks = createNotificationHooks(rig);
    hooks.notify({ type: 'idle_prompt', message: 'waiting' }, scene);
    await hooks.close();
    expect(rig.fired[0]?.occasion.fields).not.toHaveProperty('title');
  });
});

describe('attention', () => {
  const open = () => {
    const sent: Notification[] = [];
    const timers = new Map<number, { ms: number; run: () => void }>();
    let next = 0;
    const attention = createAttention({
      notify: (notification) => void sent.push(notification),
      later(ms, run) {
        const id = next++;
        timers.set(id, { ms, run });
        return () => timers.delete(id);
      },
    });
    const ring = (): void => {
      for (const [id, { run }] of [...timers]) {
        timers.delete(id);
        run();
      }
    };
    return { attention, sent, timers, ring };
  };

  it('is called for when a question or the session has waited', () => {
    const { attention, sent, timers, ring } = open();
    attention.asked('May Bash run?', 'Permission');
    attention.idle('Waiting for your input');
    expect([...timers.values()].map(({ ms }) => ms)).toEqual([6_000, 60_000]);
    ring();
    expect(sent).toEqual([
      { type: 'permission_prompt', message: 'May Bash run?', title: 'Permission' },
      { type: 'idle_prompt', message: 'Waiting for your input', title: undefined },
    ]);
  });

  it('is not called for when the answer came before; twice answered is fine', () => {
    const { attention, sent, timers, ring } = open();
    const first = attention.asked('one');
    const second = attention.asked('two');
    first();
    first();
    expect(timers.size).toBe(1);
    ring();
    second();
    expect(sent.map(({ message }) => message)).toEqual(['two']);
  });

  it('is not called for after the close', () => {
    const { attention, sent, timers, ring } = open();
    attention.asked('one');
    attention.idle('two');
    attention.close();
    expect(timers.size).toBe(0);
    ring();
    expect(sent).toEqual([]);
  });

  it('counts real time without anybody else', async () => {
    const message = await new Promise<string>((resolve) => {
      const hold = setInterval(() => {}, 1_000);
      const attention = createAttention({
        afterMs: 1,
        notify: (notification) => {
          clearInterval(hold);
          resolve(notification.message);
        },
      });
      attention.asked('cancelled')();
      attention.asked('kept');
    });
    expect(message).toBe('kept');
  });
});
