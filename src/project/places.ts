import type { SessionConfig } from '../config/session-config.js';
import { systemClock } from '../platform/clock.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { nodeFileSystem } from '../platform/fs/node-fs.js';
import { configDirectory, homeDirectory, resolve, stateDirectory } from '../platform/fs/paths.js';
import { hostFacts, processEnvironment } from '../platform/host.js';
import { managedSettingsDirectory } from '../settings/files/load.js';

/** How a project is opened: each field is what the flag of the same name gives to a session. */
export interface ProjectOptions
  extends Pick<
    SessionConfig,
    'settings' | 'managedSettings' | 'allowedTools' | 'disallowedTools' | 'projectTrust'
  > {
  /** The variables of this process unless others are given. */
  readonly env?: SessionConfig['env'] | undefined;
  readonly sources?: SessionConfig['settingSources'];
  /** `as it is`: as a session started now would find it. `given`: as with `--trust`. */
  readonly trust?: 'as it is' | 'given' | undefined;
  readonly addDirs?: readonly string[] | undefined;
  readonly mcpConfig?: SessionConfig['mcpConfig'] | undefined;
  readonly strictMcpConfig?: boolean | undefined;
  /** As `--agents` takes it: JSON, or the name of a file. */
  readonly agents?: string | undefined;
  /** Receives warnings; without it they are dropped. */
  warn?(text: string): void;
  /** `silent` where the caller itself lists what waits for trust. */
  readonly trustNotice?: 'silent' | undefined;
}

/** Where the files of a project, its user and its administrator are. */
export interface ProjectPlaces {
  readonly fs: FileSystem;
  readonly cwd: string;
  readonly env: SessionConfig['env'];
  readonly home: string;
  readonly configDir: string;
  readonly managedDir: string;
  readonly stateDirectory: string;
  readonly sources: readonly ('user' | 'project' | 'local')[];
  now(): number;
}

export function projectPlaces(cwd: string, options: ProjectOptions): ProjectPlaces {
  const env = options.env ?? processEnvironment();
  return {
    fs: nodeFileSystem,
    cwd: resolve(cwd),
    env,
    home: homeDirectory(env),
    configDir: configDirectory(env),
    managedDir: managedSettingsDirectory(hostFacts().os),
    stateDirectory: stateDirectory(env),
    sources: options.sources ?? ['user', 'project', 'local'],
    now: systemClock.now,
  };
}
