/** One changed stretch of a file with the unchanged lines around it. Line numbers are 1-based. */
export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each with its mark: space, `-`, `+`, or `\` for the note about a missing last line end. */
  readonly lines: readonly string[];
}

/** The difference of two texts by lines. */
export function structuredPatch(
  before: string,
  after: string,
  options: { context?: number } = {},
): PatchHunk[] {
  if (before === after) return [];
  return hunksOf(changedStretch(before, after, options.context ?? 3), options.context ?? 3);
}

type Edit = { readonly mark: ' ' | '-' | '+'; readonly line: string };

/** All that changed with `context` lines around it, after the lines that both texts begin with. */
interface Stretch {
  readonly skipped: number;
  readonly edits: readonly Edit[];
}

/** Edits beyond which the search for the shortest script stops; its memory grows with the square. */
const MOST_EDITS = 800;
const NO_LINE_END = '\\ No newline at end of file';

/** Lines with their ends, so that a changed end counts as a change. */
function splitLines(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const ended = lines.map((line) => `${line}\n`);
  return last === '' ? ended : [...ended, last];
}

function changedStretch(oldText: string, newText: string, context: number): Stretch {
  const before = splitLines(oldText);
  const after = splitLines(newText);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let tail = 0;
  while (
    tail < before.length - start &&
    tail < after.length - start &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  const oldEnd = before.length - tail;
  const oldMiddle = before.slice(start, oldEnd);
  const newMiddle = after.slice(start, after.length - tail);
  const skipped = Math.max(0, start - context);
  const changes = shortestEdits(oldMiddle, newMiddle) ?? [
    ...marked('-', oldMiddle),
    ...marked('+', newMiddle),
  ];
  return {
    skipped,
    edits: [
      ...marked(' ', before.slice(skipped, start)),
      ...changes,
      ...marked(' ', before.slice(oldEnd, oldEnd + context)),
    ],
  };
}

function marked(mark: Edit['mark'], lines: readonly string[]): Edit[] {
  return lines.map((line) => ({ mark, line }));
}

/** Myers' greedy algorithm. Undefined when the texts differ in more than `MOST_EDITS` lines. */
function shortestEdits(before: readonly string[], after: readonly string[]): Edit[] | undefined {
  const most = Math.min(before.length + after.length, MOST_EDITS);
  const offset = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let count = 0; count <= most; count++) {
    trace.push(reach.slice(offset - count - 1, offset + count + 2));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const down =
        diagonal === -count ||
        (diagonal !== count && at(reach, offset + diagonal - 1) < at(reach, offset + diagonal + 1));
      let x = down ? at(reach, offset + diagonal + 1) : at(reach, offset + diagonal - 1) + 1;
      while (
        x < before.length &&
        x - diagonal < after.length &&
        before[x] === after[x - diagonal]
      ) {
        x++;
      }
      reach[offset + diagonal] = x;
      if (x >= before.length && x - diagonal >= after.length) return walkBack(trace, before, after);
    }
  }
  return undefined;
}

function walkBack(
  trace: readonly Int32Array[],
  before: readonly string[],
  after: readonly string[],
): Edit[] {
  const edits: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let count = trace.length - 1; count >= 0; count--) {
    const reach = trace[count] ?? new Int32Array();
    const middle = count + 1;
    const diagonal = x - y;
    const down =
      diagonal === -count ||
      (diagonal !== count && at(reach, middle + diagonal - 1) < at(reach, middle + diagonal + 1));
    const previousDiagonal = down ? diagonal + 1 : diagonal - 1;
    const previousX = count === 0 ? 0 : at(reach, middle + previousDiagonal);
    const previousY = count === 0 ? 0 : previousX - previousDiagonal;
    while (x > previousX && y > previousY) {
      x--;
      y--;
      edits.push({ mark: ' ', line: before[x] ?? '' });
    }
    if (count === 0) break;
    if (down) edits.push({ mark: '+', line: after[--y] ?? '' });
    else edits.push({ mark: '-', line: before[--x] ?? '' });
  }
  return edits.reverse();
}

function hunksOf({ skipped, edits }: Stretch, context: number): PatchHunk[] {
  const hunks: PatchHunk[] = [];
  let oldLine = 1 + skipped;
  let newLine = 1 + skipped;
  let index = 0;
  for (;;) {
    let first = index;
    while (edits[first]?.mark === ' ') first++;
    if (first >= edits.length) break;
    const from = Math.max(index, first - context);
    oldLine += from - index;
    newLine += from - index;
    const part = edits.slice(from, endOfHunk(edits, first, context));
    const oldLines = part.filter((edit) => edit.mark !== '+').length;
    const newLines = part.filter((edit) => edit.mark !== '-').length;
    hunks.push({
      oldStart: oldLine,
      oldLines,
      newStart: newLine,
      newLines,
      lines: part.flatMap(printed),
    });
    oldLine += oldLines;
    newLine += newLines;
    index = from + part.length;
  }
  return hunks;
}

/** After the last change that is within reach of the one before it, plus context. */
function endOfHunk(edits: readonly Edit[], first: number, context: number): number {
  let last = first;
  for (let index = first; index < edits.length && index - last <= 2 * context; index++) {
    if (edits[index]?.mark !== ' ') last = index;
  }
  return Math.min(edits.length, last + context + 1);
}

function printed(edit: Edit): string[] {
  if (edit.line.endsWith('\n')) return [edit.mark + edit.line.slice(0, -1)];
  return [edit.mark + edit.line, NO_LINE_END];
}

function at(array: Int32Array, index: number): number {
  return array[index] ?? 0;
}
