import type {
  HookEvent,
  HookInput,
  HookJSONOutput,
  SyncHookJSONOutput,
  ToolInputInvalidHookInput,
  ToolInputInvalidHookSpecificOutput,
} from '../../../build/generated/sdk-types.js';

export type HookPermissionDecision = 'allow' | 'deny' | 'ask' | 'defer';

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
