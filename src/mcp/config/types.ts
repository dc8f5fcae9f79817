import type { FileSystem } from '../../platform/fs/fs.js';
import type { ConfigProblem, SettingValues } from '../../settings/types.js';
import type { McpApprovals } from '../approval/project-approvals.js';
import type { McpScope, ServerDeclaration } from '../server.js';
import type { Variables } from './expand.js';

/** Servers for one session: a `--mcp-config` value (file name or JSON text) or a host's parsed table of entries. */
export type DynamicServers = string | Readonly<Record<string, unknown>>;

export interface McpConfigDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'realPath'>;
  readonly cwd: string;
  /** The directories whose `.mcp.json` is read, from the start directory up to the project's root. */
  readonly levels: readonly string[];
  readonly home: string;
  readonly configDir: string;
  readonly managedDir: string;
  /** Values for `${NAME}` in entries: the environment of the process and of settings. */
  readonly env: Variables;
  /** The process environment alone, for an administrator's lists and for file locations. */
  readonly startEnv: Variables;
  readonly values: SettingValues;
  /** The optional settings sources that are enabled. */
  readonly sources: readonly string[];
  readonly dynamic?: readonly DynamicServers[];
  /** `--strict-mcp-config`: use only `dynamic` and the administrator's servers. */
  readonly strict?: boolean;
  /** Whether the project is trusted at present; asked only when it declares servers. */
  trusted(): Promise<boolean>;
  readonly approvals: McpApprovals;
  /** A person sees the list or was asked; otherwise each server that waits for approval adds a warning. */
  readonly interactive?: boolean;
  readonly plugins?: readonly PluginServers[];
}

export interface PluginServers {
  /** Keyed by `plugin:<plugin>:<server>`. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly file: string;
}

export interface McpConfiguration {
  /** One declaration per name with any standing, strongest source first. */
  readonly servers: readonly ServerDeclaration[];
  /** A `fatal` problem stops the start. */
  readonly problems: readonly ConfigProblem[];
  /** An administrator's `managed-mcp.json` exists, so no other source adds servers. */
  readonly exclusive: boolean;
  /** Declarations that a stronger source or an approved server of the same name replaces. */
  readonly hidden: readonly ServerDeclaration[];
  /** The real path of the project's root, the key of its approvals. */
  readonly project: string;
  /** Describes a server, as written, for the person who approves it; without values and secrets. */
  describe(server: ServerDeclaration): readonly string[];
  /** The current values of variables in its command, arguments and address. */
  standsFor(server: ServerDeclaration): readonly string[];
  /** The entry before expansion; undefined for a server of another configuration. */
  written(server: ServerDeclaration): unknown;
}

/** An unparsed entry from a file, a flag or the host. */
export interface RawServer {
  readonly name: string;
  readonly scope: McpScope;
  readonly raw: unknown;
  readonly file?: string;
  readonly ofHost: boolean;
  /** The line of a value within the entry. */
  line(way: readonly (string | number)[]): number | undefined;
}

/** The entries of all sources, strongest first. */
export interface RawServers {
  readonly servers: readonly RawServer[];
  readonly problems: readonly ConfigProblem[];
  readonly exclusive: boolean;
  /** Servers that a person switched off for this project. */
  readonly switchedOff: ReadonlySet<string>;
  /** The file with the switches, when it exists but is unreadable. */
  readonly switchesUnknown?: string;
}
