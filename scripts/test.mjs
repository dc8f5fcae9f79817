// npm test: everything that must hold, in one command, from a fresh clone.
//   npm test                 set-up, checks, build, all tests, and the shared kits where they lie beside us
//   npm test -- src/loop     only the tests below a path
import { ensureBuilt, ensureInstalled, must } from './setup.mjs';
import { ensureSystemPackages } from './system-packages.mjs';
import { runVitest } from './vitest.mjs';

const only = process.argv.slice(2);

ensureInstalled();
ensureSystemPackages(['tmux', 'git', 'bwrap']);
if (only.length === 0) must(process.execPath, ['scripts/check.mjs']);
ensureBuilt({ types: only.length === 0 });
const outcomes = [runVitest(only), ...(only.length === 0 ? await runKits() : [])];
process.exitCode = conclude(outcomes);

async function runKits() {
  const { oracleKit, securityKit } = await import('./kits.mjs');
  const outcomes = [];
  for (const kit of [securityKit, oracleKit]) {
    const outcome = kit();
    if (outcome === undefined) continue;
    process.stdout.write(`${outcome.text}\n`);
    outcomes.push(outcome);
  }
  return outcomes;
}

/** The last words: what failed, by name, then the count. A log that is cut keeps its end. */
function conclude(outcomes) {
  const sum = (key) => outcomes.reduce((total, outcome) => total + (outcome[key] ?? 0), 0);
  const list = (heading, key) => {
    const lines = outcomes.flatMap((outcome) => outcome[key] ?? []);
    return lines.length === 0
      ? ''
      : `\n${heading}\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
  };
  process.stdout.write(list('failed at first, and passed when run again alone:', 'unsteady'));
  process.stdout.write(list('failed:', 'failures'));
  process.stdout.write(
    `\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`,
  );
  return sum('failed') > 0 ? 1 : 0;
}
