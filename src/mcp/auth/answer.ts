import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';

const MAX_PASTED = 16 * 1024;

/**
 * What a person pasted after signing in: the whole address of the page they ended on, its query, or the
 * code alone. A bare code carries no state, so it is the person who vouches for it.
 */
export function answerFromPaste(pasted: string, state: string): Result<URLSearchParams, string> {
  const text = pasted.trim();
  if (text === '') return err('nothing was pasted');
  if (text.length > MAX_PASTED) return err('what was pasted is too long');
  if (/^https?:\/\//i.test(text)) {
    if (parseUrl(text) === undefined) return err('what was pasted is no address');
    return withState(new URL(text).searchParams, state);
  }
  if (/(^|[?&])(code|error)=/.test(text)) {
    return withState(new URLSearchParams(text.replace(/^[^?]*\?/, '')), state);
  }
  if (/\s/.test(text)) return err('what was pasted is neither an address nor a code');
  return ok(new URLSearchParams({ code: text, state }));
}

/** fail-closed: an answer to a question that was not asked here is not taken. */
function withState(answer: URLSearchParams, state: string): Result<URLSearchParams, string> {
  return answer.get('state') === state
    ? ok(answer)
    : err('the answer belongs to another sign-in (its state does not match)');
}
