import type { AuthorizationServerMetadata, FetchLike } from '@modelcontextprotocol/client';
import type { Result } from '../../lib/result.js';
import type { Clock } from '../../platform/clock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { PublicFetch } from '../../platform/http/public-fetch.js';
import type { McpLibrary } from '../connection/library.js';
import type { RemoteEntry, ServerDeclaration } from '../server.js';
import type { StoredAuth } from './token-store.js';

/** Why a server does not let us in. Our own words, without tokens, and safe to show. */
export interface AuthFailure {
  /** `needs-auth`: a person has to sign in. `failed`: signing in would not help, or did not. */
  readonly kind: 'needs-auth' | 'failed';
  readonly message: string;
}

/** Carries a failure through the library, which knows only what is thrown. */
export class ServerAuthError extends Error {
  readonly failure: AuthFailure;

  constructor(failure: AuthFailure) {
    super(failure.message);
    this.name = 'ServerAuthError';
    this.failure = failure;
  }
}

/** Brings a person to a page and back. */
export interface SignInAgent {
  /** Gets ready to receive the answer, before anything is asked. The error is one line. */
  begin(): Promise<Result<SignInVisit, string>>;
}

export interface SignInVisit {
  /** Where the authorization server sends the person afterwards. */
  readonly redirectUrl: string;
  /**
   * Shows the page and waits for the answer that carries `state`. Answers with another state are not
   * taken. The error is one line.
   */
  visit(
    page: { readonly url: string; readonly state: string },
    signal: AbortSignal,
  ): Promise<Result<URLSearchParams, string>>;
  close(): Promise<void>;
}

/** A program that signs in as itself: no person and no browser. */
export type MachineGrant =
  | { readonly kind: 'client-secret'; readonly clientId: string; readonly clientSecret: string }
  | {
      readonly kind: 'private-key';
      readonly clientId: string;
      /** PKCS #8, PEM. */
      readonly privateKey: string;
      readonly algorithm: string;
    };

export interface ServerAuthDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic' | 'makeDirectory' | 'remove'>;
  readonly stateDirectory: string;
  readonly clock: Pick<Clock, 'now'>;
  /** To the server itself, and to sign-ins of servers on this machine or the inner network. Default: the system's. */
  readonly fetch?: FetchLike;
  /** To all other sign-ins: it dials public addresses only. Default: `fetchPublic`. */
  readonly guarded?: PublicFetch;
  /** Every address of a name. Default: the system's word. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** Absent: nobody can sign in here. */
  readonly agent?: SignInAgent;
  /** An https address that describes us, for authorization servers that take it as a client id. */
  readonly clientMetadataUrl?: string;
  readonly machine?: MachineGrant;
}

export interface SignedOut {
  /** Whether anything was kept. */
  readonly was: boolean;
  /** Absent: the authorization server offers no revocation, or there was no token. */
  readonly revoked?: Result<void, string>;
}

/** A declaration whose entry is spoken to over the network. */
export interface RemoteDeclaration extends Pick<ServerDeclaration, 'name'> {
  readonly entry: RemoteEntry;
}

/** What a server said about itself when it refused a request. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

/** What every sign-in needs, by a person or by the program itself. */
export interface SignInContext {
  readonly library: McpLibrary;
  readonly declaration: RemoteDeclaration;
  readonly challenge: Challenge;
  /** What is kept from before: its registration is used again, and its authorization server knows the secret. */
  readonly stored: StoredAuth | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

/** Where to sign in for a server, after all checks. */
export interface Discovered {
  readonly authorizationServer: string;
  readonly issuer: string;
  /** Absent for servers of the first protocol generation, which have none. */
  readonly metadata?: AuthorizationServerMetadata;
  /** RFC 8707: what the tokens are meant for. */
  readonly resource: string;
  readonly resourceScopes?: readonly string[];
}
