import { expect, it } from 'vitest';
import { closeAll } from './close-all.js';

it('runs every step though some fail, and throws the first failure', async () => {
  const ran: number[] = [];
  const fail = (at: number) => () => {
    ran.push(at);
    throw new Error(`step ${at}`);
  };
  const closing = closeAll([fail(1), async () => ran.push(2), fail(3), () => ran.push(4)]);
  await expect(closing).rejects.toThrow('step 1');
  expect(ran).toEqual([1, 2, 3, 4]);
});
