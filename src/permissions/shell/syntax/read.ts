import { messageOf } from '../../../errors.js';
import { hasInvisible } from '../../../lib/text/visible.js';
import { Budget, TooComplexError } from '../../gate/budget.js';
import type { ShellPlace, ShellReading } from '../model.js';
import { ownPlacesIn } from './own-links.js';
import { Reader } from './reader.js';

/** Longer code is still searched for what is forbidden, but no rule for single commands opens it. */
const LONGEST_COVERED = 10_000;

let parser: typeof import('unbash') | undefined;

/** Finds every command in a piece of shell code, or says why that is not possible. Never throws. */
export async function readShell(
  code: string,
  place: ShellPlace,
  budget = new Budget(),
): Promise<ShellReading> {
  const opaque = unreadable(code);
  if (opaque !== undefined) return { commands: [], opaque };
  try {
    parser ??= await import('unbash');
    const read = new Reader(parser, { ...place, budget }).read(code, [place.cwd]);
    const { opaque: why, carried } = ownPlacesIn(read.commands);
    const reading = { ...read, opaque: read.opaque ?? why, carried };
    if (code.length <= LONGEST_COVERED || reading.complex !== undefined) return reading;
    // Nobody who is shown this much sees what is in it.
    return { ...reading, complex: `it is longer than ${LONGEST_COVERED} characters` };
  } catch (thrown) {
    if (thrown instanceof TooComplexError) return { commands: [], opaque: thrown.message };
    // fail-closed: what cannot be read is not understood.
    return { commands: [], opaque: `it could not be analysed (${messageOf(thrown)})` };
  }
}

const LONGEST_COMMAND = 64 * 1024;

/** Why a text is not even looked at as shell code; undefined when it may be. */
export function unreadable(code: string): string | undefined {
  if (code.length > LONGEST_COMMAND) return `it is longer than ${LONGEST_COMMAND} characters`;
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(code)) return 'it holds control characters';
  // People who are asked would see something else than what runs.
  if (hasInvisible(code)) {
    return 'it holds invisible or direction-changing characters';
  }
  // Half a character becomes another one on its way to the shell.
  if (/\p{Surrogate}/u.test(code)) return 'it holds half a character';
  return undefined;
}
