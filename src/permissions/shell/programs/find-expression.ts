import { wordSet } from '../../../lib/patterns/word-set.js';
import { matches, segmentTokens } from '../../rules/wildcard.js';

/** Tests, options and actions without an argument. */
const ALONE =
  wordSet(`-empty -print -print0 -ls -prune -not -a -and -o -or ! ( ) , -readable -writable -executable
  -depth -d -xdev -mount -daystart -quit -true -false -nouser -nogroup -noleaf -ignore_readdir_race
  -noignore_readdir_race -nowarn -warn`);

/** Those with one. */
const VALUED =
  wordSet(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype
  -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime -amin -newermt -newerct -newerat -user -group -uid -gid -perm
  -links -inum -printf -used -lname -ilname -fstype`);

const NAMES_FILE = wordSet('-newer -anewer -cnewer -samefile');

/** How many arguments a test of find takes; undefined for what is none, or may do more than look. */
export function argumentsOfPrimary(name: string): number | undefined {
  if (ALONE.has(name)) return 0;
  return VALUED.has(name) || NAMES_FILE.has(name) ? 1 : undefined;
}

/**
 * Whether something holds for what has this name, as far as that tells. `path` is the name with what
 * find writes in front of it, where that is known.
 */
export type NameTest = (
  name: string,
  kind: 'file' | 'directory' | 'link',
  path?: string,
) => 'yes' | 'no' | 'maybe';

export interface FindReach {
  /** For each action that removes or runs something, which names it may be about. */
  readonly actions: readonly NameTest[];
  /** The same for what is printed. */
  readonly prints: readonly NameTest[];
  /** Directories that are not gone into. */
  readonly prunes: readonly NameTest[];
}

const ACTION = /^-(delete|exec|execdir|ok|okdir)$/;
const PRINT = /^-(print0?|printf|ls)$/;
const OPTION = /^-([HLP]|D|O\d?|follow|regextype|warn)$/;
const OR = /^(-o|-or|,)$/;
const TESTS_NAME = /^-(i?)(name|path|wholename)$/;
const PLAIN_NAME = /^[^/{}[\]\\!,]+$/;
/** In paths a star also stands for slashes. */
const PLAIN_PATH = /^[^{}[\]\\!,]+$/;
const MAYBE: NameTest = () => 'maybe';
const YES: NameTest = () => 'yes';

/**
 * What an expression of find is about. What is run is left out of `values`: the action alone stands
 * for it.
 */
export function reachOf(values: readonly string[]): FindReach {
  const actions: NameTest[] = [];
  const prints: NameTest[] = [];
  const prunes: NameTest[] = [];
  let at = 0;
  let isFollowed = true;

  /** Alternatives. `held` are the tests in front, without which none of them is looked at. */
  const any = (held: readonly NameTest[]): NameTest => {
    const parts = [all(held)];
    let isList = false;
    // What stands behind `-o` is looked at where what stands in front of it does not hold.
    let others: NameTest[] = [];
    while (OR.test(values[at] ?? '')) {
      const isComma = values[at++] === ',';
      isList ||= isComma;
      others = isComma ? [] : [...others, opposite(parts.at(-1) ?? MAYBE)];
      parts.push(all([...held, ...others]));
    }
    return isList ? MAYBE : opposite(every(parts.map(opposite)));
  };

  const all = (held: readonly NameTest[]): NameTest => {
    const parts: NameTest[] = [];
    for (let next = values[at]; next !== undefined && next !== ')'; next = values[at]) {
      if (OR.test(next)) break;
      if (/^-a(nd)?$/.test(next)) at++;
      else parts.push(one([...held, ...parts]));
    }
    return every(parts);
  };

  const one = (held: readonly NameTest[]): NameTest => {
    const value = values[at++] ?? '';
    if (value === '!' || value === '-not') return opposite(one(held));
    if (value === '(') {
      const inner = any(held);
      if (values[at++] !== ')') isFollowed = false;
      return inner;
    }
    if (ACTION.test(value)) actions.push(every(held));
    if (PRINT.test(value)) prints.push(every(held));
    if (value === '-prune') prunes.push(every(held));
    if (ACTION.test(value)) return MAYBE;
    const count = argumentsOfPrimary(value);
    if (count === undefined && !OPTION.test(value)) isFollowed = false;
    const given = values[at] ?? '';
    at += count ?? 0;
    return value === '-prune' ? YES : nameTest(value, given);
  };

  const whole = any([]);
  const written = values.filter((value) => ACTION.test(value)).length;
  // fail-closed: a word that was taken for something else may be the test that counts.
  if (!isFollowed || at < values.length || actions.length !== written)
    return { actions: [MAYBE], prints: [MAYBE], prunes: [] };
  // Where the content of a directory comes first, it is too late to leave it out.
  const isDeep = values.some((value) => /^-(delete|depth|d)$/.test(value));
  const isSilent = prints.length > 0 || actions.length > 0;
  return { actions, prints: isSilent ? prints : [whole], prunes: isDeep ? [] : prunes };
}

function nameTest(primary: string, given: string): NameTest {
  if (primary === '-type') return ofType(given);
  const [tested, folded, what] = TESTS_NAME.exec(primary) ?? [];
  const isPath = what !== 'name';
  // Other patterns may fit anything.
  if (tested === undefined || !(isPath ? PLAIN_PATH : PLAIN_NAME).test(given)) return MAYBE;
  const fold = (text: string): string => (folded === 'i' ? text.toLowerCase() : text);
  const tokens = segmentTokens(fold(given));
  return (name, _, path) => {
    const text = isPath ? path : name;
    return text === undefined ? 'maybe' : matches(tokens, fold(text)) ? 'yes' : 'no';
  };
}

/** Several letters with commas between them may be given; anything but a directory counts as a file. */
function ofType(letters: string): NameTest {
  if (!/^[a-zA-Z](,[a-zA-Z])*$/.test(letters)) return MAYBE;
  const named = letters.split(',');
  return (_, kind) => {
    if (kind === 'directory') return named.includes('d') ? 'yes' : 'no';
    if (kind === 'link') return named.includes('l') ? 'yes' : 'no';
    return named.every((letter) => letter === 'd') ? 'no' : 'maybe';
  };
}

function every(parts: readonly NameTest[]): NameTest {
  return (...entry) => {
    const found = parts.map((part) => part(...entry));
    return found.find((one) => one === 'no') ?? found.find((one) => one === 'maybe') ?? 'yes';
  };
}

function opposite(test: NameTest): NameTest {
  return (...entry) => {
    const found = test(...entry);
    return found === 'maybe' ? found : found === 'yes' ? 'no' : 'yes';
  };
}
