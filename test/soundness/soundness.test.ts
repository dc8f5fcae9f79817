import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observerUnavailable } from './observe.js';
import { openSoundness, runSoundness, type Soundness } from './soundness.js';

/** The same commands for everybody; SOUNDNESS_SEED looks at others. */
const SEED = Number(process.env.SOUNDNESS_SEED ?? 20_261_118);
const COMMANDS = 300;

const missing = observerUnavailable();

describe.skipIf(missing !== undefined)(
  `real programs under strace${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let soundness: Soundness;
    beforeAll(() => {
      soundness = openSoundness();
    });
    afterAll(() => soundness.close());

    it.each([
      [['cat', 'a.txt'], []],
      [['sort', '-o', 'out.txt', 'a.txt'], []],
      [['rm', '-r', 'sub'], []],
      [['python3', 'x.py'], undefined],
    ])('do what the model says of %j', async (argv, misses) => {
      expect(await soundness.check(argv)).toEqual(misses);
    });

    it('read, write, delete, run and reach nothing that the model did not foretell', async () => {
      const figures = await runSoundness(soundness, { seed: SEED, commands: COMMANDS });
      expect(figures.misses.join('\n')).toBe('');
      expect(figures.claimed).toBe(COMMANDS);
    }, 180_000);
  },
);
