import { describe, expect, it } from 'vitest';
import { createAttention, type Notification } from './notification.js';

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
