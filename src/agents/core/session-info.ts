import type { SessionEnvironment } from '../../config/session-environment.js';
import { styleName } from '../../context/prompt/session-style.js';
import { serverKey } from '../../mcp/config/names.js';
import type { ServerStatus } from '../../mcp/server.js';
import type { SessionInfo } from '../../protocol/session-events.js';
import type { Parts } from './session-parts.js';

export function sessionInfo(
  environment: SessionEnvironment,
  { model, log, toolRuntime, mcp }: Parts,
  memoryPaths: readonly string[],
): SessionInfo {
  const { env, workspace, plugins } = environment;
  const { sessionId } = log.history;
  const statuses = mcp?.statuses() ?? [];
  return {
    sessionId,
    cwd: workspace.cwd,
    model: model.choices.current().model,
    mode: toolRuntime.permissions.mode(),
    tools: callableNames(toolRuntime.builtins.pool.names, statuses),
    keySource: env.ANTHROPIC_API_KEY === undefined ? 'none' : 'ANTHROPIC_API_KEY',
    outputStyle: styleName(environment),
    additionalDirectories: workspace.roots.slice(1),
    memoryPaths,
    transcriptPath: log.store.transcriptPath(sessionId),
    mcpServers: statuses.map(({ name, state, scope, transport }) => ({
      name,
      status: state,
      source: transport === 'sdk' ? 'sdk' : scope,
    })),
    plugins: plugins.map(({ name, directory, version }) => ({
      name,
      path: directory,
      version,
    })),
    models: model.choices.offers(),
    provider: model.client.provider,
  };
}

/** Leaves out the tools of disabled servers, which return with their server. */
export function callableNames(
  names: readonly string[],
  statuses: readonly Pick<ServerStatus, 'name' | 'state'>[],
): readonly string[] {
  const off = statuses.filter(({ state }) => state === 'disabled');
  if (off.length === 0) return names;
  const beginnings = off.map(({ name }) => `mcp__${serverKey(name)}__`);
  return names.filter((name) => !beginnings.some((one) => name.startsWith(one)));
}
