import { describe, expect, it } from 'vitest';
import { History } from './history.js';
import { Points } from './points.js';

/** Two messages at the times 1000 and 2000. */
function marked(): Points {
  const history = new History();
  const log = {
    history,
    gaps: [],
    append: history.add.bind(history),
    catchUp: () => Promise.resolve([]),
    close: () => {},
  };
  let now = 0;
  const points = new Points(log);
  for (const messageId of ['first', 'second']) {
    now += 1_000;
    points.mark({ messageId, title: 'x', at: now }, { kind: 'ready', files: 0, gaps: [] });
  }
  points.settle(0);
  return points;
}

const turnOf = (at: number | undefined, atLeast = -1): string | undefined =>
  marked().turnOf({ at, atLeast });

describe('the turn of a change', () => {
  it('is that of the newest message before it', () => {
    expect(turnOf(1_500)).toBe('first');
    expect(turnOf(2_500)).toBe('second');
    expect(turnOf(undefined)).toBe('first');
  });

  it('is the earlier one when the clocks do not tell which of the two was first', () => {
    for (const at of [2_000, 2_000.3, 2_000.999]) expect(turnOf(at)).toBe('first');
    expect(turnOf(2_001)).toBe('second');
  });

  it('is that of the call that made it, whatever the clocks tell', () => {
    expect(turnOf(2_000.3, 1)).toBe('second');
  });
});
