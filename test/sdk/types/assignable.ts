/**
 * Our declarations against the official ones. `Same` where both must take each other's values, `Into`
 * where ours says more: what we hand out fits theirs, or what is written for theirs fits us.
 */
import type * as theirs from '@anthropic-ai/claude-agent-sdk';
import type * as ours from '../../../src/index.js';

type Into<From extends To, To> = From extends To ? true : never;
type Same<A extends B, B extends C, C = A> = [A, B, C] extends [B, C, A] ? true : never;

/** Names that both have and that mean the very same. */
export type Equal = [
  Same<ours.AccountInfo, theirs.AccountInfo>,
  Same<ours.AgentDefinition, theirs.AgentDefinition>,
  Same<ours.AgentInfo, theirs.AgentInfo>,
  Same<ours.ApiKeySource, theirs.ApiKeySource>,
  Same<ours.AsyncHookJSONOutput, theirs.AsyncHookJSONOutput>,
  Same<ours.EffortLevel, theirs.EffortLevel>,
  Same<ours.ExitReason, theirs.ExitReason>,
  Same<ours.HookEvent, theirs.HookEvent>,
  Same<ours.HookJSONOutput, theirs.HookJSONOutput>,
  Same<ours.HookPermissionDecision, theirs.HookPermissionDecision>,
  Same<ours.McpHttpServerConfig, theirs.McpHttpServerConfig>,
  Same<ours.McpSSEServerConfig, theirs.McpSSEServerConfig>,
  Same<ours.McpServerStatus, theirs.McpServerStatus>,
  Same<ours.McpSetServersResult, theirs.McpSetServersResult>,
  Same<ours.McpStdioServerConfig, theirs.McpStdioServerConfig>,
  Same<ours.ModelInfo, theirs.ModelInfo>,
  Same<ours.ModelUsage, theirs.ModelUsage>,
  Same<ours.OutputFormat, theirs.OutputFormat>,
  Same<ours.PermissionMode, theirs.PermissionMode>,
  Same<ours.PermissionRuleValue, theirs.PermissionRuleValue>,
  Same<ours.PermissionUpdate, theirs.PermissionUpdate>,
  Same<ours.RewindFilesResult, theirs.RewindFilesResult>,
  Same<ours.SDKAssistantMessageError, theirs.SDKAssistantMessageError>,
  Same<ours.SDKControlInterruptResponse, theirs.SDKControlInterruptResponse>,
  Same<ours.SDKMessageOrigin, theirs.SDKMessageOrigin>,
  Same<ours.SDKPermissionDenial, theirs.SDKPermissionDenial>,
  Same<ours.SDKSessionInfo, theirs.SDKSessionInfo>,
  Same<ours.SessionKey, theirs.SessionKey>,
  Same<ours.SessionMessage, theirs.SessionMessage>,
  Same<ours.SessionStore, theirs.SessionStore>,
  Same<ours.SettingSource, theirs.SettingSource>,
  Same<ours.SlashCommand, theirs.SlashCommand>,
  Same<ours.SyncHookJSONOutput, theirs.SyncHookJSONOutput>,
  Same<ours.TerminalReason, theirs.TerminalReason>,
  Same<ours.ThinkingConfig, theirs.ThinkingConfig>,
  Same<ours.UUID, NonNullable<theirs.SDKUserMessage['uuid']>>,
];

/** What we hand to a program: code that reads theirs reads ours. */
export type HandedOut = [
  Into<ours.HookInput, theirs.HookInput>,
  Into<ours.CanUseToolOptions, Parameters<theirs.CanUseTool>[2]>,
  Into<ours.SDKSystemMessage, theirs.SDKSystemMessage>,
  Into<ours.SDKTaskStartedMessage, theirs.SDKTaskStartedMessage>,
  Into<ours.SDKTaskNotificationMessage, theirs.SDKTaskNotificationMessage>,
  Into<ours.SDKTaskProgressMessage, theirs.SDKTaskProgressMessage>,
  Into<ours.SDKTaskUpdatedMessage, theirs.SDKTaskUpdatedMessage>,
  Into<ours.SDKCompactBoundaryMessage, theirs.SDKCompactBoundaryMessage>,
  Into<ours.SDKStatusMessage, theirs.SDKStatusMessage>,
  Into<ours.SDKHookResponseMessage, theirs.SDKHookResponseMessage>,
  Into<ours.SDKInformationalMessage, theirs.SDKInformationalMessage>,
  Into<ours.SDKPermissionDeniedMessage, theirs.SDKPermissionDeniedMessage>,
  Into<ours.SDKAPIRetryMessage, theirs.SDKAPIRetryMessage>,
  Into<Omit<ours.SDKResultSuccess, 'usage'>, Omit<theirs.SDKResultSuccess, 'usage'>>,
  Into<Omit<ours.SDKResultError, 'usage'>, Omit<theirs.SDKResultError, 'usage'>>,
  Into<Omit<ours.SDKAssistantMessage, 'message'>, Omit<theirs.SDKAssistantMessage, 'message'>>,
  Into<Omit<ours.SDKUserMessage, MessageField>, Omit<theirs.SDKUserMessage, MessageField>>,
  Into<ours.SDKControlInitializeResponse, theirs.SDKControlInitializeResponse>,
];

type MessageField = 'message' | 'pasted_content';

/** What a program hands to us: values that were made for theirs are taken. */
export type Taken = [
  Into<Omit<theirs.Options, Loose>, Omit<ours.Options, Loose>>,
  Into<theirs.CanUseTool, ours.CanUseTool>,
  Into<theirs.HookCallback, ours.HookCallback>,
  Into<theirs.HookCallbackMatcher, ours.HookCallbackMatcher>,
  Into<theirs.PermissionResult, ours.PermissionResult>,
  Into<theirs.McpServerConfig, ours.McpServerConfig>,
  Into<theirs.SdkMcpToolDefinition, ours.SdkMcpToolDefinition>,
  Into<theirs.OnElicitation, ours.OnElicitation>,
  Into<theirs.ListSessionsOptions, ours.ListSessionsOptions>,
  Into<theirs.ForkSessionOptions, ours.ForkSessionOptions>,
];

/** Settings are an interface there and an open object here; code writes them as literals. */
type Loose = 'settings' | 'managedSettings' | 'sandbox';

/** Methods that every query has. */
export type Methods = [Into<Exclude<keyof theirs.Query, never>, keyof ours.Query>];
