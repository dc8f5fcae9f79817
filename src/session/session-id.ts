import { PortcullisError } from '../errors.js';

// fail-closed: ids become file names, so an id that could leave the directory is refused.
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** Whether this is a valid id of a session or an agent: letters, digits, `-` and `_` only. */
export function isSafeId(text: string): boolean {
  return SAFE_ID.test(text);
}

export function requireSafeId(text: string, what: 'session' | 'agent'): string {
  if (isSafeId(text)) return text;
  throw new PortcullisError('session', `${JSON.stringify(text)} cannot be the id of a ${what}`, {
    remedy: 'Ids are made of letters, digits, "-" and "_"; a UUID is the usual form.',
  });
}
