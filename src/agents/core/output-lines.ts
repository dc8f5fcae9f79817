import { sliceWhole } from '../../lib/truncate.js';
import { type AssistantBlock, type ToolResultBlock, textOf } from '../../protocol/content.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';

/** What of an input or a result is shown to whoever looks on. */
const SHOWN = 500;

/** A block of an answer as people read it who look on; undefined: it is not shown. */
export function blockLine(block: AssistantBlock): string | undefined {
  if (block.type === 'text') return block.text;
  if (block.type !== 'tool_use') return undefined;
  return `→ ${block.name} ${sliceWhole(JSON.stringify(block.input), 0, SHOWN)}`;
}

export function resultLine({ content, is_error }: ToolResultBlock): string {
  const text = typeof content === 'string' ? content : textOf(content);
  return `${is_error === true ? '✗' : '✓'} ${sliceWhole(text, 0, SHOWN)}`;
}

/** The same of a transcript, of an agent that has no other output. */
export function outputOf(entries: readonly TranscriptEntry[]): string {
  const lines: string[] = [];
  for (const entry of entries) {
    if (entry.type === 'assistant') {
      for (const block of entry.message.content) lines.push(...[blockLine(block) ?? []].flat());
    }
    if (entry.type !== 'user' || typeof entry.message.content === 'string') continue;
    for (const block of entry.message.content) {
      if (block.type === 'tool_result') lines.push(resultLine(block));
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}
