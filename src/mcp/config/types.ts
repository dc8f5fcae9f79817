import type { FileSystem } from '../../platform/fs/fs.js';
import type { ConfigProblem, SettingValues } from '../../settings/types.js';
import type { McpApprovals } from '../approval/project-approvals.js';
import type { McpScope, ServerDeclaration } from '../server.js';
import type { Variables } from './expand.js';

/**
 * Servers for one session. Text: a value of `--mcp-config`, a file's name or JSON. Otherwise what a
 * host hands over, already parsed: a table of entries by name.
 */
export type DynamicServers = string | Readonly<Record<string, unknown>>;

export interface McpConfigDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'realPath'>;
  readonly cwd: string;
  /** The directories whose `.mcp.json` counts: the start directory first, the project's root last. */
  readonly levels: readonly string[];
  readonly home: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  readonly managedDir: string;
  /** What `${NAME}` stands for in entries: the process's variables and those of settings. */
  readonly env: Variables;
  /** Of the process alone, for an administrator's lists and for where files are. */
  readonly startEnv: Variables;
  readonly values: SettingValues;
  /** Which optional settings sources count. */
  readonly sources: readonly string[];
  readonly dynamic?: readonly DynamicServers[];
  /** `--strict-mcp-config`: besides an administrator's, only `dynamic`. */
  readonly strict?: boolean;
  /** Whether the project's files may execute, as they are now. Asked only when a project has servers. */
  trusted(): Promise<boolean>;
  readonly approvals: McpApprovals;
  /** Somebody sees the list, or was asked. Otherwise each server that waits for approval is a problem too. */
  readonly interactive?: boolean;
  /** Entries of plugins, by the files that they stand in. */
  readonly plugins?: readonly PluginServers[];
}

export interface PluginServers {
  /** By name; each stands under `plugin:<plugin>:<server>`. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly file: string;
}

export interface McpConfiguration {
  /** One for each name, strongest source first. All of them, whatever their standing. */
  readonly servers: readonly ServerDeclaration[];
  /** Any `fatal` among them means: do not start. */
  readonly problems: readonly ConfigProblem[];
  /** An administrator's `managed-mcp.json` is there: nothing else adds servers. */
  readonly exclusive: boolean;
  /** Of a name that a stronger source also has, or of a project's entry that nobody agreed to. */
  readonly hidden: readonly ServerDeclaration[];
  /** Real path of the project's root, which approvals are kept by. */
  readonly project: string;
  /** What a person should see of a server, as written: no values of variables, no secrets. */
  describe(server: ServerDeclaration): readonly string[];
  /** What variables in its command, arguments and address stand for now, for whoever is asked about it. */
  standsFor(server: ServerDeclaration): readonly string[];
  /** The entry as written, before variables were put in. Undefined for a server of another list. */
  written(server: ServerDeclaration): unknown;
}

/** An entry as some file, flag or host has it, before it is understood. */
export interface RawServer {
  readonly name: string;
  readonly scope: McpScope;
  readonly raw: unknown;
  readonly file?: string;
  readonly ofHost: boolean;
  /** Line of a value inside of the entry. */
  line(way: readonly (string | number)[]): number | undefined;
}

/** What all sources hold, strongest first. */
export interface RawServers {
  readonly servers: readonly RawServer[];
  readonly problems: readonly ConfigProblem[];
  readonly exclusive: boolean;
  /** Names that a person switched off for this project. */
  readonly switchedOff: ReadonlySet<string>;
  /** The file of the switches is there and cannot be read. */
  readonly switchesUnknown?: string;
}
