import { shellWord } from '../../lib/text/shell-word.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import { describeChange } from './change.js';
import type { Entry, ServerTools, ToolBookDeps } from './server-tools.js';

/** Entries of refused calls are never consumed, so the oldest are dropped. */
const MOST_NOTED = 256;

/** Records the definition each call is judged by and asks about definitions that no person approved. */
export function definitionGuard({
  servers,
  judged,
  covers,
}: {
  readonly servers: ReadonlyMap<string, ServerTools>;
  readonly judged: Map<string, string>;
  readonly covers: ToolBookDeps['covers'];
}): Guard {
  return {
    name: 'MCP tool definitions',
    // fail-closed: on failure it is unknown whether the definition was approved.
    onFailure: 'deny',
    async decide(view) {
      const { tool, toolUseId } = view.call;
      if (tool.origin === undefined || covers?.(tool) === false) return NOTHING;
      const tools = servers.get(tool.origin.server);
      const entry = tools?.entries.get(tool.origin.tool);
      if (tools === undefined || entry?.tool.name !== tool.name) {
        const reason = `${tool.name} belongs to no server of this session`;
        return { decision: 'deny', refusal: 'guard-failed', reason };
      }
      judged.delete(toolUseId);
      // The cached change may be outdated, so the server is asked again.
      if (tools.away === undefined && !tools.live && tools.isChanged(entry)) {
        const refused = await refusalAnew(tools, entry);
        if (refused !== undefined)
          return { decision: 'deny', refusal: 'approval', reason: refused };
      }
      if (tools.away !== undefined) return { decision: 'deny', reason: tools.away };
      judged.set(toolUseId, entry.current.fingerprint);
      const [oldest] = judged.keys();
      if (judged.size > MOST_NOTED && oldest !== undefined) judged.delete(oldest);
      const isAgreed = tools.agreed(entry)?.fingerprint === entry.current.fingerprint;
      return isAgreed ? NOTHING : findingOf(tools, entry);
    },
  };
}

/** Refreshes the tool list and returns why a changed tool cannot be judged by it. */
async function refusalAnew(tools: ServerTools, entry: Entry): Promise<string | undefined> {
  const asked = await tools.refresh();
  const server = tools.connection.declaration.name;
  // fail-closed: only the unapproved definition is known.
  if (!asked.ok)
    return `the server "${server}" had changed the definition of ${entry.tool.name} since it was approved, and cannot be asked whether it still is so: ${asked.error}`;
  return entry.gone
    ? `the server "${server}" no longer offers ${JSON.stringify(entry.current.name)}`
    : undefined;
}

export function findingOf(tools: ServerTools, entry: Entry): Finding {
  const { current, tool } = entry;
  const agreed = tools.agreed(entry);
  if (agreed?.fingerprint === current.fingerprint) return NOTHING;
  const server = tools.connection.declaration.name;
  const remedy = `To accept all definitions of the server: portcullis mcp approve ${shellWord(server)} --tools`;
  const ask = (what: string, forModel = what): Finding => ({
    decision: 'ask',
    refusal: 'approval',
    reason: `${what} ${remedy}`,
    reasonForModel: `${forModel} ${remedy}`,
    // The answer applies only to this definition.
    source: `definition ${tool.name} ${current.fingerprint.slice(0, 16)}`,
  });
  if (agreed !== undefined) {
    const change = describeChange(agreed.definition, current.raw);
    const has = `the server "${server}" has changed the definition of ${tool.name} since it was approved`;
    // The model does not see the change, because no person has approved its text.
    return ask(`${has}: ${change}.`, `${has}.`);
  }
  // fail-closed: the lost approval may have been for another definition.
  if (tools.approved.damaged) {
    return ask(
      `the approved tools of the server "${server}" can no longer be read, so it is unknown whether ${tool.name} has changed.`,
    );
  }
  return NOTHING;
}

/** In plan mode every MCP tool asks, because its effects are unknown. */
export const planGuard: Guard = {
  name: 'MCP tools in plan mode',
  onFailure: 'ask',
  decide: async ({ mode, call }) =>
    mode === 'plan' && call.tool.origin !== undefined
      ? {
          decision: 'ask',
          refusal: 'plan',
          reason: `${call.tool.name} may change something, which waits while in plan mode`,
          source: `mode ${mode}`,
        }
      : NOTHING,
};

/**
 * A server key with `__` or a trailing `_` makes tool names that also match rules for a shorter server name;
 * a grant for that server must not apply here.
 */
export const serverOfRuleGuard: Guard = {
  name: 'rules of other MCP servers',
  onFailure: 'ask',
  async decide(view) {
    const { origin } = view.call.tool;
    if (origin === undefined || !/__|_$/.test(origin.key)) return NOTHING;
    const granting = view.rules.allow.filter(({ matchesTool }) => matchesTool(view.names));
    if (granting.length === 0 || granting.some(({ text }) => isFor(text, origin.key))) {
      return NOTHING;
    }
    const { server, key } = origin;
    const rule = granting[0]?.label ?? 'a rule';
    return {
      decision: 'ask',
      reason: `${rule} allows ${view.call.tool.name} by its letters, but is not written for the server "${server}"; write mcp__${key}__*`,
      source: `server ${key}`,
    };
  },
};

function isFor(rule: string, key: string): boolean {
  return rule === `mcp__${key}` || rule.startsWith(`mcp__${key}__`);
}
