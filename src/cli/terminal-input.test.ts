import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onDoubleEscape } from './terminal-input.js';

function pressed(
  keys: readonly { readonly name: string; readonly meta?: boolean; readonly at: number }[],
) {
  const emitter = new EventEmitter();
  let time = 0;
  let calls = 0;
  onDoubleEscape(
    emitter,
    () => calls++,
    () => time,
  );
  for (const { at, ...key } of keys) {
    time = at;
    emitter.emit('keypress', undefined, key);
  }
  return calls;
}

describe('two presses of Escape', () => {
  it('count when they come together', () => {
    expect(pressed([{ name: 'escape', meta: true, at: 0 }])).toBe(1);
    expect(
      pressed([
        { name: 'escape', at: 0 },
        { name: 'escape', at: 900 },
      ]),
    ).toBe(1);
  });

  it('do not count when they are apart, or something was typed between them', () => {
    expect(
      pressed([
        { name: 'escape', at: 0 },
        { name: 'escape', at: 1_500 },
      ]),
    ).toBe(0);
    expect(
      pressed([
        { name: 'escape', at: 0 },
        { name: 'a', at: 10 },
        { name: 'escape', at: 20 },
      ]),
    ).toBe(0);
  });
});
