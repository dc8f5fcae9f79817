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

/** A refusal that arrives this soon after new tokens was most likely meant for the old ones. */
const FRESH_MS = 5_000;

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** What the entry itself says about who signs in. */
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
 * Authorization for one server. Tokens come from a file that is read anew for each request, so that a
 * sign-in elsewhere counts at once; they are renewed when they end; and where a person is at hand (`agent`)
 * the person signs in. Where nobody is, the server needs a sign-in, and that is remembered.
 */
export class ServerAuth {
  readonly #declaration: RemoteDeclaration;
  readonly #deps: ServerAuthDeps;
  readonly #key: string;
  readonly #store;
  readonly #memory;
  /** To the server itself. */
  readonly #plain: FetchLike;
  /** To wherever the server says that one signs in. */
  readonly #fetch: FetchLike;
  /** The access token of the last request, to know whether somebody has renewed it since. */
  #used: string | undefined;
  /** When this object last got tokens, in milliseconds. */
  #obtainedAt: number | undefined;
  /** One sign-in at a time, shared by all requests that wait for it. */
  #underWay: Promise<Result<void, AuthFailure>> | undefined;
  /** Scopes that a step up has asked for already: asking again would go round in circles. */
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
   * For the library's transports, as their `authProvider`: without the methods by which the library would drive a
   * sign-in itself, as it knows no pinned scopes. Throws the library's `UnauthorizedError` when a person has to sign in,
   * and a `ServerAuthError` when that would not help.
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

  /** Starts anew: no refresh, a person signs in. */
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
      await this.#refuse(needsAuth(this.#declaration.name, 'nobody has done so yet'));
    }
    const isDue = since !== undefined || (tokens !== undefined && isExpired(tokens, this.#now()));
    if (isDue && tokens?.refreshToken !== undefined) {
      const renewed = await this.#renew(tokens.accessToken);
      if (renewed.ok) return renewed.value;
      // Void: asked without a token, the server says what it wants.
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
    // Somebody has signed in or renewed since the request was made.
    if (current !== undefined && current !== used) return;
    if (this.#obtainedAt !== undefined && this.#now() - this.#obtainedAt < FRESH_MS) return;
    let reason = 'nobody has done so yet';
    if (stored?.tokens?.refreshToken !== undefined) {
      const renewed = await this.#renew(used);
      if (renewed.ok) return;
      reason = renewed.error.reason;
      // A sign-in would need the same authorization server that does not answer.
      if (renewed.error.kind === 'unreachable') await this.#refuse(authFailed(name, reason));
    } else if (current !== undefined) reason = 'the earlier sign-in is over';
    const challenge = { resourceMetadataUrl, scope };
    const done = await this.#signInHere(challenge, { reason, keepScopes: false });
    if (done.ok) return;
    if (done.error.kind === 'needs-auth') await this.#memory.note(this.#key);
    await this.#refuse(done.error);
  }

  /** The server wants more scopes. True: there is a new token, and the request may be sent once more. */
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
    // fail-closed: a server that is never content does not get one sign-in after the other.
    if (this.#steppedUp.has(wanted ?? '')) return false;
    this.#steppedUp.add(wanted ?? '');
    const reason = 'it wants further rights';
    return (await this.#signInHere(challenge, { reason, keepScopes: true })).ok;
  }

  /** By the program itself or by the person at hand; without either it needs a sign-in. */
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

  /** Without a challenge the server is asked for one. */
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

  /** Before an attempt after a failure: forgets the failure and refreshes what can be refreshed. */
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

  /** Forgets everything that is kept for this server, and has the tokens revoked where that is offered. */
  async signOut(): Promise<Result<SignedOut, AuthFailure>> {
    await this.#memory.clear(this.#key);
    const stored = await this.#store.read(this.#key);
    const removed = await this.#store.remove(this.#key);
    if (!removed.ok) return err(authFailed(this.#declaration.name, removed.error));
    // Afterwards: whether anybody answers changes nothing in what is forgotten here.
    const revoked =
      stored.ok && stored.value !== undefined
        ? await revokeTokens(await loadLibrary(), stored.value, {
            serverUrl: this.#declaration.entry.url,
            fetch: this.#fetch,
          })
        : undefined;
    return ok({ was: removed.value, revoked });
  }

  /** fail-closed: tokens that cannot be read are no reason to ask without them. */
  async #read(): Promise<StoredAuth | undefined> {
    const stored = await this.#store.read(this.#key);
    if (stored.ok) return stored.value;
    return await this.#refuse(authFailed(this.#declaration.name, stored.error));
  }

  /** As the library's own error where a person can help, so that whoever knows the library knows it. */
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
