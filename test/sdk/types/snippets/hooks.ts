import {
  type HookCallback,
  type HookInput,
  type HookJSONOutput,
  type PreToolUseHookInput,
  query,
} from 'the-sdk';

const guard: HookCallback = async (input, toolUseID, { signal }) => {
  if (input.hook_event_name !== 'PreToolUse' || signal.aborted) return {};
  const { file_path: path } = input.tool_input as { file_path?: string };
  if (path?.endsWith('.env') !== true) return { continue: true };
  return {
    systemMessage: `held ${toolUseID ?? ''}`,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: `no ${path}`,
    },
  };
};

async function more(input: HookInput): Promise<HookJSONOutput> {
  switch (input.hook_event_name) {
    case 'PostToolUse':
      return {
        hookSpecificOutput: {
          hookEventName: 'PostToolUse',
          additionalContext: JSON.stringify(input.tool_response),
        },
      };
    case 'UserPromptSubmit':
      return input.prompt.includes('secret') ? { decision: 'block', reason: 'no' } : {};
    case 'Stop':
      return input.stop_hook_active ? {} : { decision: 'block', reason: 'go on' };
    case 'SubagentStop':
      return { systemMessage: `${input.agent_id} ${input.agent_type}` };
    case 'SessionStart':
      return {
        hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: input.source },
      };
    default:
      return { async: true, asyncTimeout: 10 };
  }
}

export function readsOf(input: PreToolUseHookInput): string {
  return `${input.session_id} ${input.tool_name} ${input.agent_id ?? 'main'}`;
}

export const guarded = (prompt: string) =>
  query({
    prompt,
    options: {
      hooks: {
        PreToolUse: [{ matcher: 'Write|Edit', hooks: [guard], timeout: 5, onFailure: 'block' }],
        PostToolUse: [{ hooks: [more] }],
        UserPromptSubmit: [{ hooks: [async (input) => more(input)] }],
        Stop: [{ hooks: [more] }],
      },
    },
  });
