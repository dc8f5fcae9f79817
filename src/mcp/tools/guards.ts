import { type Finding, type Guard, NOTHING } from '../../permissions/guard.js';
import type { CallView } from '../../permissions/view.js';

/** In plan mode nothing is done, whatever rules allow: what a tool of a server does, nobody can tell. */
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
 * A server whose name holds `__`, or ends with what becomes `_`, has tools that read like those of a
 * server with a shorter name. What was granted to that one is not granted to this.
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
    return wrongServer(view, granting[0]?.label ?? 'a rule', origin);
  },
};

function isFor(rule: string, key: string): boolean {
  return rule === `mcp__${key}` || rule.startsWith(`mcp__${key}__`);
}

function wrongServer(
  { call }: CallView,
  rule: string,
  { server, key }: { readonly server: string; readonly key: string },
): Finding {
  return {
    decision: 'ask',
    reason: `${rule} allows ${call.tool.name} by its letters, but is not written for the server "${server}"; write mcp__${key}__*`,
    source: `server ${key}`,
  };
}
