import type { Result } from '../lib/result.js';

/** Where a server's entry comes from; earlier ones win by name, see `config.ts`. */
export type McpScope = 'managed' | 'dynamic' | 'local' | 'project' | 'user' | 'plugin' | 'agent';

interface CommonEntry {
  /** Milliseconds that one call may take in all; at least 1000. */
  readonly timeout?: number;
  /** Its tools are never deferred behind ToolSearch. */
  readonly alwaysLoad?: boolean;
}

export interface StdioEntry extends CommonEntry {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Beyond the minimal environment: what the entry itself grants. */
  readonly env: Readonly<Record<string, string>>;
}

export interface OAuthEntry {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly callbackPort?: number;
  readonly scopes?: string;
  readonly authServerMetadataUrl?: string;
  /** `client_credentials`: the program signs in as itself, with `clientId` and `clientSecret`. */
  readonly grantType?: 'client_credentials';
  /** An https address that describes the program, for servers that take it as a client's name. */
  readonly clientMetadataUrl?: string;
}

export interface RemoteEntry extends CommonEntry {
  /** `proxy` is `claudeai-proxy`: spoken as HTTP once its address and token are configured. */
  readonly type: 'http' | 'sse' | 'ws' | 'proxy';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Shell command that prints a JSON object of headers. */
  readonly headersHelper?: string;
  readonly oauth?: OAuthEntry;
}

/** A server that lives in the host's process and is spoken to through it. */
export interface SdkEntry extends CommonEntry {
  readonly type: 'sdk';
}

export type McpEntry = StdioEntry | RemoteEntry | SdkEntry;

/** Whether a declared server may be used, and why not. */
export type Standing =
  | { readonly kind: 'ready' }
  | {
      /** `pending-approval`: of a project, and nobody has agreed to this very content. */
      readonly kind: 'pending-approval' | 'disabled' | 'blocked' | 'invalid' | 'not-configured';
      readonly reason: string;
    };

/** Where an entry stands. Its line may be looked for only when it is asked for. */
export interface EntryOrigin {
  readonly file?: string;
  readonly line?: number | undefined;
}

/** One server as some file, flag or host declares it, after expansion of variables. */
export interface ServerDeclaration {
  readonly name: string;
  /** The name as it stands in tool names: other characters are `_`. */
  readonly key: string;
  readonly scope: McpScope;
  /** Undefined exactly when `standing` is `invalid`. */
  readonly entry: McpEntry | undefined;
  readonly origin: EntryOrigin;
  readonly standing: Standing;
  /** Hash of the entry as written, before expansion: approvals are bound to it. */
  readonly contentHash: string;
  /** What it starts or calls, where variables have a part in that: approvals are bound to it too. */
  readonly filled?: string | undefined;
}

export type ConnectionState = 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';

/** What is known of a server at this moment. Safe to show. */
export interface ServerStatus {
  readonly name: string;
  readonly scope: McpScope;
  readonly transport: McpEntry['type'] | 'unknown';
  readonly state: ConnectionState;
  readonly error?: string;
  /** What of it is not used, and why: of its resources and prompts, and of what it sent by itself. */
  readonly leftOut?: readonly string[];
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly protocolVersion?: string;
  readonly instructions?: string;
}

/** A tool as the server describes it; nothing in it has been checked yet. */
export interface RawTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /** Ours: why it is never offered, of a tool of which nothing but the name is kept. */
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

/** A block of a result, as the protocol has them. */
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
  /** Base64. */
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
  /** Shown to people while the call runs; at most one text every 30 s besides the server's own. */
  onProgress?(text: string): void;
}

/** What a server asks a person. */
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

/** Asks hooks, then the person or the host; declines when nobody can answer. Never rejects. */
export type Elicit = (request: ElicitRequest, signal: AbortSignal) => Promise<ElicitAnswer>;

export type ListKind = 'tools' | 'resources' | 'prompts';

/** One server for as long as a session lives: connects at first need, recovers, and tells how it stands. */
export interface McpConnection {
  readonly declaration: ServerDeclaration;
  status(): ServerStatus;
  /** Connects if it is not, sharing one attempt. Within the server's connect timeout. */
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
  /** `list_changed`, and every change of state. */
  onChange(listener: (change: ListKind | 'state') => void): void;
  /** Forgets a failure and connects anew. */
  reconnect(): Promise<Result<ServerStatus, SafeError>>;
  close(): Promise<void>;
}

/**
 * All that the model, receipts and logs ever hear of a server's failure: our own words, with nothing
 * in them of what the server wrote to standard error, of paths, or of secrets.
 */
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
  /** For the model and people: names the server, the reason and what helps. */
  readonly message: string;
  /** The call may have run on the server: it must not be repeated by itself. */
  readonly mayHaveRun: boolean;
  /** For people alone: where they must go, for a sign-in or a question by URL. */
  readonly url?: string;
}
