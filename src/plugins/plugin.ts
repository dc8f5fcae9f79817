/** A directory that somebody named as a plugin of this session. */
export interface GivenPlugin {
  readonly directory: string;
  /** True: its MCP servers are not used. */
  readonly withoutServers?: boolean;
}

/** What the words `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}` stand for. */
export interface PluginPaths {
  /** The plugin's directory, behind all links. */
  readonly root: string;
  /** Where it may keep what is its own. */
  readonly data: string;
}

/** Hooks of one file, or of the manifest. */
export interface PluginHooks {
  /** Groups by event, as written. */
  readonly hooks: unknown;
  readonly file: string;
  readonly line?: number;
}

/** MCP servers of one file, or of the manifest. */
export interface PluginServers {
  /** Entries by their full names (`plugin:<plugin>:<server>`), with the plugin's directories put in. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly file: string;
}

/** A plugin in force: what it brings, and where that stands. */
export interface Plugin {
  /** Stands before the names of its skills, agents and servers. */
  readonly name: string;
  readonly version?: string;
  /** Behind all links. */
  readonly directory: string;
  readonly paths: PluginPaths;
  /** Who names a plugin lets it grant and execute. */
  readonly trusted: true;
  /** Directories with skills, besides `skills`. */
  readonly skills: readonly string[];
  /** Directories and files of commands, in the place of `commands`. */
  readonly commands?: readonly string[];
  /** Directories and files of agents, in the place of `agents`. */
  readonly agents?: readonly string[];
  readonly hooks: readonly PluginHooks[];
  readonly servers: readonly PluginServers[];
}
