import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareGenerated, type Equivalence, noFigures, openEquivalence } from './equivalence.js';
import { jailUnavailable } from './jail.js';

/** The same scripts for everybody; DIFFERENTIAL_SEED looks at others. */
const SEED = Number(process.env.DIFFERENTIAL_SEED ?? 20_261_118);
const SCRIPTS = 200;
/** One in this many of the corpus. */
const SHARE = 40;

const missing = jailUnavailable();

describe.skipIf(missing !== undefined)(
  `canonical forms in real bash${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let equivalence: Equivalence;
    beforeAll(() => {
      equivalence = openEquivalence();
    });
    afterAll(() => equivalence.close());

    it('do the same as generated scripts', async () => {
      const figures = await compareGenerated(equivalence, { seed: SEED, scripts: SCRIPTS });
      expect(figures.differ.join('\n')).toBe('');
      expect(figures.same + figures.reordered).toBeGreaterThan(SCRIPTS / 4);
    }, 120_000);

    it('do the same as the command lines of the security tests', async () => {
      const figures = noFigures();
      const texts = readFileSync(new URL('corpus/commands.txt', import.meta.url), 'utf8');
      const lines = texts.split('\n').filter((line) => line !== '');
      for (const line of lines.filter((_, at) => at % SHARE === 0)) {
        await equivalence.compare(JSON.parse(line), figures);
      }
      expect(figures.differ.join('\n')).toBe('');
      expect(figures.rendered).toBeGreaterThan(figures.scripts * 0.8);
    }, 120_000);
  },
);
