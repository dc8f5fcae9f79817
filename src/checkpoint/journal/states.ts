import { isRecord } from '../../lib/own.js';
import type { NodeState } from '../types.js';

/** Whether two states are equal; files with unknown content never are. */
export function sameState(a: NodeState | undefined, b: NodeState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  switch (a.kind) {
    case 'file':
      // fail-closed: without both hashes equality is unknown.
      return (
        b.kind === 'file' && a.blob !== undefined && a.blob === b.blob && sameMode(a.mode, b.mode)
      );
    case 'directory':
      return b.kind === 'directory' && sameMode(a.mode, b.mode);
    case 'link':
      return b.kind === 'link' && a.target === b.target;
    case 'special':
      return b.kind === 'special';
  }
}

export function sameMode(a: number, b: number): boolean {
  return (a & MODE_BITS) === (b & MODE_BITS);
}

const MODE_BITS = 0o7777;

/** Why a file's content is not stored, for people; undefined when it is. */
export function whyNotStored(state: NodeState): string | undefined {
  if (state.kind !== 'file' || state.blob !== undefined) return undefined;
  switch (state.unstored) {
    case 'too-large':
      return 'it is too large to be kept';
    case 'over-cap':
      return 'the store of checkpoints was full';
    case 'unreadable':
      return 'it could not be read';
    case 'changed-while-read':
      return 'it was changed before it could be read';
    case 'not-yet':
    case undefined:
      return 'it was changed before the first index had reached it';
  }
}

const BLOB = /^[0-9a-f]{64}$/;

/** Validates a state read from a file. */
export function isNodeState(value: unknown): value is NodeState {
  if (!isRecord(value)) return false;
  const { kind, size, mode, blob, target } = value;
  const isMode = isCount(mode) && Number(mode) <= MODE_BITS;
  switch (kind) {
    case 'file':
      return (
        isCount(size) &&
        isMode &&
        (blob === undefined || (typeof blob === 'string' && BLOB.test(blob)))
      );
    case 'directory':
      return isMode;
    case 'link':
      return typeof target === 'string' && target !== '' && !target.includes('\0');
    default:
      return kind === 'special';
  }
}

export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
