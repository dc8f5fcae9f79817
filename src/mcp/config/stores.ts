import { join, toPosix } from '../../platform/fs/paths.js';
import type { Variables } from './expand.js';

/** Where servers of the three writable scopes stand. */
export interface McpStores {
  /** `~/.claude.json`, or the same file in `CLAUDE_CONFIG_DIR`: user scope, local scope, switches. */
  readonly personal: string;
  /** `.mcp.json` of the project's root. */
  readonly project: string;
  /** The keys below `projects` that mean this project, nearest first. */
  readonly projectKeys: readonly string[];
  /** The one of them that is written to: the project's root. */
  readonly projectKey: string;
}

export interface StorePlaces {
  readonly home: string;
  readonly cwd: string;
  /** The project's root last. */
  readonly levels: readonly string[];
  readonly startEnv: Variables;
  readonly configDir: string;
  /** Real paths of start directory and root, where they differ. */
  readonly real?: readonly string[];
}

export function mcpStores(places: StorePlaces): McpStores {
  const root = places.levels.at(-1) ?? places.cwd;
  const { CLAUDE_CONFIG_DIR: elsewhere } = places.startEnv;
  const directory = elsewhere === undefined || elsewhere === '' ? places.home : places.configDir;
  const keys = [places.cwd, root, ...(places.real ?? [])].map(toPosix);
  return {
    personal: join(directory, '.claude.json'),
    project: join(root, '.mcp.json'),
    projectKeys: [...new Set(keys)],
    projectKey: toPosix(root),
  };
}
