import { ANY_DEPTH, type NamePattern, nameFits, namePatternOf, namesFit } from './name-pattern.js';

/** The rules of one ignore file, as git reads them. */
export interface IgnoreRules {
  /** Whether all of the file was read: otherwise a rule that takes something in again may be missing. */
  readonly isWhole: boolean;
  /**
   * Whether the last rule that fits leaves the path out (true) or takes it in again (false); undefined
   * where none fits. `names` is the way from the file's directory, whose last directory is not left out.
   */
  verdict(names: readonly string[], isDirectory: boolean): boolean | undefined;
}

interface Rule {
  readonly leavesOut: boolean;
  readonly onlyDirectories: boolean;
  matches(names: readonly string[]): boolean;
}

/** Rules beyond this number are not read: each is tried for each new path. */
const MAX_RULES = 5_000;

export function parseIgnoreRules(text: string): IgnoreRules {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const rules = lines.slice(0, MAX_RULES).flatMap((line) => parseRule(line) ?? []);
  return {
    isWhole: lines.length <= MAX_RULES,
    verdict: (names, isDirectory) =>
      rules.findLast(
        ({ onlyDirectories, matches }) => (isDirectory || !onlyDirectories) && matches(names),
      )?.leavesOut,
  };
}

function parseRule(line: string): Rule | undefined {
  // Blanks at the end do not count, unless a backslash precedes them.
  let pattern = line.replace(/\r$/, '').replace(/((?:^|[^\\])(?:\\\\)*)[ \t]+$/, '$1');
  if (pattern === '' || pattern.startsWith('#')) return undefined;
  const leavesOut = !pattern.startsWith('!');
  if (!leavesOut) pattern = pattern.slice(1);
  const onlyDirectories = pattern.endsWith('/');
  if (onlyDirectories) pattern = pattern.slice(0, -1);
  if (pattern === '') return undefined;
  const matches = pattern.includes('/') ? pathMatcher(pattern) : nameMatcher(pattern);
  return matches === undefined ? undefined : { leavesOut, onlyDirectories, matches };
}

function pathMatcher(pattern: string): Rule['matches'] | undefined {
  const names = pattern.replace(/^\//, '').split('/');
  // Two of `**` in a row say no more than one.
  const steps = names
    .filter((name, at) => name !== '**' || names[at - 1] !== '**')
    .map((name) => namePatternOf(name));
  if (steps.includes(undefined)) return undefined;
  return (path) => stepsFit(steps as readonly NamePattern[], path);
}

function nameMatcher(pattern: string): Rule['matches'] | undefined {
  const tokens = namePatternOf(pattern === '**' ? '*' : pattern);
  if (tokens === undefined || tokens === ANY_DEPTH) return undefined;
  return (path) => nameFits(tokens, path.at(-1) ?? '');
}

/** A `**` at the end stands for at least one name. */
function stepsFit(steps: readonly NamePattern[], names: readonly string[]): boolean {
  if (steps.at(-1) !== ANY_DEPTH) return namesFit(steps, names);
  // What lies below `a/**` has a part that `a` fits: the rest is what the two stars stand for.
  return names.some((_, end) => stepsFit(steps.slice(0, -1), names.slice(0, end)));
}
