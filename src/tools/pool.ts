import type { ToolDefinition } from '../model/client.js';
import { nearest } from '../util/nearest.js';
import type { AnyTool } from './tool.js';

/** The tools of one agent, frozen: order and bytes of the definitions never change within a session. */
export interface ToolPool {
  readonly tools: readonly AnyTool[];
  readonly definitions: readonly ToolDefinition[];
  /** Exact, then unique without regard to case, then a known alias. */
  resolve(name: string): AnyTool | undefined;
  /** The closest known name, for the message about an unknown one. */
  nearestName(name: string): string | undefined;
}

export function createPool(tools: readonly AnyTool[]): ToolPool {
  const sorted = Object.freeze(
    [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  );
  const byName = new Map(sorted.map((tool) => [tool.name, tool]));
  const folded = new Map<string, AnyTool | 'ambiguous'>();
  for (const tool of sorted) addFolded(folded, tool.name, tool);
  for (const tool of sorted) {
    for (const alias of tool.aliases ?? []) {
      if (!folded.has(alias.toLowerCase())) folded.set(alias.toLowerCase(), tool);
    }
  }
  return {
    tools: sorted,
    definitions: Object.freeze(sorted.map((tool) => tool.definition)),
    resolve(name) {
      const exact = byName.get(name);
      if (exact !== undefined) return exact;
      const found = folded.get(name.toLowerCase());
      return found === 'ambiguous' ? undefined : found;
    },
    nearestName: (name) => nearest(name, byName.keys()),
  };
}

function addFolded(folded: Map<string, AnyTool | 'ambiguous'>, name: string, tool: AnyTool): void {
  const key = name.toLowerCase();
  folded.set(key, folded.has(key) ? 'ambiguous' : tool);
}
