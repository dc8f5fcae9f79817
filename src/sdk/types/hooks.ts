import type { HookEvent, HookInput, ToolInputInvalidHookInput } from './hook-inputs.js';
import type { PermissionUpdate } from './permissions.js';

export type HookPermissionDecision = 'allow' | 'deny' | 'ask' | 'defer';

type Output<Name extends string, Fields = unknown> = { hookEventName: Name } & Fields;

interface MoreContext {
  additionalContext?: string;
}

export type PreToolUseHookSpecificOutput = Output<
  'PreToolUse',
  MoreContext & {
    permissionDecision?: HookPermissionDecision;
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
  }
>;

export type PostToolUseHookSpecificOutput = Output<
  'PostToolUse',
  MoreContext & {
    classifierContext?: string;
    updatedToolOutput?: unknown;
    updatedMCPToolOutput?: unknown;
  }
>;

export type PostToolUseFailureHookSpecificOutput = Output<'PostToolUseFailure', MoreContext>;

/** Ours. */
export type ToolInputInvalidHookSpecificOutput = Output<'ToolInputInvalid', MoreContext>;
export type PostToolBatchHookSpecificOutput = Output<'PostToolBatch', MoreContext>;
export type NotificationHookSpecificOutput = Output<'Notification', MoreContext>;

export type UserPromptSubmitHookSpecificOutput = Output<
  'UserPromptSubmit',
  MoreContext & { sessionTitle?: string; suppressOriginalPrompt?: boolean }
>;

export type UserPromptExpansionHookSpecificOutput = Output<
  'UserPromptExpansion',
  MoreContext & { suppressOriginalPrompt?: boolean }
>;

export type SessionStartHookSpecificOutput = Output<
  'SessionStart',
  MoreContext & {
    initialUserMessage?: string;
    sessionTitle?: string;
    watchPaths?: string[];
    reloadSkills?: boolean;
  }
>;

export type SetupHookSpecificOutput = Output<'Setup', MoreContext>;
export type StopHookSpecificOutput = Output<'Stop', MoreContext>;
export type SubagentStartHookSpecificOutput = Output<'SubagentStart', MoreContext>;
export type SubagentStopHookSpecificOutput = Output<'SubagentStop', MoreContext>;

export type PreModelSwitchHookSpecificOutput = Output<
  'PreModelSwitch',
  { permissionDecision?: 'allow' | 'deny' | 'ask'; permissionDecisionReason?: string }
>;

export type PostModelSwitchHookSpecificOutput = Output<'PostModelSwitch', MoreContext>;

export type PermissionRequestHookSpecificOutput = Output<
  'PermissionRequest',
  {
    decision:
      | {
          behavior: 'allow';
          updatedInput?: Record<string, unknown>;
          updatedPermissions?: PermissionUpdate[];
        }
      | { behavior: 'deny'; message?: string; interrupt?: boolean };
  }
>;

export type PermissionDeniedHookSpecificOutput = Output<'PermissionDenied', { retry?: boolean }>;

interface ElicitationAnswer {
  action?: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

export type ElicitationHookSpecificOutput = Output<'Elicitation', ElicitationAnswer>;
export type ElicitationResultHookSpecificOutput = Output<'ElicitationResult', ElicitationAnswer>;
export type CwdChangedHookSpecificOutput = Output<'CwdChanged', { watchPaths?: string[] }>;
export type FileChangedHookSpecificOutput = Output<'FileChanged', { watchPaths?: string[] }>;
export type WorktreeCreateHookSpecificOutput = Output<'WorktreeCreate', { worktreePath: string }>;
export type MessageDisplayHookSpecificOutput = Output<
  'MessageDisplay',
  { displayContent?: string }
>;

export type AsyncHookJSONOutput = { async: true; asyncTimeout?: number };

export type SyncHookJSONOutput = {
  continue?: boolean;
  suppressOutput?: boolean;
  stopReason?: string;
  decision?: 'approve' | 'block';
  systemMessage?: string;
  terminalSequence?: string;
  reason?: string;
  hookSpecificOutput?:
    | PreToolUseHookSpecificOutput
    | UserPromptSubmitHookSpecificOutput
    | UserPromptExpansionHookSpecificOutput
    | SessionStartHookSpecificOutput
    | SetupHookSpecificOutput
    | PreModelSwitchHookSpecificOutput
    | PostModelSwitchHookSpecificOutput
    | SubagentStartHookSpecificOutput
    | PostToolUseHookSpecificOutput
    | PostToolUseFailureHookSpecificOutput
    | PostToolBatchHookSpecificOutput
    | StopHookSpecificOutput
    | SubagentStopHookSpecificOutput
    | PermissionDeniedHookSpecificOutput
    | NotificationHookSpecificOutput
    | PermissionRequestHookSpecificOutput
    | ElicitationHookSpecificOutput
    | ElicitationResultHookSpecificOutput
    | CwdChangedHookSpecificOutput
    | FileChangedHookSpecificOutput
    | WorktreeCreateHookSpecificOutput
    | MessageDisplayHookSpecificOutput;
};

export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;

export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

export interface HookCallbackMatcher {
  /** Which tools or values the callbacks are for. Absent: all. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
  /** What a callback that throws means. Absent: block. */
  onFailure?: 'continue' | 'block';
}

/** Events of ours that the official types do not have, and what their callbacks get. */
export interface OwnHookInputs {
  ToolInputInvalid: ToolInputInvalidHookInput;
}

export type OwnHookCallback<Name extends keyof OwnHookInputs> = (
  input: OwnHookInputs[Name],
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<
  Omit<SyncHookJSONOutput, 'hookSpecificOutput'> & {
    hookSpecificOutput?: ToolInputInvalidHookSpecificOutput;
  }
>;

/** Callbacks by event. */
export type HookCallbacks = Partial<Record<HookEvent, HookCallbackMatcher[]>> & {
  [Name in keyof OwnHookInputs]?: (Omit<HookCallbackMatcher, 'hooks'> & {
    hooks: OwnHookCallback<Name>[];
  })[];
};
