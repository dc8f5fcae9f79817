import type { ModelLayer } from '../agents/model-layer.js';
import type { SessionInfo } from '../protocol/session-events.js';
import type { Ground, Log } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenServersOfSession } from './mcp-servers.js';

export interface InfoParts {
  readonly model: Pick<ModelLayer, 'choices' | 'client'>;
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly hands: Pick<Hands, 'permissions' | 'builtins'>;
  readonly mcp: Pick<OpenServersOfSession, 'statuses'> | undefined;
  readonly memoryPaths: readonly string[];
}

/** The facts about a session as they are now. */
export function sessionInfo({ env, workspace }: Ground, parts: InfoParts): SessionInfo {
  const { model, log, hands, mcp } = parts;
  const { sessionId } = log.history;
  return {
    sessionId,
    cwd: workspace.cwd,
    model: model.choices.current().model,
    mode: hands.permissions.mode(),
    tools: hands.builtins.pool.names,
    keySource: env.ANTHROPIC_API_KEY === undefined ? 'none' : 'ANTHROPIC_API_KEY',
    additionalDirectories: workspace.roots.slice(1),
    memoryPaths: parts.memoryPaths,
    transcriptPath: log.store.transcriptPath(sessionId),
    mcpServers: (mcp?.statuses() ?? []).map(({ name, state, scope, transport }) => ({
      name,
      status: state,
      source: transport === 'sdk' ? 'sdk' : scope,
    })),
    models: model.choices.offers(),
    provider: model.client.provider,
  };
}
