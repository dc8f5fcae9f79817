import { err, ok, type Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Workspace } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';
import type { AgentHost, ChildPlace } from './agent-host.js';
import type { SpawnRequest } from './task.js';

/** A workspace of its own at the place where the parent is, or one that is made for it. */
export async function placeFor(
  world: Pick<AgentHost, 'workspaceFor'>,
  { request, ref, workspace }: { request: SpawnRequest; ref: AgentRef; workspace: Workspace },
): Promise<Result<ChildPlace, string>> {
  const made = await world.workspaceFor?.(request, ref, workspace);
  if (made !== undefined) return made;
  const { isolation, definition, reopen } = request;
  const wanted = reopen ?? isolation ?? definition.isolation ?? definition.workspace.kind;
  // fail-closed: work that was to be kept apart is not done in the midst of everything.
  if (wanted !== 'inherit') return err(`its workspace (${wanted}) cannot be made here`);
  const own = createWorkspace(workspace.roots);
  own.setCwd(workspace.cwd);
  return ok({ workspace: own, finish: async () => ({}) });
}
