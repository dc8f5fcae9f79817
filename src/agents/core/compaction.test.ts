import { describe, expect, it } from 'vitest';
import type { CompactEnvironment } from '../../context/compaction/trigger.js';
import type { ModelRequest } from '../../model/client.js';
import { Compaction, type CompactionParts } from './compaction.js';

const SMALL = { contextWindow: 100, maxOutput: 10 };
const LARGE = { contextWindow: 200_000, maxOutput: 10 };

/** A request of about this many tokens. */
const request = (tokens: number): ModelRequest => ({
  model: 'm',
  system: [],
  tools: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(tokens * 4) }] }],
  maxTokens: 10,
});

function compaction(window: CompactionParts['window'], env: CompactEnvironment = {}) {
  return new Compaction({
    window,
    env: () => env,
  } as Partial<CompactionParts> as CompactionParts);
}

describe('whether a history is to be shortened', () => {
  it('goes by the window of the model in use, also when that is another one by now', () => {
    let window = LARGE;
    const one = compaction(() => window);
    expect(one.isDue(request(90))).toBe(false);
    window = SMALL;
    expect(one.isDue(request(90))).toBe(true);
    window = LARGE;
    expect(one.isDue(request(90))).toBe(false);
  });

  it('is said at the limit and not before', () => {
    // 100 tokens less 10 for an answer and 10 as buffer; each block counts 4 tokens and the lists 1.
    const one = compaction(() => SMALL);
    expect(one.isDue(request(74))).toBe(false);
    expect(one.isDue(request(75))).toBe(true);
  });

  it.each(['DISABLE_COMPACT', 'DISABLE_AUTO_COMPACT'])('is never said with %s', (name) => {
    const one = compaction(() => SMALL, { [name]: '1' });
    expect(one.isDue(request(9_000))).toBe(false);
  });
});
