import { isRecord } from '../../lib/own.js';
import type { Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import type { OwnFiles } from '../discovery/bundled-skills.js';
import type { AttachmentParts } from './attachments.js';
import type { RunShell } from './shell.js';

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

/** Reads files named in skill texts by calls of Read. */
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
      const { isError, shown, structured } = answerIn(ran.value);
      if (isError) return { kind: 'failed', reason: shown };
      const { type = 'text', file } = structured;
      if (type !== 'text') return { kind: 'failed', reason: 'it is not a text' };
      // A result replaced by a hook has no file.
      return isRecord(file) && typeof file.content === 'string'
        ? { kind: 'read', text: file.content, isCut: file.numLines !== file.totalLines }
        : { kind: 'read', text: shown, isCut: false };
    } finally {
      close?.();
    }
  };
}

export function skillShell(call: CallForSkill, newId: () => string): RunShell {
  return async ({ text: command, agent }, signal) => {
    const id = `skill_${newId()}`;
    const ran = await call({ id, tool: 'Bash', input: { command }, agent }, signal);
    if (!ran.ok) return { kind: 'refused', reason: ran.error };
    const { isError, shown, structured } = answerIn(ran.value);
    const { stdout } = structured;
    return { kind: 'ran', text: typeof stdout === 'string' ? stdout : shown, isError };
  };
}

function answerIn({ block, structured }: ToolCallResult) {
  return {
    isError: block.is_error === true,
    shown: typeof block.content === 'string' ? block.content : textOf(block.content),
    structured: isRecord(structured) ? structured : {},
  };
}
