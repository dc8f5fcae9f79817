import { isRecord } from '../../lib/own.js';
import type { Author, Change, CheckpointNote, RewindTarget } from '../types.js';
import { isNodeState } from './states.js';

export interface WindowRecord {
  readonly author: Author;
  readonly at: number;
  /** The number of the last change before it. */
  readonly after: number;
  readonly messageId?: string;
}

/** A change outside the journal's reach. */
export interface OutsideRecord {
  readonly author: Author;
  readonly what: string;
  readonly why: string;
  readonly after: number;
  readonly messageId?: string;
}

/** A change by a rewind and the changes it undid. */
export interface RewindChange extends Change {
  readonly undoes: readonly number[];
}

/** A completed rewind. */
export interface RewindRecord {
  readonly id: string;
  readonly at: number;
  readonly target?: RewindTarget;
  /** The rewind that this one undid. */
  readonly of?: string;
  readonly list: readonly RewindChange[];
}

/** The parent journal and how many of its lines were inherited. */
export interface ForkedFrom {
  readonly session: string;
  readonly lines: number;
}

/** One line of a session's journal. */
export type LogEntry =
  /** The first entry of each run. */
  | { readonly t: 'start'; readonly at: number; readonly parent?: ForkedFrom | undefined }
  | ({ readonly t: 'point' } & CheckpointNote)
  /** Corrects how complete a point is. */
  | ({ readonly t: 'amend' } & Pick<CheckpointNote, 'messageId' | 'complete' | 'gaps'>)
  | ({ readonly t: 'begin'; readonly window: string } & WindowRecord)
  | { readonly t: 'end'; readonly window: string; readonly at: number }
  /** The changes found by one scan. */
  | { readonly t: 'changes'; readonly list: readonly Change[] }
  | ({ readonly t: 'outside' } & OutsideRecord)
  /** A single line, so that it is written entirely or not at all. */
  | ({ readonly t: 'rewind' } & RewindRecord);

/** Undefined for a truncated line or one of a later version. */
export function readEntry(line: string): LogEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || SHAPES.get(String(value.t))?.(value) !== true) return undefined;
  return value as unknown as LogEntry;
}

type Shape = (value: Readonly<Record<string, unknown>>) => boolean;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isListOf = (value: unknown, fits: Shape): boolean =>
  Array.isArray(value) && value.every((item) => isRecord(item) && fits(item));

const isNote: Shape = ({ messageId, gaps }) =>
  isText(messageId) && Array.isArray(gaps) && gaps.every(isText);
const isChange: Shape = ({ path, seq, at, authors, before, after }) =>
  isText(path) &&
  isNumber(seq) &&
  isNumber(at) &&
  isListOf(authors, isAuthor) &&
  [before, after].every((state) => state === undefined || isNodeState(state));

function isAuthor({ kind, toolUseId, name, id, agent }: Readonly<Record<string, unknown>>) {
  if (kind === 'call') return isText(toolUseId) && isRecord(agent);
  if (kind === 'hook') return isText(name) && isRecord(agent);
  return kind === 'user' || (kind === 'rewind' && isText(id));
}

/** Checks what could do harm; paths are checked again where they are used. */
const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['start', ({ at }) => isNumber(at)],
  ['point', isNote],
  ['amend', isNote],
  [
    'begin',
    ({ window, author, after }) =>
      isText(window) && isListOf([author], isAuthor) && isNumber(after),
  ],
  ['end', ({ window }) => isText(window)],
  ['changes', ({ list }) => isListOf(list, isChange)],
  ['outside', ({ author, what }) => isListOf([author], isAuthor) && isText(what)],
  [
    'rewind',
    ({ id, list }) =>
      isText(id) && isListOf(list, (item) => isChange(item) && Array.isArray(item.undoes)),
  ],
]);
