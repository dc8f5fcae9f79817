/** A command that stands in the text of a skill. Positions are those of the text. */
export interface CommandSpan {
  /** The whole of it, marks included; the output takes its place. */
  readonly start: number;
  readonly end: number;
  /** The command itself. */
  readonly from: number;
  readonly to: number;
}

/**
 * The commands of a skill's text: `` !`command` `` at the beginning of a line or after a blank, also
 * inside of fences, and blocks that open with ```` ```! ````. Looked for in what the author wrote, before
 * anything is put in, so that no argument can begin, end or be a command.
 *
 * Trust is given to the commands that are found by these same two scans. fail-closed: a text in
 * which one scan runs over the beginning of another command has fewer commands, never others than
 * those that were shown.
 */
export function findCommands(text: string): readonly CommandSpan[] {
  const blocks = [...text.matchAll(BLOCK)].flatMap(blockSpan);
  const inline = [...text.matchAll(INLINE)].flatMap((match) => inlineSpan(match, text));
  return inline.length === 0 ? blocks : joined([...blocks, ...inline]);
}

const BLOCK = /^[ \t]*(`{3,}|~{3,})([ \t]*)!([\s\S]*?)(?:(^[ \t]*\1)|(?![\s\S]))/gm;
const INLINE = /!(`+)([\s\S]*?)(?:(\1)|(?![\s\S]))/g;
const LINE_END = /[\n\r\u2028\u2029]/;

/** Other marks than ```` ```! ````, and a block that is never closed, are text. */
function blockSpan(match: RegExpExecArray): readonly CommandSpan[] {
  const [whole, fence = '', blanks, command = '', close] = match;
  if (!fence.startsWith('`') || blanks !== '' || close === undefined) return [];
  const end = match.index + whole.length;
  const to = end - close.length;
  return spanOf({ start: match.index, end, from: to - command.length, to }, command);
}

function inlineSpan(match: RegExpExecArray, text: string): readonly CommandSpan[] {
  const [whole, marks = '', command = '', close] = match;
  const before = match.index === 0 ? '\n' : text.charAt(match.index - 1);
  if (marks !== '`' || close === undefined || !/\s/.test(before) || LINE_END.test(command)) {
    return [];
  }
  const end = match.index + whole.length;
  return spanOf({ start: match.index, end, from: match.index + 2, to: end - 1 }, command);
}

function spanOf(span: CommandSpan, command: string): readonly CommandSpan[] {
  return command.trim() === '' ? [] : [span];
}

/** In order; what stands inside of a block is part of its command. */
function joined(spans: readonly CommandSpan[]): readonly CommandSpan[] {
  let end = 0;
  return [...spans]
    .sort((a, b) => a.start - b.start)
    .filter((span) => {
      if (span.start < end) return false;
      end = span.end;
      return true;
    });
}
