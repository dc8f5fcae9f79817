import { parseRule } from './rules.js';

/** Says what is wrong with one rule text that stands outside the lists of rules. */
export function ruleChecker(cwd: string, home: string): (text: string) => string | undefined {
  return (text) => {
    const value = { text, root: cwd };
    const parsed = parseRule('ask', { value, source: 'cli', trusted: true }, { cwd, home });
    return 'why' in parsed ? `${parsed.why}. ${parsed.remedy}` : undefined;
  };
}
