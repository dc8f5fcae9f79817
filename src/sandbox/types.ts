/** The rights of a sandboxed program; all paths are absolute and resolved. */
export interface SandboxPolicy {
  /** Writable trees, including the working directory. */
  readonly writable: readonly string[];
  /** Paths inside writable trees that are read-only, existing or not. */
  readonly protected: readonly string[];
  /** Unreadable files and trees: credentials, our own state, deny rules. */
  readonly hidden: readonly string[];
  /** Readable paths inside hidden trees. */
  readonly shown: readonly string[];
  readonly network: SandboxNetwork;
  /**
   * Programs with the same name share a private temporary directory until the sandbox closes; absent gives
   * each program its own.
   */
  readonly scratch?: string;
  /** Weakenings that a person enabled in settings. */
  readonly weaker: {
    readonly nestedUserNamespaces?: boolean;
    readonly unixSockets?: 'all' | readonly string[];
    readonly localBinding?: boolean;
  };
}

export type SandboxNetwork =
  | { readonly kind: 'none' }
  /** Only through our proxy, which applies the rules to the dialled host. */
  | ({ readonly kind: 'filtered' } & ProxyRules)
  /** The machine's own network. */
  | { readonly kind: 'open' };

/** Decides which connections pass. */
export interface ProxyRules {
  /** The host is in lower case, without trailing dot or brackets. */
  allows(host: string, port: number): Promise<boolean>;
  /**
   * Whether settings name exactly this host, which allows IP addresses and internal hosts. Absent means
   * that none are named.
   */
  named?(host: string, port: number): boolean;
}

/** A program as it would start without a sandbox. */
export interface SandboxedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface WrappedProgram extends SandboxedProgram {
  /** Frees sockets and temporary files after the program has ended. Never rejects. */
  release(): Promise<void>;
  /** Tells the model what the sandbox prevented, judging by the program's result; undefined without evidence. */
  refusals(result: {
    readonly exitCode: number | null;
    readonly output: string;
  }): string | undefined;
}

export type SandboxAvailability =
  | {
      readonly kind: 'available';
      readonly driver: 'bubblewrap' | 'seatbelt';
      readonly version: string;
      readonly notes: readonly string[];
    }
  /** The reason and the remedy, for people. */
  | { readonly kind: 'unavailable'; readonly missing: string; readonly remedy: string };

/** Starts programs inside a sandbox of the operating system. */
export interface Sandbox {
  readonly availability: SandboxAvailability;
  /** fail-closed: rejects when the sandbox cannot be set up, and the program does not run. */
  wrap(program: SandboxedProgram, policy: SandboxPolicy): Promise<WrappedProgram>;
  close(): Promise<void>;
}
