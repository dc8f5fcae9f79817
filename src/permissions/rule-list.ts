/**
 * Splits what `--allowedTools` and its like are given: rules separated by commas or blanks, where
 * parentheses hold a rule together.
 */
export function splitRuleList(values: readonly string[]): readonly string[] {
  return values.flatMap(splitOne);
}

function splitOne(value: string): readonly string[] {
  const rules: string[] = [];
  let depth = 0;
  let start = 0;
  const end = (at: number): void => {
    if (at > start) rules.push(value.slice(start, at));
    start = at + 1;
  };
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at);
    // What follows it separates nothing.
    if (char === '\\') at++;
    else if (char === '(') depth++;
    else if (char === ')' && depth > 0) depth--;
    else if (depth === 0 && (char === ',' || char.trim() === '')) end(at);
  }
  end(value.length);
  return rules;
}
