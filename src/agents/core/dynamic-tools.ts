import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import type { Message } from '../../protocol/content.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool } from '../../tools/tool.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface LateToolParts {
  readonly mcp: OpenServersOfSession | undefined;
  readonly toolRuntime: Pick<ToolRuntime, 'lateTools'>;
  readonly pool: ToolPool;
  isRunning(): boolean;
  tell(text: string): void;
  /** Says something to the model before the next prompt. */
  remind(text: string): void;
}

/** Takes in tools of servers that come after the start. */
export function takeLateTools(parts: LateToolParts): { beginTurn(): void } {
  const { mcp, toolRuntime, pool } = parts;
  let held: AnyTool[] = [];
  const take = (tools: readonly AnyTool[]): void => {
    if (mcp === undefined || tools.length === 0) return;
    const { added, problems } = toolRuntime.lateTools.add(tools);
    for (const problem of problems) parts.tell(problem);
    const told = mcp.announceLater(added.filter((tool) => pool.deferred.includes(tool)));
    if (told !== undefined) parts.remind(told);
  };
  mcp?.onTools((tools) => {
    // What the model is sent stays as it is for a whole turn: definitions wait for the next one.
    const whole = parts.isRunning()
      ? tools.filter((tool) => !toolRuntime.lateTools.isToldByName(tool))
      : [];
    held.push(...whole);
    take(tools.filter((tool) => !whole.includes(tool)));
  });
  return {
    beginTurn() {
      const tools = held;
      held = [];
      take(tools);
    },
  };
}

/** Tools that were loaded before the session was left are whole again from its first request on. */
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

/** The definitions in an answer of ToolSearch, a line each. */
function namesIn(content: unknown): readonly string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return [...text.matchAll(/\{\\?"name\\?":\\?"(mcp__[A-Za-z0-9_-]+)/g)].flatMap(
    (found) => found[1] ?? [],
  );
}
