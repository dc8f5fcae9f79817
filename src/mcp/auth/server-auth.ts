import type { AuthProvider, FetchLike, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { resolveName } from '../../platform/http/ip-address.js';
import { fetchPublic } from '../../platform/http/public-fetch.js';
import type { StepUpChallenge } from '../connection/deps.js';
import { loadLibrary } from '../connection/library.js';
import { probeChallenge } from './discovery.js';
import { authFailed, needsAuth } from './failure.js';
import { guardedAuthFetch } from './guarded-fetch.js';
import { scopesToAsk, signInAsMachine, signInWithPerson } from './sign-in.js';
import {
  AUTH_MEMORY_MS,
  openAuthMemory,
  openTokenStore,
  type StoredAuth,
  tokenKey,
} from './token-store.js';
import { isExpired, type RefreshFailure, refreshShared, revokeTokens } from './tokens.js';
import {
  type AuthFailure,
  type Challenge,
  type RemoteDeclaration,
  type ServerAuthDeps,
  ServerAuthError,
  type SignedOut,
  type SignInAgent,
  type SignInContext,
} from './types.js';

const NEVER = new AbortController().signal;

/** A 401 this soon after new tokens was most likely caused by the old ones. */
const FRESH_MS = 5_000;

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** The sign-in options that the entry configures. */
function fromEntry({
  entry: { oauth = {} },
}: RemoteDeclaration): Pick<ServerAuthDeps, 'machine' | 'clientMetadataUrl'> {
  const { grantType, clientId, clientSecret, clientMetadataUrl } = oauth;
  const isMachine = grantType !== undefined && clientId !== undefined && clientSecret !== undefined;
  return {
    machine: isMachine ? { kind: 'client-secret', clientId, clientSecret } : undefined,
    clientMetadataUrl,
  };
}

/**
 * Authorizes requests to one server. It reads the tokens from their file for each request, so that a sign-in
 * in another program counts at once, refreshes expired ones and lets a person sign in through `agent`;
 * without one it remembers that a sign-in is needed.
 */
export class ServerAuth {
  readonly #declaration: RemoteDeclaration;
  readonly #deps: ServerAuthDeps;
  readonly #key: string;
  readonly #store;
  readonly #memory;
  /** For the MCP server itself. */
  readonly #plain: FetchLike;
  /** For the authorization server. */
  readonly #fetch: FetchLike;
  /** The access token of the last request, to detect a renewal by another program. */
  #used: string | undefined;
  #obtainedAt: number | undefined;
  /** The running sign-in, shared by all requests that wait for it. */
  #underWay: Promise<Result<void, AuthFailure>> | undefined;
  /** Scopes already requested by a step-up, to break endless loops. */
  readonly #steppedUp = new Set<string>();

  constructor(declaration: RemoteDeclaration, deps: ServerAuthDeps) {
    const { fs, stateDirectory, clock } = deps;
    this.#declaration = declaration;
    this.#deps = { ...fromEntry(declaration), ...deps };
    this.#key = tokenKey(declaration.name, declaration.entry.url);
    this.#store = openTokenStore({ fs, stateDirectory });
    this.#memory = openAuthMemory({ fs, stateDirectory, now: () => clock.now() });
    this.#plain = deps.fetch ?? ((url, init) => fetch(url, init));
    const network = {
      near: this.#plain,
      far: deps.guarded ?? ((request) => fetchPublic(request)),
      resolve: deps.resolve ?? resolveName,
    };
    this.#fetch = guardedAuthFetch(network, declaration.entry.url);
  }

  /**
   * The `authProvider` for the library's transports. It lacks the library's own sign-in methods, which ignore
   * pinned scopes. It throws `UnauthorizedError` when a person has to sign in and `ServerAuthError` when that
   * would not help.
   */
  readonly provider: Required<AuthProvider> & { tokens(): Promise<StoredOAuthTokens | undefined> } =
    {
      token: () => this.#token(),
      tokens: async () => {
        const token = await this.#token();
        return token === undefined ? undefined : { access_token: token, token_type: 'Bearer' };
      },
      onUnauthorized: (context) => this.#onUnauthorized(context),
    };

  /** Lets a person sign in without trying a refresh first. */
  signIn(agent: SignInAgent, signal: AbortSignal): Promise<Result<void, AuthFailure>> {
    const { clientMetadataUrl } = this.#deps;
    return this.#once(undefined, (context) =>
      signInWithPerson(context, { clientMetadataUrl, agent, keepScopes: false, signal }),
    );
  }

  async #token(): Promise<string | undefined> {
    const { tokens } = (await this.#read()) ?? {};
    this.#used = tokens?.accessToken;
    const { agent, machine } = this.#deps;
    const isHeadless = agent === undefined && machine === undefined;
    const since = isHeadless ? await this.#memory.since(this.#key) : undefined;
    if (since !== undefined && this.#now() - since < AUTH_MEMORY_MS) {
      await this.#refuse(needsAuth(this.#declaration.name, 'there is no sign-in yet'));
    }
    const isDue = since !== undefined || (tokens !== undefined && isExpired(tokens, this.#now()));
    if (isDue && tokens?.refreshToken !== undefined) {
      const renewed = await this.#renew(tokens.accessToken);
      if (renewed.ok) return renewed.value;
      // A request without a token makes the server send its challenge.
      if (renewed.error.kind === 'void') return undefined;
    }
    return tokens?.accessToken;
  }

  async #onUnauthorized({ response }: UnauthorizedContext): Promise<void> {
    const { name } = this.#declaration;
    const library = await loadLibrary();
    const { resourceMetadataUrl, scope } = library.extractWWWAuthenticateParams(response);
    const used = this.#used;
    const stored = await this.#read();
    const current = stored?.tokens?.accessToken;
    // Another request or program obtained a new token in the meantime.
    if (current !== undefined && current !== used) return;
    if (this.#obtainedAt !== undefined && this.#now() - this.#obtainedAt < FRESH_MS) return;
    let reason = 'there is no sign-in yet';
    if (stored?.tokens?.refreshToken !== undefined) {
      const renewed = await this.#renew(used);
      if (renewed.ok) return;
      reason = renewed.error.reason;
      // A sign-in needs the same unreachable authorization server.
      if (renewed.error.kind === 'unreachable') await this.#refuse(authFailed(name, reason));
    } else if (current !== undefined) reason = 'the earlier sign-in is over';
    const challenge = { resourceMetadataUrl, scope };
    const done = await this.#signInHere(challenge, { reason, keepScopes: false });
    if (done.ok) return;
    if (done.error.kind === 'needs-auth') await this.#memory.note(this.#key);
    await this.#refuse(done.error);
  }

  /** Requests the further scopes that the server demands; true when a new token is available for a retry. */
  async stepUp(asked: StepUpChallenge): Promise<boolean> {
    const url = asked.resourceMetadataUrl;
    const challenge: Challenge = {
      scope: asked.scope,
      resourceMetadataUrl: url === undefined ? undefined : parseUrl(url),
    };
    const { tokens } = (await this.#read()) ?? {};
    const wanted = scopesToAsk({
      pinned: this.#declaration.entry.oauth?.scopes,
      challenged: asked.scope,
      earlier: tokens?.requestedScope ?? tokens?.scope,
    });
    // fail-closed: a server that keeps demanding the same scopes gets no further sign-in.
    if (this.#steppedUp.has(wanted ?? '')) return false;
    this.#steppedUp.add(wanted ?? '');
    const reason = 'it wants further rights';
    return (await this.#signInHere(challenge, { reason, keepScopes: true })).ok;
  }

  /** Signs in with client credentials or the `agent`; fails with `needs-auth` when there is neither. */
  async #signInHere(
    challenge: Challenge,
    { reason, keepScopes }: { readonly reason: string; readonly keepScopes: boolean },
  ): Promise<Result<void, AuthFailure>> {
    const { agent, machine, clientMetadataUrl } = this.#deps;
    if (machine !== undefined)
      return await this.#once(challenge, (context) => signInAsMachine(context, machine));
    if (agent === undefined) return err(needsAuth(this.#declaration.name, reason));
    return await this.#once(challenge, (context) =>
      signInWithPerson(context, { clientMetadataUrl, agent, keepScopes, signal: NEVER }),
    );
  }

  /** Asks the server for its challenge when none is given. */
  #once(
    challenge: Challenge | undefined,
    work: (context: SignInContext) => Promise<Result<StoredAuth, string>>,
  ): Promise<Result<void, AuthFailure>> {
    this.#underWay ??= this.#keep(challenge, work).finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #keep(
    challenge: Challenge | undefined,
    work: (context: SignInContext) => Promise<Result<StoredAuth, string>>,
  ): Promise<Result<void, AuthFailure>> {
    const declaration = this.#declaration;
    const { name } = declaration;
    const stored = await this.#store.read(this.#key);
    if (!stored.ok) return err(authFailed(name, stored.error));
    const library = await loadLibrary();
    const made = await work({
      library,
      declaration,
      challenge: challenge ?? (await probeChallenge(library, declaration, this.#plain)),
      stored: stored.value,
      fetch: this.#fetch,
      now: () => this.#now(),
    });
    if (!made.ok) return err(authFailed(name, made.error));
    const written = await this.#store.write(this.#key, made.value);
    if (!written.ok) return err(authFailed(name, written.error));
    await this.#memory.clear(this.#key);
    this.#obtainedAt = this.#now();
    return ok(undefined);
  }

  /** Prepares a retry: clears the remembered failure and refreshes the token if possible. */
  async refresh(): Promise<void> {
    await this.#memory.clear(this.#key);
    const stored = await this.#store.read(this.#key);
    if (!stored.ok || stored.value?.tokens?.refreshToken === undefined) return;
    await this.#renew(stored.value.tokens.accessToken);
  }

  async #renew(used: string | undefined): Promise<Result<string, RefreshFailure>> {
    const renewed = await refreshShared(
      {
        library: loadLibrary,
        store: this.#store,
        key: this.#key,
        serverUrl: this.#declaration.entry.url,
        stateDirectory: this.#deps.stateDirectory,
        fetch: this.#fetch,
        now: () => this.#now(),
      },
      used,
    );
    if (renewed.ok) {
      this.#used = renewed.value;
      this.#obtainedAt = this.#now();
      await this.#memory.clear(this.#key);
    }
    return renewed;
  }

  /** Deletes the stored tokens and revokes them where the server supports it. */
  async signOut(): Promise<Result<SignedOut, AuthFailure>> {
    await this.#memory.clear(this.#key);
    const stored = await this.#store.read(this.#key);
    const removed = await this.#store.remove(this.#key);
    if (!removed.ok) return err(authFailed(this.#declaration.name, removed.error));
    // Revocation comes last: its outcome does not affect the local deletion.
    const revoked =
      stored.ok && stored.value !== undefined
        ? await revokeTokens(await loadLibrary(), stored.value, {
            serverUrl: this.#declaration.entry.url,
            fetch: this.#fetch,
          })
        : undefined;
    return ok({ was: removed.value, revoked });
  }

  /** fail-closed: unreadable tokens stop the request instead of sending it without them. */
  async #read(): Promise<StoredAuth | undefined> {
    const stored = await this.#store.read(this.#key);
    if (stored.ok) return stored.value;
    return await this.#refuse(authFailed(this.#declaration.name, stored.error));
  }

  /** Uses the library's error type when a person can help, because the library's callers check for it. */
  async #refuse(failure: AuthFailure): Promise<never> {
    const cause = new ServerAuthError(failure);
    if (failure.kind === 'failed') throw cause;
    const { UnauthorizedError } = await loadLibrary();
    throw Object.assign(new UnauthorizedError(failure.message), { cause });
  }

  #now(): number {
    return this.#deps.clock.now();
  }
}
