import type { Message } from '../../protocol/content.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool } from '../../tools/tool.js';
import type { Parts } from './session-parts.js';

/**
 * Adds tools of servers that connect after the start; the returned function adds the waiting ones when
 * a turn begins.
 */
export function takeLateTools({ mcp, toolRuntime, hooks, current }: Parts): () => void {
  const { lateTools, builtins } = toolRuntime;
  const held: AnyTool[] = [];
  const take = (tools: readonly AnyTool[]): void => {
    if (mcp === undefined || tools.length === 0) return;
    const { added, problems } = lateTools.add(tools);
    for (const problem of problems) hooks.tell(problem);
    const told = mcp.announceLater(added.filter((tool) => builtins.pool.deferred.includes(tool)));
    if (told !== undefined) hooks.pending.remind(told);
  };
  mcp?.onTools((tools) => {
    // The tool definitions in requests stay fixed during a turn, so new ones wait for the next.
    const waits = (tool: AnyTool): boolean =>
      current.run !== undefined && !lateTools.isToldByName(tool);
    held.push(...tools.filter(waits));
    take(tools.filter((tool) => !waits(tool)));
  });
  return () => take(held.splice(0));
}

/** In a resumed session, tools loaded earlier have their definitions in the first request again. */
export function loadAgain(pool: ToolPool, messages: readonly Message[]): void {
  const waiting = new Set(pool.deferred.map(({ name }) => name));
  if (waiting.size === 0) return;
  const searches = new Set<string>();
  const wanted = new Set<string>();
  for (const { content } of messages) {
    for (const block of typeof content === 'string' ? [] : content) {
      if (block.type === 'tool_use') {
        wanted.add(block.name);
        if (block.name === 'ToolSearch') searches.add(block.id);
      } else if (block.type === 'tool_result' && searches.has(block.tool_use_id)) {
        for (const name of namesIn(block.content)) wanted.add(name);
      }
    }
  }
  pool.load([...wanted].filter((name) => waiting.has(name)));
}

/** Names of the definitions in a ToolSearch result, one per line. */
function namesIn(content: unknown): readonly string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return [...text.matchAll(/\{\\?"name\\?":\\?"(mcp__[A-Za-z0-9_-]+)/g)].flatMap(
    (found) => found[1] ?? [],
  );
}
