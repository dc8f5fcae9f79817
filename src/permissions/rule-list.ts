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
  let current = '';
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at);
    if (char === '\\' && at + 1 < value.length) {
      current += char + value.charAt(++at);
      continue;
    }
    if (char === '(') depth++;
    if (char === ')' && depth > 0) depth--;
    const separates = depth === 0 && (char === ',' || /\s/.test(char));
    if (separates) {
      rules.push(current);
      current = '';
    } else current += char;
  }
  rules.push(current);
  return rules.filter((rule) => rule !== '');
}
