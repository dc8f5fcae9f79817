// Writes the decisions of this version for all frozen command lines: `node scripts/frozen.mjs freeze`.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { DECISIONS_FILE, frozenCommands } from './corpus.js';
import { type Decision, openFrozenJudge } from './judge.js';
import { FROZEN_RULE_SETS } from './rule-sets.js';

/** What takes longer goes through directories of this machine. */
const SLOW_MS = 400;

const judge = openFrozenJudge();
const commands = frozenCommands();
const rows: (Decision | '-')[][] = FROZEN_RULE_SETS.map(() => []);
for (const command of commands) {
  const begun = performance.now();
  const decisions = await judge.decide(command);
  const isSlow = performance.now() - begun > SLOW_MS;
  decisions.forEach((decision, at) => void rows[at]?.push(isSlow ? '-' : decision));
}
judge.close();
const digest = createHash('sha256').update(JSON.stringify(commands)).digest('hex');
writeFileSync(DECISIONS_FILE, `${[digest, ...rows.map((row) => row.join(''))].join('\n')}\n`);
for (const [at, { name }] of FROZEN_RULE_SETS.entries()) {
  const count = (decision: string): number =>
    rows[at]?.filter((one) => one === decision).length ?? 0;
  process.stdout.write(
    `${name}: ${count('a')} allowed, ${count('k')} asked, ${count('d')} denied, ${count('-')} left out\n`,
  );
}
