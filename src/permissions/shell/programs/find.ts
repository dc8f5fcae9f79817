import { deletes, type Effect, reads, unknown, writes } from '../effects/effect.js';
import { custom, HERE, type Program } from '../effects/program.js';
import type { ShellWord } from '../model.js';

/** Tests, options and actions without an argument. */
const ALONE =
  words(`-empty -print -print0 -ls -prune -not -a -and -o -or ! ( ) , -readable -writable -executable
  -depth -d -xdev -mount -daystart -quit -true -false -nouser -nogroup -noleaf -ignore_readdir_race
  -noignore_readdir_race -nowarn -warn`);

/** Those with one. */
const VALUED =
  words(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype
  -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime -amin -newermt -newerct -newerat -user -group -uid -gid -perm
  -links -inum -printf -used -lname -ilname -fstype`);

const NAMES_FILE = words('-newer -anewer -cnewer -samefile');
const WRITES_FILE = words('-fls -fprint -fprint0 -fprintf');
const RUNS = words('-exec -execdir -ok -okdir');

/** Reads the expression of a find; what is not listed is unknown. */
function effectsOfFind(given: readonly ShellWord[]): readonly Effect[] {
  const effects: Effect[] = given
    .filter(({ literal, pattern }) => !literal || pattern !== undefined)
    .map((word) => unknown('word', word));
  let at = 0;
  let follows = false;
  for (; /^-[HLP]$/.test(given[at]?.value ?? ''); at++) {
    const option = given[at];
    if (option?.value === '-P') continue;
    // fail-closed: a link leads to names elsewhere.
    effects.push(unknown('option', option));
    follows = true;
  }
  const starts: ShellWord[] = [];
  for (; at < given.length && !/^-|^[(!]$/.test(given[at]?.value ?? ''); at++) {
    const word = given[at];
    if (word !== undefined) starts.push(word);
  }
  const expression = given.slice(at);
  const from = starts.length === 0 ? [HERE] : starts;
  effects.push(...from.map((start) => reads(start, { follows, namesOnly: true })));
  for (let index = 0; index < expression.length; index++) {
    const primary = expression[index];
    const next = expression[index + 1];
    const name = primary?.value ?? '';
    if (ALONE.has(name)) continue;
    if (name === '-delete') effects.push(...from.map((start) => deletes(start, { follows })));
    else if (RUNS.has(name)) {
      const end = endOfCommand(expression, index + 1);
      effects.push({ kind: 'run', words: expression.slice(index + 1, end), fed: 'found-files' });
      index = end;
    } else if (next === undefined) effects.push(unknown('option', primary));
    else if (VALUED.has(name)) index++;
    else if (NAMES_FILE.has(name)) {
      effects.push(reads(next));
      index++;
    } else if (WRITES_FILE.has(name)) {
      effects.push(writes(next));
      index += name === '-fprintf' ? 2 : 1;
    } else effects.push(unknown('option', primary));
  }
  return effects;
}

/** How many arguments a test of find takes; undefined for what is none, or may do more than look. */
export function argumentsOfPrimary(name: string): number | undefined {
  if (ALONE.has(name)) return 0;
  return VALUED.has(name) || NAMES_FILE.has(name) ? 1 : undefined;
}

/** Where `;` ends a command, or a `+` behind `{}`. */
function endOfCommand(expression: readonly ShellWord[], from: number): number {
  const end = expression.findIndex(
    ({ value }, at) =>
      at >= from && (value === ';' || (value === '+' && expression[at - 1]?.value === '{}')),
  );
  return end === -1 ? expression.length : end;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

export const FIND: Readonly<Record<string, Program>> = { find: custom(effectsOfFind) };
