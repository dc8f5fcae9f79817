import type { ToolAnswer } from '../agents/core/host-requests.js';
import { err, ok, type Result } from '../lib/result.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { type ToolUseBlock, textOf } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import { createInvoke } from '../tools/invoke.js';
import { createPool } from '../tools/pool.js';
import type { AnyTool, FileVersion, ReadState } from '../tools/tool.js';
import type { OpenInstructions, ShownIn } from './instructions.js';
import type { SessionEnvironment } from './session-environment.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface OutsideAnswer extends ToolAnswer {
  /** What the call brings with it, for the agent: instructions near its files. */
  readonly followUp: readonly string[];
  /** What hooks said about it, for the agent. */
  readonly contexts: readonly string[];
  /** What the tool was called with in the end: a hook may have changed it. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Files that it read. They count as read by whoever is shown the answer. */
  readonly seen: SeenFiles;
}

export type SeenFiles = readonly (readonly [path: string, version: FileVersion])[];

export type OutsideInvoke = (
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  how: { readonly signal: AbortSignal; readonly unattended: boolean },
) => Promise<Result<OutsideAnswer, string>>;

/**
 * Calls that no model makes: a host asks for them, or a person's prompt names what is to be read. They
 * go the one way in, past the same rules as the agent's, each with its receipt.
 */
export function outsideInvoke(environment: SessionEnvironment, parts: OutsideParts): OutsideInvoke {
  const { toolRuntime, as, onStop } = parts;
  return async (tool, input, how) => {
    const id = `${as}_${toolRuntime.around.uuid()}`;
    const made = await outsideCall(environment, { ...parts, ...how, tool, id, input });
    const { structured, followUp = [], contexts = [], stop, interrupt } = made.result;
    const { content, is_error: failed } = made.result.block;
    const words = typeof content === 'string' ? content : textOf(content);
    if (stop !== undefined) onStop?.(`Stopped by a hook: ${stop}`);
    else if (interrupt === true) onStop?.(`Stopped: ${words}`);
    if (failed === true) return err(words);
    // fail-closed: who wants to stop does not want what was read to go further.
    if (stop !== undefined) return err(`a hook stopped it: ${stop}`);
    return ok({ content, structured, followUp, contexts, input: made.input, seen: made.seen });
  };
}

/** One call that no model makes. */
export interface OutsideCall
  extends Pick<OutsideParts, 'toolRuntime' | 'instructions' | 'shownIn'> {
  readonly tool: AnyTool;
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly unattended: boolean;
  /** A person typed this very call. */
  readonly isTyped?: boolean;
}

export interface OutsideResult {
  readonly result: ToolCallResult;
  /** What the tool was called with in the end: a hook may have changed it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly seen: SeenFiles;
}

/** Makes one such call and gives the whole result back, refused or not. */
export async function outsideCall(
  { workspace }: SessionEnvironment,
  { toolRuntime, instructions, shownIn, tool, id, input, signal, unattended, isTyped }: OutsideCall,
): Promise<OutsideResult> {
  const seen: (readonly [string, FileVersion])[] = [];
  const readState: ReadState = {
    note: (path, version) => void seen.push([path, version]),
    get: () => undefined,
  };
  let judged = input;
  const run = createInvoke({
    ...toolRuntime.around,
    pool: createPool([tool]),
    agent: MAIN_AGENT,
    workspace,
    unattended,
    typed: isTyped === true ? input : undefined,
    contextFor: toolRuntime.contextOf(MAIN_AGENT, workspace, readState),
    onVerdict(_call, _tool, verdict) {
      if (verdict.kind === 'allowed') judged = verdict.input;
      toolRuntime.decided(verdict.receipt);
    },
    onInvalidInput: async () => undefined,
    onRan: () => undefined,
  });
  const call: ToolUseBlock = { type: 'tool_use', id, name: tool.name, input };
  const done = instructions.countIn(id, shownIn);
  const result = await run(call, undefined, signal).finally(done);
  return { result, input: judged, seen };
}

export interface OutsideParts {
  readonly toolRuntime: ToolRuntime;
  readonly instructions: Pick<OpenInstructions, 'countIn'>;
  readonly as: 'host' | 'mention';
  /** Where instructions near the files are shown. */
  readonly shownIn: ShownIn;
  /** A hook or whoever was asked wants the turn to end, and why. Absent: there is none. */
  onStop?(why: string): void;
}

export const REPLACED = 'a hook has replaced what was read';

/** fail-closed: a hook that shows something else to the agent keeps what was read from others too. */
export function isOwn(
  { structured }: ToolAnswer,
  output: { readonly structured: unknown },
): boolean {
  return structured === output.structured;
}
