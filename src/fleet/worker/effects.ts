import type { DrivenCall } from '../../app.js';
import { sha256 } from '../../platform/hash.js';
import type { EffectClass, SessionOrder } from '../types.js';

/**
 * What a second run of a call would do. `read`: nothing, it may run again. `idempotent`: nothing more, under the same
 * key. `unsafe`: unknown. fail-closed: what is not known to be harmless is unsafe.
 */
export function effectOf(call: DrivenCall, order: Pick<SessionOrder, 'idempotent'>): EffectClass {
  const { tool, input, readsOnly } = call;
  if (readsOnly) return 'read';
  // Built-in network tools only fetch, and questions to people change nothing.
  if (tool.origin === undefined && (tool.kind === 'network' || tool.needsPerson === true))
    return 'read';
  // The workspace goes back to its snapshot before the call runs again.
  if (tool.kind === 'edit') return 'idempotent';
  return order.idempotent.some((rule) => covers(rule, tool.name, input)) ? 'idempotent' : 'unsafe';
}

/** `mcp__tickets__create`, `mcp__tickets__*`, `Bash(deploy.sh)`: a command that begins with these words. */
function covers(rule: string, tool: string, input: Readonly<Record<string, unknown>>): boolean {
  const [, name = rule, prefix] = /^([^()]+)\((.+)\)$/.exec(rule) ?? [];
  if (prefix !== undefined) {
    const { command } = input;
    if (name !== tool || typeof command !== 'string' || /[;&|`$\n<>()]/.test(command)) return false;
    return command === prefix || command.startsWith(`${prefix} `);
  }
  return name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : name === tool;
}

/** Names a call: an answer is for this one alone. The workspace may lie elsewhere on another machine. */
export function callHash(
  call: { readonly tool: string; readonly cwd: string; readonly input: unknown },
  workspace: string,
): string {
  const cwd = call.cwd.startsWith(workspace) ? call.cwd.slice(workspace.length) : call.cwd;
  return sha256(JSON.stringify(['fleet call 1', call.tool, cwd, call.input]));
}
