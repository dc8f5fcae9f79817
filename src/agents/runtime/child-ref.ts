import type { AgentRef } from '../../protocol/agent-ref.js';
import type { OpenRoster } from './roster.js';
import type { SpawnRequest } from './task.js';

export function newAgentId(uuid: string): string {
  return `a${uuid.replaceAll('-', '').slice(0, 16)}`;
}

/** Who a new agent is. */
export function newRef(
  { uuid, roster }: { uuid(): string; readonly roster: Pick<OpenRoster, 'pathFor'> },
  request: SpawnRequest,
): AgentRef {
  const { definition, parent, background, name, toolUseId } = request;
  return {
    id: request.id ?? newAgentId(uuid()),
    type: definition.name,
    name,
    path: roster.pathFor(parent, definition.name),
    parentId: parent.id,
    depth: parent.depth + 1,
    spawnedBy: toolUseId,
    background,
    workspace: parent.workspace,
    isolation: parent.isolation,
    ...(definition.trusted === false ? { untrusted: true as const } : {}),
  };
}
