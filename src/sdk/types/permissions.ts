import type { PermissionUpdate } from '../../../build/generated/sdk-types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';

export type PermissionDecisionClassification = 'user_temporary' | 'user_permanent' | 'user_reject';

/** How far a yes reaches beyond its call, and how long. All of it is ours. */
export interface AllowScope {
  /** `once`: this call. `identical`: the same call again. `prefix`: calls like it. `tool`: the tool. */
  scope?: 'once' | 'identical' | 'prefix' | 'tool';
  /** Absent: the session. `project` and `user` are kept in settings files. */
  for?: 'turn' | 'session' | 'project' | 'user';
  /** The yes ends after this time. */
  expiresInMs?: number;
  /** How many further calls the yes is good for. */
  uses?: number;
}

/** What `canUseTool` answers. Anything else means no. */
export type PermissionResult =
  | ({
      behavior: 'allow';
      updatedInput?: Record<string, unknown>;
      updatedPermissions?: PermissionUpdate[];
      toolUseID?: string;
      decisionClassification?: PermissionDecisionClassification;
    } & AllowScope)
  | {
      behavior: 'deny';
      message: string;
      interrupt?: boolean;
      toolUseID?: string;
      decisionClassification?: PermissionDecisionClassification;
    };

/** What `canUseTool` is told besides the call. */
export type CanUseToolOptions = {
  /** Aborts when the answer is no longer needed. */
  signal: AbortSignal;
  /** Rules that would let calls like this through. */
  suggestions?: PermissionUpdate[];
  /** The path because of which the call is asked about. */
  blockedPath?: string;
  mcpServer?: { name: string; source: string };
  decisionReason?: string;
  title?: string;
  displayName?: string;
  description?: string;
  defaultToNo?: boolean;
  suppressAlwaysAllowRule?: boolean;
  toolUseID: string;
  /** Absent for the main agent. */
  agentID?: string;
  requestId: string;
  matchedAskRule?: { source: string; toolName: string; ruleContent?: string };
  /** Ours: the session that asks. */
  sessionId: string;
  /** Ours: whose call it is. */
  agent: AgentRef;
};

/** Asked about calls that no rule decides. Null is a no. */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: CanUseToolOptions,
) => Promise<PermissionResult | null>;
