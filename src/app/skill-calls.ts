import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import type { GateVerdict } from '../permissions/gate/types.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { textOf } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { OwnFiles } from '../skills/discovery/bundled-skills.js';
import type { AttachmentParts } from '../skills/invoke/attachments.js';
import type { RunShell } from '../skills/invoke/shell.js';
import type { InvokeDeps } from '../tools/invocation.js';
import { createInvoke } from '../tools/invoke.js';
import { createPool } from '../tools/pool.js';
import type { AnyTool, Workspace } from '../tools/tool.js';

export interface SkillCallParts {
  /** The session's gate and what stands around its calls. */
  around(
    agent: AgentRef,
  ): Pick<InvokeDeps, 'gate' | 'review' | 'onRefused' | 'watch' | 'bound' | 'monotonic' | 'uuid'>;
  /** Those that this agent may call. */
  tools(agent: AgentRef): readonly AnyTool[];
  /** Where this agent works. */
  workspace(agent: AgentRef): Workspace;
  contextFor(agent: AgentRef, tool: SkillToolCall['tool']): InvokeDeps['contextFor'];
  onVerdict(verdict: GateVerdict): void;
}

export interface SkillToolCall {
  readonly id: string;
  readonly tool: 'Bash' | 'Read';
  readonly input: Readonly<Record<string, unknown>>;
  readonly agent: AgentRef;
}

/** The error says why the call was refused. */
export type CallForSkill = (
  call: SkillToolCall,
  signal: AbortSignal,
) => Promise<Result<ToolCallResult, string>>;

type Refused = Extract<GateVerdict, { kind: 'refused' }>;

/** For whoever wanted the skill: it is the skill that did not start, and no call of his was refused. */
function whyNot({ receipt, suggestion, unanswered }: Refused): string {
  if (unanswered !== true) return receipt.reason;
  return suggestion === undefined
    ? `nobody is asked about the commands and files of skills (${receipt.reason})`
    : `nothing allows it beforehand; the rule ${suggestion} would`;
}

/** What the texts of skills run and read goes the one way in, and nobody is asked about it. */
export function callForSkill(parts: SkillCallParts): CallForSkill {
  return async ({ id, tool: wanted, input, agent }, signal) => {
    const tool = parts.tools(agent).find(({ name }) => name === wanted);
    // fail-closed: a tool that was taken away is not lent to skills.
    if (tool === undefined) return err(`there is no ${wanted} tool here`);
    let refused: string | undefined;
    const invoke = createInvoke({
      ...parts.around(agent),
      pool: createPool([tool]),
      agent,
      workspace: parts.workspace(agent),
      unattended: true,
      contextFor: parts.contextFor(agent, wanted),
      onVerdict(_call, _tool, verdict) {
        parts.onVerdict(verdict);
        if (verdict.kind === 'refused') refused = whyNot(verdict);
      },
      onInvalidInput: async () => undefined,
      onRan: () => undefined,
    });
    const result = await invoke(
      { type: 'tool_use', id, name: tool.name, input },
      undefined,
      signal,
    );
    return refused === undefined ? ok(result) : err(refused);
  };
}

/** Files that the text of skills names are calls of Read. */
export function skillFiles(
  call: CallForSkill,
  { newId, own }: { readonly newId: () => string; readonly own: Pick<OwnFiles, 'open'> },
): AttachmentParts['read'] {
  return async ({ path, agent, ownDirectory }, signal) => {
    const id = `skill_${newId()}`;
    const close = ownDirectory === undefined ? undefined : own.open(id, ownDirectory);
    try {
      const ran = await call({ id, tool: 'Read', input: { file_path: path }, agent }, signal);
      if (!ran.ok) return { kind: 'refused', reason: ran.error };
      const { block, structured } = ran.value;
      const shown = typeof block.content === 'string' ? block.content : textOf(block.content);
      if (block.is_error === true) return { kind: 'failed', reason: shown };
      const { type, file } = isRecord(structured) ? structured : {};
      if (type !== undefined && type !== 'text') return { kind: 'failed', reason: 'it is no text' };
      // What a hook has put in its place has no file.
      if (!isRecord(file) || typeof file.content !== 'string') {
        return { kind: 'read', text: shown, isCut: false };
      }
      return { kind: 'read', text: file.content, isCut: file.numLines !== file.totalLines };
    } finally {
      close?.();
    }
  };
}

/** Commands in the text of skills are calls of Bash. */
export function skillShell(call: CallForSkill, newId: () => string): RunShell {
  return async ({ text, agent }, signal) => {
    const id = `skill_${newId()}`;
    const ran = await call({ id, tool: 'Bash', input: { command: text }, agent }, signal);
    if (!ran.ok) return { kind: 'refused', reason: ran.error };
    const { block, structured } = ran.value;
    const shown = typeof block.content === 'string' ? block.content : textOf(block.content);
    const output = isRecord(structured) ? structured.stdout : undefined;
    return {
      kind: 'ran',
      text: typeof output === 'string' ? output : shown,
      isError: block.is_error === true,
    };
  };
}
