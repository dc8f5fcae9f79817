/** One alternative of a matcher over names. */
export type MatcherPart =
  /** Means exactly this name. */
  | { readonly kind: 'name'; readonly text: string }
  /** `Bash(git push:*)`: a rule, which is taken to mean its tool. */
  | { readonly kind: 'rule'; readonly text: string; readonly tool: string }
  /** Searched for in the name. With `tool`, it may have been meant as a rule of this tool. */
  | { readonly kind: 'expression'; readonly text: string; readonly tool?: string };

const PLAIN_NAME = /^[\w\- ]+$/;
const SCOPED = /^(\w+)\(.*\)$/s;

/**
 * The alternatives of a matcher, which `|` and `,` separate outside of groups, classes and
 * repetition. Each is read by itself, so that an expression beside a name changes nothing about the
 * name. None: the text has separators only.
 */
export function matcherParts(text: string): readonly MatcherPart[] {
  return alternatives(text)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(partOf);
}

function partOf(text: string): MatcherPart {
  if (PLAIN_NAME.test(text)) return { kind: 'name', text };
  const tool = SCOPED.exec(text)?.[1];
  if (tool === undefined) return { kind: 'expression', text };
  // `Notebook(Edit|Read)` is a fine expression, and `Bash(git push|rm)` is none.
  return { kind: text.includes('|') ? 'expression' : 'rule', text, tool };
}

function alternatives(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let inClass = false;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '\\') at++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(' || char === '{') depth++;
    else if (char === ')' || char === '}') depth = Math.max(0, depth - 1);
    else if (depth === 0 && (char === '|' || char === ',')) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  // Unclosed text is not a list; compiling it reports the error.
  return depth > 0 || inClass ? [text] : [...parts, text.slice(start)];
}
