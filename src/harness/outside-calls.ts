import type { ToolAnswer } from '../agents/host-requests.js';
import type { SessionConfig } from '../agents/session-config.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { type ToolUseBlock, textOf } from '../protocol/content.js';
import { createInvoke } from '../tools/invoke.js';
import { createPool } from '../tools/pool.js';
import { createReadState } from '../tools/read-state.js';
import type { AnyTool } from '../tools/tool.js';
import { err, ok, type Result } from '../util/result.js';
import type { Ground } from './ground.js';
import type { Hands } from './hands.js';

export type OutsideInvoke = (
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  how: { readonly signal: AbortSignal; readonly unattended: boolean },
) => Promise<Result<ToolAnswer, string>>;

/**
 * Calls that no model makes: a host asks for them, or a person's prompt names what is to be read. They
 * go the one way in, past the same rules as the agent's, each with its receipt.
 */
export function outsideInvoke(
  config: SessionConfig,
  { workspace }: Ground,
  { hands, as }: { readonly hands: Hands; readonly as: 'host' | 'mention' },
): OutsideInvoke {
  return async (tool, input, how) => {
    const run = createInvoke({
      ...hands.around,
      pool: createPool([tool]),
      agent: MAIN_AGENT,
      workspace,
      ...(how.unattended ? { unattended: true } : {}),
      // What the host has seen, the agent has not.
      contextFor: hands.contextOf(MAIN_AGENT, workspace, createReadState()),
      onVerdict: (_call, _tool, verdict) =>
        config.emit({ type: 'decision', receipt: hands.journal.note(verdict.receipt, 'now') }),
      onInvalidInput: () => undefined,
      onRan: () => undefined,
    });
    const id = `${as}_${hands.around.uuid()}`;
    const call: ToolUseBlock = { type: 'tool_use', id, name: tool.name, input };
    const { block, structured } = await run(call, undefined, how.signal);
    if (block.is_error === true) {
      return err(typeof block.content === 'string' ? block.content : textOf(block.content));
    }
    return ok({ content: block.content, ...(structured === undefined ? {} : { structured }) });
  };
}

export const REPLACED = 'a hook has replaced what was read';

/** fail-closed: a hook that shows something else to the agent keeps what was read from others too. */
export function isOwn(
  { structured }: ToolAnswer,
  output: { readonly structured: unknown },
): boolean {
  return structured === output.structured;
}
