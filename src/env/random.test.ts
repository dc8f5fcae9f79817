import { describe, expect, it } from 'vitest';
import { randomBytes, randomUuid } from './random.js';

describe('random', () => {
  it('makes version 4 UUIDs that do not repeat', () => {
    const made = Array.from({ length: 5000 }, randomUuid);
    expect(new Set(made).size).toBe(5000);
    for (const uuid of made) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('gives as many bytes as asked for, also more than it keeps', () => {
    expect(randomBytes(5)).toHaveLength(5);
    expect(randomBytes(5000)).toHaveLength(5000);
    expect(randomBytes(64).equals(randomBytes(64))).toBe(false);
  });
});
