/** What the braces of one list of patterns may become together. */
const BRACE_BUDGET = { patterns: 1_000, chars: 4 * 1024 * 1024 } as const;
/** Longer patterns are not expanded. */
const LONGEST_EXPANDED = 4_096;

interface Budget {
  patterns: number;
  chars: number;
}

/** A pattern whose braces would become too much keeps them as they are. */
export function expandAll(patterns: readonly string[]): readonly string[] {
  const budget: Budget = { ...BRACE_BUDGET };
  return patterns.flatMap((pattern) => {
    const expanded = pattern.length > LONGEST_EXPANDED ? undefined : expandBraces(pattern, budget);
    if (expanded === undefined) return [pattern];
    budget.patterns -= expanded.length;
    for (const one of expanded) budget.chars -= one.length;
    return expanded;
  });
}

function expandBraces(pattern: string, budget: Budget): readonly string[] | undefined {
  const group = firstGroup(pattern);
  if (group === undefined) return [pattern];
  const tails = expandBraces(pattern.slice(group.end), budget);
  if (tails === undefined) return undefined;
  const head = pattern.slice(0, group.start);
  const all: string[] = [];
  let chars = 0;
  for (const alternative of group.alternatives) {
    const middles = expandBraces(alternative, budget);
    if (middles === undefined) return undefined;
    for (const middle of middles) {
      for (const tail of tails) {
        all.push(head + middle + tail);
        chars += head.length + middle.length + tail.length;
        if (all.length > budget.patterns || chars > budget.chars) return undefined;
      }
    }
  }
  return all;
}

interface BraceGroup {
  readonly start: number;
  readonly end: number;
  readonly alternatives: readonly string[];
}

/** The first braces that hold a comma; others are literal. */
function firstGroup(pattern: string): BraceGroup | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    if (isEscaped(pattern, start)) continue;
    const alternatives: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < pattern.length; at++) {
      const char = pattern.charAt(at);
      if (char === '\\') at++;
      else if (char === '{') depth++;
      else if (char === ',' && depth === 1) {
        alternatives.push(pattern.slice(from, at));
        from = at + 1;
      } else if (char === '}' && --depth === 0) {
        if (alternatives.length === 0) break;
        return { start, end: at + 1, alternatives: [...alternatives, pattern.slice(from, at)] };
      }
    }
  }
  return undefined;
}

function isEscaped(pattern: string, at: number): boolean {
  let backslashes = 0;
  while (pattern.charAt(at - 1 - backslashes) === '\\') backslashes++;
  return backslashes % 2 === 1;
}
