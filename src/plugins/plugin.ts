/** A directory named as a plugin for this session. */
export interface GivenPlugin {
  readonly directory: string;
  /** True: its MCP servers are not used. */
  readonly withoutServers?: boolean;
}

/** The values of `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}`. */
export interface PluginPaths {
  /** The plugin's directory with all links resolved. */
  readonly root: string;
  /** The directory for the plugin's own data. */
  readonly data: string;
}

/** Hooks of one file or of the manifest. */
export interface PluginHooks {
  /** Groups by event, as written. */
  readonly hooks: unknown;
  readonly file: string;
  readonly line?: number;
}

/** MCP servers of one file or of the manifest. */
export interface PluginServers {
  /** Entries by full name (`plugin:<plugin>:<server>`), with the plugin's directories filled in. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly file: string;
}

/** A loaded plugin and its components. */
export interface Plugin {
  /** Prefix of the names of its skills, agents and servers. */
  readonly name: string;
  readonly version?: string;
  /** With all links resolved. */
  readonly directory: string;
  readonly paths: PluginPaths;
  /** Naming a plugin for the session trusts it to grant and execute. */
  readonly trusted: true;
  /** Directories with skills, besides `skills`. */
  readonly skills: readonly string[];
  /** Directories and files of commands, replacing `commands`. */
  readonly commands?: readonly string[];
  /** Directories and files of agents, replacing `agents`. */
  readonly agents?: readonly string[];
  readonly hooks: readonly PluginHooks[];
  readonly servers: readonly PluginServers[];
}
