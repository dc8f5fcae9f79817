import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cases } from '../../support/counts.js';
import { compareWithFrozen } from './compare.js';
import { DECISIONS_FILE, frozenCommands } from './corpus.js';

/** Every nth command line; 1 compares all of them, which takes minutes. */
const STRIDE = Number(process.env.FROZEN_STRIDE ?? cases(92, 23));

describe('frozen decisions', () => {
  it('belong to these command lines', () => {
    const [digest] = readFileSync(DECISIONS_FILE, 'utf8').split('\n', 1);
    const commands = JSON.stringify(frozenCommands());
    expect(createHash('sha256').update(commands).digest('hex')).toBe(digest);
  });

  it('are never loosened: no grant grows and no restriction shrinks, but for listed exceptions', async () => {
    const { compared, loosened } = await compareWithFrozen({ stride: STRIDE });
    expect(compared).toBeGreaterThan(cases(1_200, 5_000));
    const told = loosened.map(
      ({ ruleSet, command, before, now }) =>
        `${before}→${now} ${ruleSet}\t${JSON.stringify(command)}`,
    );
    expect(told.join('\n')).toBe('');
  }, 900_000);
});
