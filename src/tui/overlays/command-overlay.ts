import type { CommandOutput } from '../../client/events.js';
import { type Line, lines, wrapLine } from '../screen/line.js';
import type { WindowSize } from '../screen/tail-renderer.js';
import type { Overlay } from './overlay.js';
import { Pager } from './pager.js';
import { Picker } from './picker.js';

/** Output with more rows than this opens in a pager. */
const INLINE_ROWS = 16;

/** The overlay for what a command printed: a list to choose from, or a long text. Undefined: it is short. */
export function commandOverlay(
  command: string,
  { text, choices = [] }: CommandOutput,
  { columns, rows }: WindowSize,
): Overlay | undefined {
  if (choices.length > 0) return new Picker(text, choices);
  const wrapped = (width: number): Line[] => lines(text).flatMap((row) => wrapLine(row, width));
  if (wrapped(columns).length <= Math.min(INLINE_ROWS, rows - 4)) return undefined;
  return new Pager({ title: command, rows: wrapped });
}
