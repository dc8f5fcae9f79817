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

export interface OutsideAnswer extends ToolAnswer {
  /** What the call brings with it, for the agent: instructions near its files. */
  readonly followUp: readonly string[];
  /** What hooks said about it, for the agent. */
  readonly contexts: readonly string[];
}

export type OutsideInvoke = (
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  how: { readonly signal: AbortSignal; readonly unattended: boolean },
) => Promise<Result<OutsideAnswer, string>>;

/**
 * Calls that no model makes: a host asks for them, or a person's prompt names what is to be read. They
 * go the one way in, past the same rules as the agent's, each with its receipt.
 */
export function outsideInvoke(
  config: SessionConfig,
  { workspace }: Ground,
  { hands, as }: { readonly hands: Hands; readonly as: 'host' | 'mention' },
): OutsideInvoke {
  // What a prompt names is shown to the agent; what the host has seen, it has not.
  const seen = as === 'mention' ? hands.readState : createReadState();
  return async (tool, input, how) => {
    const run = createInvoke({
      ...hands.around,
      pool: createPool([tool]),
      agent: MAIN_AGENT,
      workspace,
      ...(how.unattended ? { unattended: true } : {}),
      contextFor: hands.contextOf(MAIN_AGENT, workspace, seen),
      onVerdict: (_call, _tool, verdict) =>
        config.emit({ type: 'decision', receipt: hands.journal.note(verdict.receipt, 'now') }),
      onInvalidInput: () => undefined,
      onRan: () => undefined,
    });
    const id = `${as}_${hands.around.uuid()}`;
    const call: ToolUseBlock = { type: 'tool_use', id, name: tool.name, input };
    const {
      block,
      structured,
      followUp = [],
      contexts = [],
      stop,
    } = await run(call, undefined, how.signal);
    if (block.is_error === true) {
      return err(typeof block.content === 'string' ? block.content : textOf(block.content));
    }
    // fail-closed: who wants to stop does not want what was read to go further.
    if (stop !== undefined) return err(`a hook stopped it: ${stop}`);
    const { content } = block;
    return ok({ content, ...(structured === undefined ? {} : { structured }), followUp, contexts });
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
