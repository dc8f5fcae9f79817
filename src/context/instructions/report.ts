import { estimateText } from '../compaction/tokens.js';
import type { LoadResult } from './load-result.js';
import { shownSections } from './reminder.js';
import type {
  InstructionScope,
  LoadedInstruction,
  SkippedInstruction,
  WaitingRule,
} from './types.js';

/** One shown file without its text. */
export type ReportedInstruction = Omit<LoadedInstruction, 'text'> & {
  /** As it is shown. Estimated. */
  readonly tokens: number;
};

/** A file that is not shown yet, and what brings it into play. */
export interface WaitingInstruction {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly kind: LoadedInstruction['kind'];
  /** A file that one of these fits is used. */
  readonly globs?: readonly string[];
  /** A file in this folder is used. */
  readonly folder?: string;
  /** What it would take, where that is known already. Estimated. */
  readonly tokens?: number;
  /** The file that includes it. */
  readonly parent?: string;
}

/** Everything there is to know about the instructions of a session. */
export interface InstructionReport {
  readonly loaded: readonly ReportedInstruction[];
  /** Rules that wait for a file that their patterns fit, and files of folders without any access yet. */
  readonly waiting: readonly WaitingInstruction[];
  readonly skipped: readonly SkippedInstruction[];
  /** Of all that is shown, estimated. */
  readonly tokens: number;
  /** The project has more folders than were looked at, so `waiting` is not complete. */
  readonly cut: boolean;
}

/** What the folders below would bring. */
export interface NestedFindings {
  readonly found: readonly { readonly folder: string; readonly result: LoadResult }[];
  readonly cut: boolean;
}

export function reportOf(shown: LoadResult, nested: NestedFindings): InstructionReport {
  const files = shown.entries.map(({ instruction }) => instruction);
  const sections = shownSections(files);
  const loaded = files.map(({ text: _, ...rest }, index) => {
    return { ...rest, tokens: estimateText(sections[index] ?? '') };
  });
  const waits = ({ real }: WaitingRule): boolean => !shown.seen.has(real);
  return {
    loaded,
    waiting: [
      ...shown.waiting.filter(waits).map((rule) => waitingRule(rule)),
      ...nested.found.flatMap(({ folder, result }) => [
        ...waitingFiles(result, folder),
        ...result.waiting.filter(waits).map((rule) => waitingRule(rule, folder)),
      ]),
    ],
    skipped: [
      ...shown.skipped,
      ...nested.found.flatMap(({ result }) => result.skipped.filter(({ warn }) => warn)),
    ],
    tokens: loaded.reduce((sum, { tokens }) => sum + tokens, 0),
    cut: nested.cut,
  };
}

function waitingRule({ place, globs }: WaitingRule, folder?: string): WaitingInstruction {
  const { path, scope, kind } = place;
  return { path, scope, kind, globs, folder };
}

function waitingFiles({ entries }: LoadResult, folder: string): readonly WaitingInstruction[] {
  const files = entries.map(({ instruction }) => instruction);
  const sections = shownSections(files);
  return files.map(({ path, scope, kind, parent }, index) => ({
    path,
    scope,
    kind,
    folder,
    tokens: estimateText(sections[index] ?? ''),
    parent,
  }));
}
