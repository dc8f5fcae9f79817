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
