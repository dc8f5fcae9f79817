/** A command in the text of a skill, or what looks like one. Positions are those of the text. */
export interface EmbeddedCommand {
  /** The whole of it, marks included. */
  readonly start: number;
  readonly end: number;
  /** The command itself; of one that does not run no more than its beginning. */
  readonly from: number;
  readonly to: number;
  /** Closed, in a place where commands are run, and not part of another one. */
  readonly runs: boolean;
}

/**
 * All marks of commands: `` !`command` `` and blocks that open with ```` ```! ````. The one scan of
 * both who asks for trust and who runs them, so that nothing runs that was not shown. Every mark is
 * examined by itself: text before it cannot hide it. Takes one pass.
 *
 * An inline one runs at the beginning of a line or after a blank, also inside of fences, when it ends
 * in its line. A block runs when it is closed.
 */
export function embeddedCommands(text: string): readonly EmbeddedCommand[] {
  const found = [...blocksIn(text), ...inlineIn(text)]
    .filter(({ from, to }) => !isBlank(text, from, to))
    .sort((a, b) => a.start - b.start);
  let end = 0;
  return found.map((one) => {
    // A mark inside a command is part of it.
    const runs = one.runs && one.start >= end;
    if (runs) end = one.end;
    return { ...one, runs, to: runs ? one.to : Math.min(one.to, one.from + MOST_SHOWN) };
  });
}

/** Looks no further than to the first character that can be seen: much may be blank behind it. */
function isBlank(text: string, from: number, to: number): boolean {
  SEEN.lastIndex = from;
  const seen = SEEN.exec(text);
  return seen === null || seen.index >= to;
}

const SEEN = /\S/g;
/** Characters of what does not run. */
const MOST_SHOWN = 2_000;
const FENCE = /^[ \t]*(`{3,}|~{3,})([ \t]*!)?/gm;
const MARKS = /!?`+/g;
const LINE_END = /[\n\r\u2028\u2029]/;

/** Other marks than ```` ```! ```` do not run, nor does a block that is never closed. */
function blocksIn(text: string): readonly EmbeddedCommand[] {
  const fences = [...text.matchAll(FENCE)].map((match) => {
    const [whole, fence = '', opening] = match;
    const blanks = whole.length - fence.length - (opening?.length ?? 0);
    return { start: match.index, fence, opening, after: match.index + blanks + fence.length };
  });
  const closes = nextAtLeast(fences.map(({ fence }) => fence));
  return fences.flatMap(({ start, fence, opening, after }, index): EmbeddedCommand[] => {
    if (opening === undefined) return [];
    const close = fences[closes[index] ?? -1];
    const from = after + opening.length;
    const to = close?.start ?? text.length;
    // A longer fence ends it too; what is left of that is text.
    const blanks = close === undefined ? 0 : close.after - close.fence.length - close.start;
    const end = close === undefined ? to : to + blanks + fence.length;
    const runs = close !== undefined && opening === '!' && fence.startsWith('`');
    return [{ start, end, from, to, runs }];
  });
}

function inlineIn(text: string): readonly EmbeddedCommand[] {
  const marks = [...text.matchAll(MARKS)].map(({ 0: whole, index }) => ({
    index,
    opens: whole.startsWith('!'),
    ticks: whole.replace('!', ''),
  }));
  const closes = nextAtLeast(marks.map(({ ticks }) => ticks));
  return marks.flatMap(({ index: start, opens, ticks }, index): EmbeddedCommand[] => {
    if (!opens) return [];
    const close = marks[closes[index] ?? -1];
    const from = start + 1 + ticks.length;
    const to = close === undefined ? text.length : close.index + (close.opens ? 1 : 0);
    const before = start === 0 ? '\n' : text.charAt(start - 1);
    const isPlain = ticks === '`' && close !== undefined && /\s/.test(before);
    const runs = isPlain && !LINE_END.test(text.slice(from, to));
    return [{ start, end: close === undefined ? to : to + ticks.length, from, to, runs }];
  });
}

/** For each run of one character the next of the same character that is at least as long. */
function nextAtLeast(runs: readonly string[]): readonly (number | undefined)[] {
  const next: (number | undefined)[] = new Array(runs.length);
  const open = new Map<string, number[]>();
  for (let at = runs.length - 1; at >= 0; at--) {
    const run = runs[at] ?? '';
    const stack = open.get(run.charAt(0)) ?? [];
    open.set(run.charAt(0), stack);
    // A shorter run behind this one closes nothing any more.
    while (stack.length > 0 && (runs[stack.at(-1) ?? 0]?.length ?? 0) < run.length) stack.pop();
    next[at] = stack.at(-1);
    stack.push(at);
  }
  return next;
}
