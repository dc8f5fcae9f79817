import type { PermissionMode } from './permissions.js';

/** One permission rule in force. */
export interface PolicyRule {
  rule: string;
  behavior: 'allow' | 'ask' | 'deny';
  /** `userSettings`, `projectSettings`, `localSettings`, `flagSettings`, `policySettings` or `cliArg`. */
  source: string;
  /** Where it was written; absent for what the program itself gave. */
  file?: string;
  line?: number;
  /** Calls that it covers never come before `canUseTool`. */
  preemptsCallback: boolean;
}

/** What decides calls in a session before anybody is asked. */
export interface PolicyReport {
  mode: PermissionMode;
  /** What the mode alone lets through or refuses without asking; empty: it asks. */
  modePreempts: string;
  rules: PolicyRule[];
  /** Directories that count as inside. */
  directories: string[];
  /** Only an administrator's rules grant. */
  managedOnly: boolean;
  /** Allow rules of settings files are ignored (`ignoreFileGrants`). */
  fileGrantsIgnored: boolean;
  /** Whether somebody answers what no rule decides. Without, it is refused. */
  asks: 'canUseTool' | 'tool' | 'nobody';
}
