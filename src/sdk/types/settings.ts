import type { PermissionMode } from './permissions.js';

/** What a settings file may say. Keys that are not listed are passed on as they are. */
export interface Settings {
  $schema?: string;
  permissions?: {
    allow?: string[];
    deny?: string[];
    ask?: string[];
    defaultMode?: PermissionMode;
    disableBypassPermissionsMode?: 'disable';
    additionalDirectories?: string[];
    denyInsteadOfPrompting?: boolean;
    [key: string]: unknown;
  };
  hooks?: Record<string, unknown>;
  env?: Record<string, string>;
  model?: string;
  fallbackModel?: string[];
  effortLevel?: EffortLevel;
  apiKeyHelper?: string;
  cleanupPeriodDays?: number;
  includeCoAuthoredBy?: boolean;
  outputStyle?: string;
  enableAllProjectMcpServers?: boolean;
  enabledMcpjsonServers?: string[];
  disabledMcpjsonServers?: string[];
  disableAllHooks?: boolean;
  fileCheckpointingEnabled?: boolean;
  sandbox?: SandboxSettings;
  agent?: string;
  /** Ours. */
  portcullis?: Record<string, unknown>;
  [key: string]: unknown;
}

export type EffortLevel = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export type SettingSource = 'user' | 'project' | 'local';

export type SandboxNetworkConfig = {
  allowedDomains?: string[];
  deniedDomains?: string[];
  strictAllowlist?: boolean;
  allowManagedDomainsOnly?: boolean;
  allowUnixSockets?: string[];
  allowAllUnixSockets?: boolean;
  allowLocalBinding?: boolean;
  allowMachLookup?: string[];
  httpProxyPort?: number;
  socksProxyPort?: number;
  tlsTerminate?: { caCertPath?: string; caKeyPath?: string };
};

export type SandboxFilesystemConfig = {
  allowWrite?: string[];
  denyWrite?: string[];
  denyRead?: string[];
  allowRead?: string[];
  allowManagedReadPathsOnly?: boolean;
  disabled?: boolean;
};

export type SandboxSettings = {
  enabled?: boolean;
  failIfUnavailable?: boolean;
  autoAllowBashIfSandboxed?: boolean;
  allowUnsandboxedCommands?: boolean;
  network?: SandboxNetworkConfig;
  filesystem?: SandboxFilesystemConfig;
  credentials?: Record<string, unknown>;
  ignoreViolations?: Record<string, string[]>;
  excludedCommands?: string[];
  enableWeakerNestedSandbox?: boolean;
  ripgrep?: { command: string; args?: string[] };
  [key: string]: unknown;
};
