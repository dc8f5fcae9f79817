import type { UserBlock } from '../app.js';
import { findCommand } from '../client/commands/registry.js';
import type { QueuedPrompt } from '../client/events.js';
import { PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';

/**
 * A prompt as a host sends it. Throws on what is not one: a block that is broken, or of a kind that
 * only the runtime itself may write, would end up in the history as something that never happened.
 */
export function readUserMessage(
  message: Readonly<Record<string, unknown>>,
  uuid: () => string,
): QueuedPrompt {
  const content = isRecord(message.message) ? message.message.content : undefined;
  const id = typeof message.uuid === 'string' && message.uuid !== '' ? message.uuid : undefined;
  const { priority } = message;
  // fail-closed: what no person said starts nothing, and names nothing with an `@`.
  const verbatim =
    message.client_composed === true ||
    message.isSynthetic === true ||
    typeof message.parent_tool_use_id === 'string';
  const blocks = readContent(content);
  const append = message.shouldQuery === false;
  const command = append || verbatim ? undefined : commandIn(blocks);
  return {
    message: {
      uuid: id ?? uuid(),
      content: blocks,
      ...(verbatim ? { verbatim } : {}),
    },
    ...(append && { append }),
    ...(command !== undefined && { command }),
    ...(isRecord(message.origin) ? { origin: message.origin } : {}),
    named: id !== undefined,
    priority: priority === 'now' || priority === 'later' ? priority : 'next',
  };
}

/** A slash command of the runtime itself, which is no part of any conversation. */
function commandIn(blocks: readonly UserBlock[]): string | undefined {
  const [only, ...others] = blocks;
  if (only?.type !== 'text' || others.length > 0) return undefined;
  return findCommand(only.text) === undefined ? undefined : only.text;
}

function readContent(content: unknown): readonly UserBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw refusal('its content is neither text nor a list of blocks');
  return content.flatMap(readBlock);
}

function readBlock(block: unknown): readonly UserBlock[] {
  if (!isRecord(block)) throw refusal('a block of its content is not an object');
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw refusal('a text block has no text');
      // Models refuse empty ones.
      return block.text === '' ? [] : [{ type: 'text', text: block.text }];
    case 'image':
    case 'document':
      if (!isRecord(block.source) || typeof block.source.type !== 'string') {
        throw refusal(`its ${block.type} block has no source`);
      }
      return [block as unknown as UserBlock];
    default:
      // fail-closed: results of tools come from the tools.
      throw refusal(`a block of the kind ${JSON.stringify(block.type)} cannot be part of a prompt`);
  }
}

function refusal(why: string): PortcullisError {
  return new PortcullisError('usage', `a user message on standard input cannot be read: ${why}`);
}
