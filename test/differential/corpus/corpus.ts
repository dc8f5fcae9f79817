import { readFileSync } from 'node:fs';
import path from 'node:path';
import { generateScript } from '../generator.js';
import type { Decision } from './judge.js';
import { FROZEN_RULE_SETS } from './rule-sets.js';

export const SEED = 280_028;
export const GENERATED = 20_000;

const COMMANDS = path.resolve('test/differential/corpus/commands.txt');
export const DECISIONS_FILE = path.resolve('test/differential/corpus/decisions.txt');

/** Every command line: those of tests and kits, one JSON string a line, and the generated ones. */
export function frozenCommands(): readonly string[] {
  const written = readFileSync(COMMANDS, 'utf8').trimEnd().split('\n');
  const generated = Array.from({ length: GENERATED }, (_, at) => generateScript(SEED, at));
  return [...written.map((line) => JSON.parse(line) as string), ...generated];
}

/** For each rule set the decision on each command line; `-` where it depends on the machine. */
export function frozenDecisions(): ReadonlyMap<string, readonly (Decision | '-')[]> {
  const [, ...lines] = readFileSync(DECISIONS_FILE, 'utf8').trimEnd().split('\n');
  return new Map(
    FROZEN_RULE_SETS.map(({ name }, at) => [name, [...(lines[at] ?? '')] as (Decision | '-')[]]),
  );
}
