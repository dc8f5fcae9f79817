/** What a sandboxed program may do. All paths are absolute and resolved. */
export interface SandboxPolicy {
  /** Trees that may be written, the working directory among them. */
  readonly writable: readonly string[];
  /** Paths inside them that may not, existing or not. */
  readonly protected: readonly string[];
  /** Files and trees that cannot be read: credentials, our own state, deny rules. */
  readonly hidden: readonly string[];
  /** Paths inside hidden trees that can be read all the same. */
  readonly shown: readonly string[];
  readonly network: SandboxNetwork;
  /**
   * Programs that give the same name share one private directory for temporary files until the sandbox
   * is closed. Absent: a fresh one for each program.
   */
  readonly scratch?: string;
  /** Weakenings that a person asked for by name in settings. */
  readonly weaker: {
    readonly nestedUserNamespaces?: boolean;
    readonly unixSockets?: 'all' | readonly string[];
    readonly localBinding?: boolean;
  };
}

export type SandboxNetwork =
  | { readonly kind: 'none' }
  /** Through our proxy, which lets pass what `allows` says of the host that is really dialled. */
  | {
      readonly kind: 'filtered';
      /** Host in lower case, without a trailing dot; an IPv6 address without brackets. */
      allows(host: string, port: number): Promise<boolean>;
      /**
       * Whether settings name this very host, not by a wildcard. Only then may it be an IP address or
       * lead to this machine or an inner network. Absent: no host is named so.
       */
      named?(host: string, port: number): boolean;
    }
  /** The machine's own. */
  | { readonly kind: 'open' };

/** A program as it would be started without a sandbox. */
export interface SandboxedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The same program inside. */
export interface WrappedProgram extends SandboxedProgram {
  /** What has to be let go when the program has ended: sockets, temporary files. Never rejects. */
  release(): Promise<void>;
  /**
   * What the sandbox kept the program from, in words for the model; undefined when nothing points to
   * it. Called with what the program left behind.
   */
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
  /** Why not, and how to get it, in words for a person. */
  | { readonly kind: 'unavailable'; readonly missing: string; readonly remedy: string };

/** Starts programs inside a fence of the operating system. */
export interface Sandbox {
  readonly availability: SandboxAvailability;
  /** fail-closed: rejects when the fence cannot be built; nothing runs without it then. */
  wrap(program: SandboxedProgram, policy: SandboxPolicy): Promise<WrappedProgram>;
  close(): Promise<void>;
}
