import { ANY_DEPTH, type NamePattern, nameFits, namePatternOf } from './name-pattern.js';

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
  readonly order: number;
  readonly leavesOut: boolean;
  readonly onlyDirectories: boolean;
  fits(names: readonly string[], name: string): boolean;
}

/** Rules beyond this number are not read: nobody writes that many, and each is asked for each new path. */
const MOST_RULES = 5_000;

export function parseIgnoreRules(text: string): IgnoreRules {
  // Most rules are a plain name or an ending: those are looked up, the others are tried in turn.
  const byName = new Map<string, Rule[]>();
  const byEnding = new Map<string, Rule[]>();
  const others: Rule[] = [];
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const [order, line] of lines.entries()) {
    if (order >= MOST_RULES) break;
    const parsed = parseRule(line, order);
    if (parsed === undefined) continue;
    if (parsed.name !== undefined) add(byName, parsed.name, parsed.rule);
    else if (parsed.ending !== undefined) add(byEnding, parsed.ending, parsed.rule);
    else others.push(parsed.rule);
  }
  return {
    isWhole: lines.length <= MOST_RULES,
    verdict(names, isDirectory) {
      const name = names.at(-1) ?? '';
      let best: Rule | undefined;
      const consider = (rules: readonly Rule[] | undefined, isTried: boolean): void => {
        if (rules === undefined) return;
        for (let at = rules.length - 1; at >= 0; at--) {
          const rule = rules[at];
          if (rule === undefined || (best !== undefined && rule.order < best.order)) return;
          if (rule.onlyDirectories && !isDirectory) continue;
          if (isTried && !rule.fits(names, name)) continue;
          best = rule;
          return;
        }
      };
      consider(byName.get(name), false);
      if (byEnding.size > 0) {
        for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
          consider(byEnding.get(name.slice(dot)), false);
        }
      }
      consider(others, true);
      return best?.leavesOut;
    },
  };
}

function add(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [rule]);
  else known.push(rule);
}

function parseRule(
  line: string,
  order: number,
): { rule: Rule; name?: string; ending?: string } | undefined {
  // Blanks at the end do not count, unless a backslash stands before them.
  let pattern = line.replace(/\r$/, '').replace(/((?:^|[^\\])(?:\\\\)*)[ \t]+$/, '$1');
  if (pattern === '' || pattern.startsWith('#')) return undefined;
  const leavesOut = !pattern.startsWith('!');
  if (!leavesOut) pattern = pattern.slice(1);
  const onlyDirectories = pattern.endsWith('/');
  if (onlyDirectories) pattern = pattern.slice(0, -1);
  if (pattern === '') return undefined;
  const base = { order, leavesOut, onlyDirectories };
  if (!pattern.includes('/')) return nameRule(pattern, base);
  const names = pattern.replace(/^\//, '').split('/');
  // Two of `**` in a row say no more than one.
  const steps = names
    .filter((name, at) => name !== '**' || names[at - 1] !== '**')
    .map((name) => namePatternOf(name));
  if (steps.includes(undefined)) return undefined;
  const whole = steps as readonly NamePattern[];
  return { rule: { ...base, fits: (names) => stepsFit(whole, names) } };
}

function nameRule(
  pattern: string,
  base: Omit<Rule, 'fits'>,
): { rule: Rule; name?: string; ending?: string } | undefined {
  if (!/[*?[\\]/.test(pattern)) return { rule: { ...base, fits: () => true }, name: pattern };
  if (/^\*\.[^*?[\\]+$/.test(pattern)) {
    return { rule: { ...base, fits: () => true }, ending: pattern.slice(1) };
  }
  const tokens = namePatternOf(pattern === '**' ? '*' : pattern);
  if (tokens === undefined || tokens === ANY_DEPTH) return undefined;
  return { rule: { ...base, fits: (_, name) => nameFits(tokens, name) } };
}

/** All names have to be used up; a `**` at the end stands for at least one. */
function stepsFit(steps: readonly NamePattern[], names: readonly string[]): boolean {
  let at = 0;
  let step = 0;
  let deep = -1;
  let resume = 0;
  if (steps.at(-1) === ANY_DEPTH) {
    // What lies below `a/**` has a part that `a` fits: the rest is what the two stars stand for.
    return names.some((_, end) => stepsFit(steps.slice(0, -1), names.slice(0, end)));
  }
  while (at < names.length) {
    const current = steps[step];
    if (current === ANY_DEPTH) {
      deep = step++;
      resume = at;
    } else if (current !== undefined && nameFits(current, names[at] ?? '')) {
      at++;
      step++;
    } else {
      if (deep === -1) return false;
      step = deep + 1;
      at = ++resume;
    }
  }
  while (steps[step] === ANY_DEPTH) step++;
  return step === steps.length;
}
