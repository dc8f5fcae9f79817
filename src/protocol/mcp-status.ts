/** One MCP server as hosts and people see it. Holds no secret. */
export interface McpServerStatusRow {
  readonly name: string;
  readonly status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly error?: string;
  /** The entry as written, without the values of variables and headers. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly transport: string;
  /** Where the entry comes from. */
  readonly scope: string;
  /** The same, but `sdk` for a server that lives in the host. */
  readonly source: string;
  /** Generation of the protocol that it speaks; of a connected server alone. */
  readonly protocolVersion?: string;
  /** What it offers, as far as it is known. */
  readonly tools?: readonly McpToolRow[];
  /** What of it is left out, and why: tools, resources, prompts, and what it sent by itself. */
  readonly problems?: readonly string[];
}

export interface McpToolRow {
  /** On its server. */
  readonly name: string;
  readonly description?: string;
  /** As the server describes it; unchecked. */
  readonly annotations?: {
    readonly readOnly?: boolean;
    readonly destructive?: boolean;
    readonly openWorld?: boolean;
  };
}

export interface McpServersSet {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Why servers that were asked for cannot be used, by name. */
  readonly errors: Readonly<Record<string, string>>;
}

/** The MCP servers of an open session. What is refused rejects with an error fit to be shown. */
export interface SessionServers {
  status(): readonly McpServerStatusRow[];
  /** Resolves when every server of the start has answered once, or failed. */
  answered(): Promise<void>;
  /** From now on the host's servers are these; those of files and flags stay. */
  set(servers: Readonly<Record<string, unknown>>): Promise<McpServersSet>;
  /** Forgets a failure and connects anew. */
  reconnect(name: string): Promise<void>;
  /** Turns a server off or on again, for this session. */
  toggle(name: string, enabled: boolean): Promise<void>;
}
