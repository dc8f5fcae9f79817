import type { Message } from '../protocol/content.js';
import type { ToolDefinition } from './client.js';

/**
 * JSON text that every server can read. A lone half of a surrogate pair, which JavaScript writes as
 * an escape, makes strict parsers refuse the whole request; it becomes U+FFFD.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replace(/\p{Surrogate}/gu, '\ufffd') : inner,
  );
}

const toolTexts = new WeakMap<ToolDefinition, string>();

/** The definition of a tool as requests carry it: only what the API knows, in one order. */
export function toolText(tool: ToolDefinition): string {
  let text = toolTexts.get(tool);
  if (text === undefined) {
    const { name, description, input_schema } = tool;
    text = jsonText({ name, description, input_schema });
    toolTexts.set(tool, text);
  }
  return text;
}

/**
 * Serialises every message once. A request repeats the whole history; equal text for equal messages also keeps
 * the provider's prompt cache valid.
 */
export function serializedOnce<T>(serialize: (message: Message) => T): (message: Message) => T {
  const known = new WeakMap<Message, { readonly value: T }>();
  return (message) => {
    let entry = known.get(message);
    if (entry === undefined) {
      entry = { value: serialize(message) };
      known.set(message, entry);
    }
    return entry.value;
  };
}
