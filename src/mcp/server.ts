import type { Result } from '../lib/result.js';

/** The source of an entry, in order of precedence for equal names; see `config/sources.ts`. */
export type McpScope = 'managed' | 'dynamic' | 'local' | 'project' | 'user' | 'plugin' | 'agent';

interface CommonEntry {
  /** The total time limit of a call in milliseconds, at least 1000. */
  readonly timeout?: number;
  /** Never defers its tools behind ToolSearch. */
  readonly alwaysLoad?: boolean;
}

export interface StdioEntry extends CommonEntry {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface OAuthEntry {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly callbackPort?: number;
  readonly scopes?: string;
  readonly authServerMetadataUrl?: string;
  /** `client_credentials`: the program signs in with `clientId` and `clientSecret`, without a person. */
  readonly grantType?: 'client_credentials';
  /** The https address of our client metadata, for servers that accept it as client id. */
  readonly clientMetadataUrl?: string;
}

export interface RemoteEntry extends CommonEntry {
  /** `proxy` stands for `claudeai-proxy`, which uses HTTP once its address and token are configured. */
  readonly type: 'http' | 'sse' | 'ws' | 'proxy';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A shell command that prints headers as a JSON object. */
  readonly headersHelper?: string;
  readonly oauth?: OAuthEntry;
}

/** A server inside the host's process. */
export interface SdkEntry extends CommonEntry {
  readonly type: 'sdk';
}

export type McpEntry = StdioEntry | RemoteEntry | SdkEntry;

/** Whether a declared server may be used, and why not. */
export type Standing =
  | { readonly kind: 'ready' }
  | {
      /** `pending-approval`: a project's server whose present entry has no approval. */
      readonly kind: 'pending-approval' | 'disabled' | 'blocked' | 'invalid' | 'not-configured';
      readonly reason: string;
    };

/** The place of an entry; the line may be computed lazily. */
export interface EntryOrigin {
  readonly file?: string;
  readonly line?: number | undefined;
}

/** A server as declared by a file, flag or host, with variables expanded. */
export interface ServerDeclaration {
  readonly name: string;
  /** The name in tool names, with `_` for special characters. */
  readonly key: string;
  readonly scope: McpScope;
  /** Undefined exactly when `standing` is `invalid`. */
  readonly entry: McpEntry | undefined;
  readonly origin: EntryOrigin;
  readonly standing: Standing;
  /** Hash of the entry before expansion, which approvals are bound to. */
  readonly contentHash: string;
  /** The expanded command or address when it contains variables; approvals are bound to it too. */
  readonly filled?: string | undefined;
}

export type ConnectionState = 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';

/** A server's present status, safe to show. */
export interface ServerStatus {
  readonly name: string;
  readonly scope: McpScope;
  readonly transport: McpEntry['type'] | 'unknown';
  readonly state: ConnectionState;
  readonly error?: string;
  /** Unusable resources and prompts and ignored messages, with reasons. */
  readonly leftOut?: readonly string[];
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly protocolVersion?: string;
  readonly instructions?: string;
}

/** An unchecked tool from a server's list. */
export interface RawTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /** Why we never offer the tool; only its name is kept then. */
  readonly unusable?: string;
}

export interface RawResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
}

export interface RawPrompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?:
    | readonly {
        readonly name: string;
        readonly description?: string | undefined;
        readonly required?: boolean | undefined;
      }[]
    | undefined;
}

/** A content block of the protocol. */
export type RawContent = Readonly<Record<string, unknown>> & { readonly type: string };

export interface RawCallResult {
  readonly content: readonly RawContent[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface RawResourceContent {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly text?: string | undefined;
  readonly blob?: string | undefined;
}

export interface RawPromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: RawContent;
}

export interface CallRequest {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Sent as `_meta["claudecode/toolUseId"]`. */
  readonly toolUseId?: string;
  /** Sent as `_meta.idempotencyKey`. */
  readonly idempotencyKey?: string | undefined;
  /** Shows progress to people: the server's messages, and one every 30 s while it is silent. */
  onProgress?(text: string): void;
}

/** A question from a server to a person. */
export interface ElicitRequest {
  readonly server: string;
  readonly message: string;
  readonly mode: 'form' | 'url';
  readonly url?: string;
  readonly elicitationId?: string;
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
}

export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Asks hooks, then the person or host, and declines when neither can answer. Never rejects. */
export type Elicit = (request: ElicitRequest, signal: AbortSignal) => Promise<ElicitAnswer>;

export type ListKind = 'tools' | 'resources' | 'prompts';

/** One server during a session: connects at first use, recovers and reports its status. */
export interface McpConnection {
  readonly declaration: ServerDeclaration;
  status(): ServerStatus;
  /** Connects if necessary within the connect timeout; concurrent calls share one attempt. */
  connect(): Promise<Result<ServerStatus, SafeError>>;
  listTools(): Promise<Result<readonly RawTool[], SafeError>>;
  listResources(): Promise<Result<readonly RawResource[], SafeError>>;
  listPrompts(): Promise<Result<readonly RawPrompt[], SafeError>>;
  call(request: CallRequest, signal: AbortSignal): Promise<Result<RawCallResult, SafeError>>;
  readResource(
    uri: string,
    signal: AbortSignal,
  ): Promise<Result<readonly RawResourceContent[], SafeError>>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Result<readonly RawPromptMessage[], SafeError>>;
  /** Reports `list_changed` notifications and state changes. */
  onChange(listener: (change: ListKind | 'state') => void): void;
  /** Clears a failure and connects again. */
  reconnect(): Promise<Result<ServerStatus, SafeError>>;
  close(): Promise<void>;
}

/** A server's failure as the model, receipts and logs see it: in our words, without stderr output, paths or secrets. */
export type SafeErrorCode =
  | 'connect-failed'
  | 'connect-timeout'
  | 'needs-auth'
  | 'session-lost'
  | 'crashed'
  | 'call-timeout'
  | 'idle-timeout'
  | 'aborted'
  | 'refused'
  | 'protocol'
  | 'server-error'
  | 'not-supported'
  | 'closed';

export interface SafeError {
  readonly code: SafeErrorCode;
  /** Names the server, the reason and the remedy. */
  readonly message: string;
  /** The call may have had effects and must not be repeated automatically. */
  readonly mayHaveRun: boolean;
  /** For people only: the page for a sign-in or question. */
  readonly url?: string;
}
