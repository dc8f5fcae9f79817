import type { ToolDefinition } from '../model/client.js';
import { createNames } from '../util/tool-names.js';
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
  const names = createNames(
    sorted.map((tool) => ({ name: tool.name, aliases: tool.aliases, value: tool })),
  );
  return {
    tools: sorted,
    definitions: Object.freeze(sorted.map((tool) => tool.definition)),
    resolve: names.resolve,
    nearestName: names.nearest,
  };
}
