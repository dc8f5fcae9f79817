import { structuredPatch as diffLines } from 'diff';

/** One changed stretch of a file with the unchanged lines around it. Line numbers are 1-based. */
export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each with its mark: space, `-`, `+`, or `\` for the note about a missing last line end. */
  readonly lines: readonly string[];
}

/** Edits beyond which the search for the shortest script stops: its time grows with the square. */
const MAX_EDITS = 800;

/** The difference of two texts by lines. Very different texts are shown as one replaced by the other. */
export function structuredPatch(
  before: string,
  after: string,
  { context = 3 }: { readonly context?: number } = {},
): readonly PatchHunk[] {
  if (before === after) return [];
  const options = { context, maxEditLength: MAX_EDITS };
  const shortest = diffLines('', '', before, after, undefined, undefined, options);
  if (shortest !== undefined) return shortest.hunks;
  const removed = diffLines('', '', before, '').hunks.flatMap(({ lines }) => lines);
  const added = diffLines('', '', '', after).hunks.flatMap(({ lines }) => lines);
  const count = (lines: readonly string[]): number =>
    lines.filter((line) => !line.startsWith('\\')).length;
  return [
    {
      oldStart: 1,
      oldLines: count(removed),
      newStart: 1,
      newLines: count(added),
      lines: [...removed, ...added],
    },
  ];
}
