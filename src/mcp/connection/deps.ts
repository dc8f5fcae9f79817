import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Result } from '../../lib/result.js';
import type { Clock } from '../../platform/clock.js';
import type { Environment } from '../../platform/environment.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { Elicit, McpConnection } from '../server.js';
import type { ConnectionTimeouts } from './timeouts.js';

/** The connection as its owner sees it. */
export interface ClientConnection extends McpConnection {
  /** Notifies a connected server of the old protocol that the working directories changed. Never rejects. */
  rootsChanged(): Promise<void>;
  /** Up to 64 KiB of the child's standard error, for people only and never for the model. */
  stderr(): string;
}

/** Relays JSON-RPC messages to a server in the host's process. */
export interface SdkBridge {
  /** Resolves with the response to a request; the result for a notification is ignored. */
  send(message: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Set by the connection; receives the messages that the server initiates. */
  onmessage?: ((message: unknown) => void) | undefined;
}

/** The missing rights from a 403 with `insufficient_scope`. */
export interface StepUpChallenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
  readonly description?: string;
}

export interface ConnectionDeps {
  readonly processes: Pick<ProcessSupervisor, 'open'>;
  /** The whole environment: children get a minimal part, timeouts and proxies are read from it. */
  readonly env: Environment;
  /** The working directory of children. */
  readonly cwd: string;
  readonly clock: Clock;
  /** The working directories for the server's `roots/list`. */
  roots(): readonly string[];
  readonly elicit: Elicit;
  /** Not used when the configured headers contain `Authorization`. */
  readonly authProvider?: AuthProvider;
  /** True when a token with more scope is stored and the request may be retried. */
  readonly stepUp?: (challenge: StepUpChallenge) => Promise<boolean>;
  /** Called before a reconnect when a sign-in was missing. */
  readonly refreshAuth?: () => Promise<void>;
  /** Extra headers that override the entry's; requested per connection and again after 401 or 403. */
  readonly headers?: () => Promise<Result<Record<string, string>, string>>;
  /** For `sdk` entries. */
  readonly sdkTransport?: SdkBridge;
  /** The file for the child's standard error. */
  readonly log?: string;
  /** Receives notes for people about the server. */
  onNote?(text: string): void;
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** Overrides environment and entry. */
  readonly timeouts?: Partial<ConnectionTimeouts>;
}
