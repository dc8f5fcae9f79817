import { describe, expect, it } from 'vitest';
import { encodeFrame, MAX_FRAME_BYTES } from './wire.js';

describe('a frame that is too long', () => {
  it('is cut between characters, never inside one', () => {
    for (const before of ['', 'x']) {
      const line = encodeFrame(
        { type: 'user', text: before + '😀'.repeat(400_000) },
        MAX_FRAME_BYTES,
      );
      expect(line).toContain('more characters]');
      expect(line).not.toMatch(/\\ud[89ab]/i);
      expect(JSON.parse(line).text.isWellFormed()).toBe(true);
    }
  });
});
