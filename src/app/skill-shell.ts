import { isRecord } from '../lib/own.js';
import { textOf } from '../protocol/content.js';
import type { RunShell } from '../skills/invoke/shell.js';
import type { CallForSkill } from './skill-calls.js';

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
