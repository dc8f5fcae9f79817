import { readFileSync } from 'node:fs';
import path from 'node:path';
import { frozenCommands, frozenDecisions } from './corpus.js';
import { DECISIONS, openFrozenJudge } from './judge.js';
import { FROZEN_RULE_SETS } from './rule-sets.js';

export interface Changed {
  readonly ruleSet: string;
  readonly command: string;
  readonly before: string;
  readonly now: string;
}

export interface Comparison {
  readonly compared: number;
  /** Decided less strictly than when the corpus was frozen, and not listed as an exception. */
  readonly loosened: readonly Changed[];
  /** Decided more strictly. */
  readonly tightened: readonly Changed[];
}

const EXCEPTIONS = path.resolve('test/differential/corpus/exceptions.txt');

/** Judges every nth command line again. */
export async function compareWithFrozen({ stride = 1 }): Promise<Comparison> {
  const commands = frozenCommands();
  const frozen = frozenDecisions();
  const excepted = readExceptions();
  const judge = openFrozenJudge();
  const loosened: Changed[] = [];
  const tightened: Changed[] = [];
  let compared = 0;
  for (let at = 0; at < commands.length; at += stride) {
    const command = commands[at] ?? '';
    for (const ruleSet of FROZEN_RULE_SETS) {
      const before = frozen.get(ruleSet.name)?.[at];
      if (before === undefined || before === '-') continue;
      const now = await judge.decideBy(ruleSet, command);
      compared++;
      const difference = DECISIONS.indexOf(now) - DECISIONS.indexOf(before);
      const changed = { ruleSet: ruleSet.name, command, before, now };
      if (difference > 0) tightened.push(changed);
      if (difference < 0 && !excepted.has(`${ruleSet.name}\t${command}`)) loosened.push(changed);
    }
  }
  judge.close();
  return { compared, loosened, tightened };
}

/** `# reason` lines, and below each what it is the reason for: a rule set, a tab and the command as a JSON string. */
function readExceptions(): ReadonlySet<string> {
  const found = new Set<string>();
  let reason: string | undefined;
  for (const line of readFileSync(EXCEPTIONS, 'utf8').split('\n')) {
    if (line.startsWith('# ')) reason = line.slice(2);
    else if (line !== '') {
      const [ruleSet = '', text = ''] = line.split('\t');
      if (reason === undefined) throw new Error(`an exception without a reason: ${line}`);
      found.add(`${ruleSet}\t${JSON.parse(text)}`);
    }
  }
  return found;
}
