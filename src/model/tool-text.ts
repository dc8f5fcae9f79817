import type { ToolDefinition } from './client.js';
import { jsonText } from './json-text.js';

/** Agents share their tools, and requests are measured before they are made: each is written once. */
const texts = new WeakMap<ToolDefinition, string>();

/** The definition of a tool as requests carry it: only what the API knows, in one order. */
export function toolText(tool: ToolDefinition): string {
  const known = texts.get(tool);
  if (known !== undefined) return known;
  const { name, description, input_schema } = tool;
  const text = jsonText({ name, description, input_schema });
  texts.set(tool, text);
  return text;
}
