import type { Hook, HookHandler, HookRequest } from '../../src/hooks/registry/hook.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';

/** A hook of PreToolUse, as a user's settings declare it. */
export function hookOf<H extends HookHandler>(handler: H, more: Partial<Hook<H>> = {}): Hook<H> {
  return {
    id: 'hook-1',
    event: 'PreToolUse',
    role: 'gate',
    handler,
    source: 'user',
    timeoutMs: 20_000,
    onFailure: 'block',
    label: 'a hook of the test',
    ...more,
  };
}

/** What a hook is asked about a Bash call. */
export function requestOf(more: Partial<HookRequest> = {}): HookRequest {
  const input = more.input ?? {
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'touch made' },
  };
  return {
    input,
    json: JSON.stringify(input),
    cwd: '/',
    // As the dispatch does it: the signal aborts at the deadline.
    signal: AbortSignal.timeout(more.timeoutMs ?? 20_000),
    timeoutMs: 20_000,
    toolUseId: 'toolu_1',
    agent: MAIN_AGENT,
    ...more,
  };
}

/** The agent that an agent hook of the main agent runs. */
export const JUDGE = {
  ...MAIN_AGENT,
  id: 'judge',
  type: 'hook-agent',
  path: 'main/hook#1',
  depth: 1,
};
