import { sliceWhole } from '../util/truncate.js';
import type { ConnectionDeps, StepUpChallenge } from './connection-deps.js';
import type { SafeError } from './safe-error.js';
import { type SafeWords, safeError, serverText } from './safe-error-of.js';
import type { Thrown } from './thrown.js';

const SCOPE_CHARS = 200;

/**
 * Which scope a token lacks, where nobody could get more. The library throws the same for a request that
 * wants more rights and for a sign-in that is missing; only what it asked for in between tells them apart.
 */
export class MissingScope {
  #last: StepUpChallenge | undefined;

  /** The same parts, watched. */
  watch(deps: ConnectionDeps): ConnectionDeps {
    const { stepUp } = deps;
    if (stepUp === undefined) return deps;
    return {
      ...deps,
      stepUp: async (asked) => {
        const hasMore = await stepUp(asked);
        this.#last = hasMore ? undefined : asked;
        return hasMore;
      },
    };
  }

  forget(): void {
    this.#last = undefined;
  }

  /** What is said of a request that was refused for want of a scope, once. Undefined for other failures. */
  error(words: SafeWords, thrown: Thrown): SafeError | undefined {
    const lacking = this.#last;
    if (lacking === undefined || thrown.kind !== 'auth') return undefined;
    this.#last = undefined;
    const scope = sliceWhole(serverText(words, lacking.scope ?? ''), 0, SCOPE_CHARS);
    const what =
      scope === '' ? 'a scope that it does not name' : `the scope ${JSON.stringify(scope)}`;
    const text = `refused the request, which was not carried out: the sign-in lacks ${what}. A person has to sign in for that (oauth.scopes of its entry, portcullis mcp auth).`;
    return safeError(words, 'needs-auth', text);
  }
}
