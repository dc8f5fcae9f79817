import type { Gathering } from './instruction-loader.js';
import type { LoadedInstruction, SkippedInstruction } from './instruction-types.js';
import { estimateText } from './tokens.js';

/** One shown file without its text. */
export type ReportedInstruction = Omit<LoadedInstruction, 'text'> & {
  /** Estimated. */
  readonly tokens: number;
};

/** Everything there is to know about the instructions of a session. */
export interface InstructionReport {
  readonly loaded: readonly ReportedInstruction[];
  /** Rules that wait for a file that their patterns fit. */
  readonly waiting: readonly { readonly path: string; readonly globs: readonly string[] }[];
  readonly skipped: readonly SkippedInstruction[];
  /** Of all that is shown, estimated. */
  readonly tokens: number;
}

export function reportOf({ entries, skipped, waiting, seen }: Gathering): InstructionReport {
  const loaded = entries.map(({ instruction: { text, ...rest } }) => {
    return { ...rest, tokens: estimateText(text) };
  });
  return {
    loaded,
    waiting: waiting
      .filter(({ real }) => !seen.has(real))
      .map(({ place, globs }) => ({ path: place.path, globs })),
    skipped,
    tokens: loaded.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
