import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../support/counts.js';
import { type Differential, openDifferential, runDifferential } from './differential.js';
import { jailUnavailable } from './jail.js';
import { RULE_SETS } from './rule-sets.js';

/** The same scripts for everybody; DIFFERENTIAL_SEED looks at others. */
const SEED = Number(process.env.DIFFERENTIAL_SEED ?? 20_261_117);
const SCRIPTS = cases(300, 2000);

const missing = jailUnavailable();

describe.skipIf(missing !== undefined)(
  `generated scripts in real bash${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let differential: Differential;
    beforeAll(() => {
      differential = openDifferential();
    });
    afterAll(() => differential.close());

    it.each([
      ['read-only', 'ls; touch P', 'ran "touch P" in project'],
      [
        'read-only',
        'cd sub; cat b.txt; nothing-of-that-name',
        'ran "nothing-of-that-name" in project/sub',
      ],
      ['read-only', 'ls & (touch P &)', 'ran "touch P" in project'],
      ['read-only', 'echo x > a.txt', 'changed project/a.txt'],
      ['read-only', '. ./lib.sh', 'ran code of a file: called-by-a-file'],
      [
        'read-only',
        'read x < ../outside/secret; ls "$x"',
        'handed a file outside the project to ls',
      ],
      ['prefixes', 'find . -name b.txt -delete', 'changed project/b.txt'],
      ['prefixes', 'env -i /usr/bin/rm a.txt', 'ran "/usr/bin/rm a.txt" in project'],
      ['acceptEdits', 'echo x > .git/hooks/new', 'changed project/.git/hooks/new'],
      ['acceptEdits', 'echo x > link/new', 'changed outside/new'],
      ['deny rules', 'head < .env', 'ran "head" in project'],
      ['deny rules', 'bash -c "rm a.txt"', 'ran "rm a.txt" in project'],
    ])('are noticed where %s does not allow what they do: %s', async (ruleSet, script, problem) => {
      const rules = RULE_SETS.filter(({ name }) => name === ruleSet);
      const problems = await differential.compare(script, rules);
      expect(problems.map((found) => found.problem)).toContain(problem);
    });

    it('run nothing and write nothing that the gate did not see when it allowed them', async () => {
      const figures = await runDifferential(differential, { seed: SEED, scripts: SCRIPTS });
      const found = figures.findings.map(
        ({ index, ruleSet, problem, script }) =>
          `script ${index} of seed ${SEED}, ${ruleSet}: ${problem}\n${JSON.stringify(script)}`,
      );
      expect(found.join('\n')).toBe('');
      expect(figures.generated).toBe(SCRIPTS);
      // Without scripts that run, nothing has been compared.
      expect(figures.run).toBeGreaterThan(SCRIPTS / 10);
      expect(Object.keys(figures.allowed)).toHaveLength(4);
    }, 300_000);
  },
);
