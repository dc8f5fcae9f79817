import { NEVER_ARRIVED } from './safe-error-of.js';
import type { Session } from './session.js';
import type { Thrown } from './thrown.js';

const HEADER_MISMATCH = -32020;
/** The server wants a person to visit pages first. */
export const PAGES_REQUIRED = -32042;

/** Why the request may be sent once more; undefined when it may not, or when that would not help. */
export function repeatReason(
  session: Session,
  thrown: Thrown,
): 'session' | 'pages' | 'headers' | undefined {
  switch (thrown.kind) {
    case 'not-sent':
      return 'session';
    case 'http':
      // The refusal is of the message itself, before anything in it was looked at.
      return thrown.isSessionGone && session.hasSession() ? 'session' : undefined;
    case 'rpc':
      if (thrown.code === PAGES_REQUIRED) return 'pages';
      return thrown.code === HEADER_MISMATCH ? 'headers' : undefined;
    default:
      return undefined;
  }
}

/** Whether the same question, asked of a server that changes nothing by it, may be answered the next time. */
export function isTransient(session: Session, thrown: Thrown): boolean {
  switch (thrown.kind) {
    case 'closed':
    case 'ended':
    case 'not-sent':
    case 'timeout':
      return true;
    case 'network':
      return !NEVER_ARRIVED.has(thrown.network) || thrown.network === 'refused';
    case 'http':
      return thrown.status >= 500 || (thrown.isSessionGone && session.hasSession());
    default:
      return false;
  }
}
