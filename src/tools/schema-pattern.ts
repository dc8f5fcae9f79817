/**
 * Longest string that a schema's `pattern` is tried on. A longer one does not match.
 *
 * Patterns come with the schema and run on what a model wrote. The cap bounds patterns of polynomial
 * cost; repetition inside repetition can cost exponential time, so such patterns are tried on short
 * strings only. This is no proof against a hostile schema: `(a+)+$` is slow on thirty characters.
 * Whoever gives the schema is trusted that far.
 */
export const MAX_PATTERN_INPUT = 20_000;
export const MAX_NESTED_PATTERN_INPUT = 1_000;

interface BoundedPattern {
  test(text: string): boolean;
  toString(): string;
}

/** The regular expression of a schema, Unicode-aware where its spelling allows it. */
export function boundedPattern(source: string, flags: string): BoundedPattern {
  const expression = compile(source, flags);
  const limit = hasNestedRepetition(source) ? MAX_NESTED_PATTERN_INPUT : MAX_PATTERN_INPUT;
  return {
    // fail-closed: a string that is too long to be tested does not match.
    test: (text) => text.length <= limit && expression.test(text),
    toString: () => String(expression),
  };
}

function compile(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (thrown) {
    if (flags === '') throw thrown;
    // Many schemas in use hold escapes such as `[\w-\.]` that are wrong in Unicode mode only.
    return new RegExp(source);
  }
}

/** Whether an unbounded repetition stands around a group that holds another one. */
function hasNestedRepetition(source: string): boolean {
  const groups: boolean[] = [false];
  let inClass = false;
  let closed = false;
  for (let index = 0; index < source.length; index++) {
    const char = source[index] ?? '';
    const wasClosed: boolean = closed;
    closed = false;
    if (char === '\\') index++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') groups.push(false);
    else if (char === ')') {
      closed = groups.pop() ?? false;
      if (closed) groups[groups.length - 1] = true;
    } else if (
      char === '*' ||
      char === '+' ||
      (char === '{' && /^\{\d+,/.test(source.slice(index, index + 8)))
    ) {
      if (wasClosed) return true;
      groups[groups.length - 1] = true;
    }
  }
  return false;
}
