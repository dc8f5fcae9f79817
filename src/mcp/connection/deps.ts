import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Result } from '../../lib/result.js';
import type { Clock } from '../../platform/clock.js';
import type { Environment } from '../../platform/environment.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { Elicit, McpConnection } from '../server.js';
import type { ConnectionTimeouts } from './timeouts.js';

/** A connection with what only its owner needs. */
export interface ClientConnection extends McpConnection {
  /** The working directories changed: a connected server of the old protocol is told. Never rejects. */
  rootsChanged(): Promise<void>;
  /** For people alone, never for the model: up to 64 KiB of what the child wrote to standard error. */
  stderr(): string;
}

/** The way to a server in the host's process: JSON-RPC messages that the host carries. */
export interface SdkBridge {
  /** Resolves with the answer to a request; what it resolves with for a notification is ignored. */
  send(message: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Set by the connection. To be called with what the server sends by itself. */
  onmessage?: ((message: unknown) => void) | undefined;
}

/** What a server says that the token lacks (403, `insufficient_scope`). */
export interface StepUpChallenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
  readonly description?: string;
}

export interface ConnectionDeps {
  readonly processes: Pick<ProcessSupervisor, 'open'>;
  /** The whole environment. Children get the minimal part; time limits and proxies are read from it. */
  readonly env: Environment;
  /** Where children run. */
  readonly cwd: string;
  readonly clock: Clock;
  /** The working directories, as the server may know them. */
  roots(): readonly string[];
  readonly elicit: Elicit;
  /** Not used where the headers carry an `Authorization` of their own. */
  readonly authProvider?: AuthProvider;
  /** True: a token with more scope is stored, and the refused request is sent once more. */
  readonly stepUp?: (challenge: StepUpChallenge) => Promise<boolean>;
  /** Called before somebody wants a server back whose sign-in was missing. */
  readonly refreshAuth?: () => Promise<void>;
  /** Further headers, which win over the entry's: asked per connection, and once more on 401 and 403. */
  readonly headers?: () => Promise<Result<Record<string, string>, string>>;
  /** Of `sdk` entries. */
  readonly sdkTransport?: SdkBridge;
  /** File for what the child writes to standard error. */
  readonly log?: string;
  /** Told, for people, what is not to be missed of a server. */
  onNote?(text: string): void;
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** In place of what the environment and the entry say. */
  readonly timeouts?: Partial<ConnectionTimeouts>;
}
