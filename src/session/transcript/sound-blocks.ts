import { isRecord } from '../../lib/own.js';
import type {
  AssistantBlock,
  ResultBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../protocol/content.js';

/**
 * Blocks of a transcript that can be sent to a model. Files come from other writers, other versions
 * and other people's machines: a block that is not what its type says is left out or made whole, so
 * that one of them never makes a session unusable. Kinds that we do not know stay.
 */
export function soundUserBlocks(content: string | readonly unknown[]): UserBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((block) => {
    if (!isRecord(block)) return [];
    if (block.type === 'tool_result') return soundResult(block);
    return isSound(block) ? [block as unknown as UserBlock] : [];
  });
}

/** Other writers store a whole answer as a string. */
export function soundAssistantBlocks(content: string | readonly unknown[]): AssistantBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((block) => {
    if (!isRecord(block)) return [];
    if (block.type === 'tool_use') return soundCall(block);
    return isSound(block) ? [block as unknown as AssistantBlock] : [];
  });
}

function isSound(block: Readonly<Record<string, unknown>>): boolean {
  switch (block.type) {
    case 'text':
      // Models refuse empty ones.
      return typeof block.text === 'string' && block.text !== '';
    case 'thinking':
      return typeof block.thinking === 'string' && typeof block.signature === 'string';
    case 'image':
    case 'document':
      return isRecord(block.source);
    default:
      return true;
  }
}

function soundCall(block: Readonly<Record<string, unknown>>): ToolUseBlock[] {
  if (typeof block.id !== 'string' || typeof block.name !== 'string') return [];
  const call = block as unknown as ToolUseBlock;
  return [isRecord(block.input) ? call : { ...call, input: {} }];
}

function soundResult(block: Readonly<Record<string, unknown>>): ToolResultBlock[] {
  if (typeof block.tool_use_id !== 'string') return [];
  const result = block as unknown as ToolResultBlock;
  const { content } = block;
  if (typeof content === 'string') return [result];
  if (!Array.isArray(content)) return [{ ...result, content: '' }];
  const sound = content.filter((part): part is ResultBlock => isRecord(part) && isSound(part));
  return [sound.length === content.length ? result : { ...result, content: sound }];
}
