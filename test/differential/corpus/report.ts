// Prints what changed since the corpus was frozen: `node scripts/frozen.mjs report [stride]`.
import { compareWithFrozen } from './compare.js';

const stride = Number(process.argv[3] ?? 1);
const { compared, loosened, tightened } = await compareWithFrozen({ stride });
const line = ({ ruleSet, command }: (typeof loosened)[number]): string =>
  `${ruleSet}\t${JSON.stringify(command)}`;
for (const one of loosened) process.stdout.write(`LOOSER ${one.before}${one.now} ${line(one)}\n`);
for (const one of tightened)
  process.stdout.write(`stricter ${one.before}${one.now} ${line(one)}\n`);
process.stdout.write(
  `${compared} decisions: ${loosened.length} loosened, ${tightened.length} tightened\n`,
);
