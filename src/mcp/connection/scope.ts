import { sliceWhole } from '../../lib/truncate.js';
import type { SafeError } from './safe-error.js';
import { type SafeWords, safeError, serverText } from './safe-error-of.js';
import type { Thrown } from './thrown.js';

const SCOPE_CHARS = 200;

/**
 * Set for a request that was refused because it alone wants more rights than the token has: the session
 * stays, and with it what needs no more. Goes by what this request was answered, as others may have been
 * refused at the same time for something else.
 */
export function scopeError(words: SafeWords, thrown: Thrown): SafeError | undefined {
  if (thrown.kind !== 'auth' || thrown.lacks === undefined) return undefined;
  const scope = sliceWhole(serverText(words, thrown.lacks.scope ?? ''), 0, SCOPE_CHARS);
  const what =
    scope === '' ? 'a scope that it does not name' : `the scope ${JSON.stringify(scope)}`;
  const text = `refused the request, which was not carried out: the sign-in lacks ${what}. A person has to sign in for that (oauth.scopes of its entry, portcullis mcp auth).`;
  return safeError(words, 'needs-auth', text);
}
