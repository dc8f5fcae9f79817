import { isRecord } from '../../lib/own.js';
import type { Author, Change, RewindTarget } from '../types.js';

/** A change made by a rewind, and the changes that it took back. */
export interface RewindChange extends Change {
  readonly undoes: readonly number[];
}

/** One line of a session's journal. */
export type LogEntry =
  /** First of each run. `parent`: forked from that session after so many lines of its journal. */
  | {
      readonly t: 'start';
      readonly at: number;
      readonly parent?: { readonly session: string; readonly lines: number };
    }
  | {
      readonly t: 'point';
      readonly messageId: string;
      readonly at: number;
      readonly title: string;
      readonly complete: boolean;
      readonly gaps: readonly string[];
    }
  /** A point turned out to be less complete, or more complete, than it was said to be. */
  | {
      readonly t: 'amend';
      readonly messageId: string;
      readonly complete: boolean;
      readonly gaps: readonly string[];
    }
  /** `after`: number of the last change before it. */
  | {
      readonly t: 'begin';
      readonly window: string;
      readonly author: Author;
      readonly at: number;
      readonly after: number;
      readonly messageId?: string;
    }
  | { readonly t: 'end'; readonly window: string; readonly at: number }
  /** What one look has found. */
  | { readonly t: 'changes'; readonly list: readonly Change[] }
  | {
      readonly t: 'outside';
      readonly author: Author;
      readonly what: string;
      readonly why: string;
      readonly after: number;
      readonly messageId?: string;
    }
  /** A rewind that is done, or with `of` the redo of one. One line, so that it is there wholly or not at all. */
  | {
      readonly t: 'rewind';
      readonly id: string;
      readonly at: number;
      readonly target?: RewindTarget;
      readonly of?: string;
      readonly list: readonly RewindChange[];
    };

/** Undefined: no entry; a line that was cut off when a program was killed, or one of a later version. */
export function readEntry(line: string): LogEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !hasShape(value)) return undefined;
  return value as unknown as LogEntry;
}

/** As far as a wrong line could do harm; the paths are checked again where they are used. */
function hasShape(value: Record<string, unknown>): boolean {
  switch (value.t) {
    case 'start':
      return typeof value.at === 'number';
    case 'point':
    case 'amend':
      return typeof value.messageId === 'string' && isTexts(value.gaps);
    case 'begin':
      return (
        typeof value.window === 'string' &&
        isAuthor(value.author) &&
        typeof value.after === 'number'
      );
    case 'end':
      return typeof value.window === 'string';
    case 'changes':
      return isListOf(value.list, isChange);
    case 'outside':
      return isAuthor(value.author) && typeof value.what === 'string';
    case 'rewind':
      return (
        typeof value.id === 'string' &&
        isListOf(value.list, (item) => isChange(item) && Array.isArray(item.undoes))
      );
    default:
      return false;
  }
}

function isChange(value: unknown): value is Record<string, unknown> {
  return (
    isRecord(value) &&
    typeof value.path === 'string' &&
    typeof value.seq === 'number' &&
    typeof value.at === 'number' &&
    isListOf(value.authors, isAuthor) &&
    isState(value.before) &&
    isState(value.after)
  );
}

function isState(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case 'file':
    case 'directory':
      return typeof value.mode === 'number';
    case 'link':
      return typeof value.target === 'string';
    default:
      return value.kind === 'special';
  }
}

function isAuthor(value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case 'user':
      return true;
    case 'call':
      return typeof value.toolUseId === 'string' && isRecord(value.agent);
    case 'hook':
      return typeof value.name === 'string' && isRecord(value.agent);
    case 'rewind':
      return typeof value.id === 'string';
    default:
      return false;
  }
}

function isTexts(value: unknown): boolean {
  return isListOf(value, (item) => typeof item === 'string');
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
