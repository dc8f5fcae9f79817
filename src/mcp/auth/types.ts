import type { AuthorizationServerMetadata, FetchLike } from '@modelcontextprotocol/client';
import type { Result } from '../../lib/result.js';
import type { Clock } from '../../platform/clock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { PublicFetch } from '../../platform/http/public-fetch.js';
import type { McpLibrary } from '../connection/library.js';
import type { RemoteEntry, ServerDeclaration } from '../server.js';
import type { StoredAuth } from './token-store.js';

/** Why a server refuses access; the message contains no tokens and is safe to show. */
export interface AuthFailure {
  /** `needs-auth`: a person has to sign in. `failed`: signing in failed or would not help. */
  readonly kind: 'needs-auth' | 'failed';
  readonly message: string;
}

/** Carries an `AuthFailure` through the library as an exception. */
export class ServerAuthError extends Error {
  readonly failure: AuthFailure;

  constructor(failure: AuthFailure) {
    super(failure.message);
    this.name = 'ServerAuthError';
    this.failure = failure;
  }
}

/** Takes a person to a sign-in page and receives the answer. */
export interface SignInAgent {
  /** Prepares to receive the answer before the page opens. The error is one line. */
  begin(): Promise<Result<SignInVisit, string>>;
}

export interface SignInVisit {
  readonly redirectUrl: string;
  /** Shows the page, waits for the answer and refuses one with another `state`. The error is one line. */
  visit(
    page: { readonly url: string; readonly state: string },
    signal: AbortSignal,
  ): Promise<Result<URLSearchParams, string>>;
  close(): Promise<void>;
}

/** Client credentials, for sign-ins without a person or browser. */
export type MachineGrant =
  | { readonly kind: 'client-secret'; readonly clientId: string; readonly clientSecret: string }
  | {
      readonly kind: 'private-key';
      readonly clientId: string;
      readonly privateKey: string;
      readonly algorithm: string;
    };

export interface ServerAuthDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic' | 'makeDirectory' | 'remove'>;
  readonly stateDirectory: string;
  readonly clock: Pick<Clock, 'now'>;
  /** For the server itself and for sign-ins on this machine or the internal network; defaults to the global `fetch`. */
  readonly fetch?: FetchLike;
  /** For all other sign-ins; connects to public addresses only. Defaults to `fetchPublic`. */
  readonly guarded?: PublicFetch;
  /** Resolves all addresses of a host name; defaults to the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** Absent when no person can sign in. */
  readonly agent?: SignInAgent;
  /** The https address of our client metadata, for authorization servers that accept it as client id. */
  readonly clientMetadataUrl?: string;
  readonly machine?: MachineGrant;
}

export interface SignedOut {
  /** Whether any sign-in was stored. */
  readonly was: boolean;
  /** Absent when the authorization server supports no revocation or there was no token. */
  readonly revoked?: Result<void, string>;
}

/** A server that is reached over the network. */
export interface RemoteDeclaration extends Pick<ServerDeclaration, 'name'> {
  readonly entry: RemoteEntry;
}

/** What the server's `WWW-Authenticate` header says. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

export interface SignInContext {
  readonly library: McpLibrary;
  readonly declaration: RemoteDeclaration;
  readonly challenge: Challenge;
  /** The earlier sign-in: its registration is reused, and its issuer may receive the client secret. */
  readonly stored: StoredAuth | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

/** The verified result of discovery. */
export interface DiscoveryResult {
  readonly authorizationServer: string;
  readonly issuer: string;
  /** Absent for servers of the first protocol generation. */
  readonly metadata?: AuthorizationServerMetadata;
  /** The resource that the tokens are for (RFC 8707). */
  readonly resource: string;
  readonly resourceScopes?: readonly string[];
}
