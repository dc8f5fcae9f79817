import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { createElicitationHooks } from '../../hooks/events/elicitation.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { join } from '../../platform/fs/paths.js';
import { createFetch } from '../../platform/http/fetch.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { VERSION } from '../../version.js';
import { ServerAuth } from '../auth/server-auth.js';
import { createHeadersHelper } from '../config/headers-helper.js';
import { type ClientConnection, createConnection } from '../connection/connection.js';
import { oneLine } from '../resources/content.js';
import { createElicit } from '../resources/elicitation.js';
import type { ServerDeclaration } from '../server.js';

/** Creates connections with the sign-in, headers and transport that each entry needs; loaded with the first server. */
export function connectionMaker(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: { readonly processes: ProcessSupervisor; readonly hooks: OpenHooks },
): (declaration: ServerDeclaration) => ClientConnection {
  const { env, workspace, fs, clock, stateDirectory } = environment;
  const { hooks } = parts;
  const tell = hooks.tell;
  const ask = config.elicit;
  const elicit = createElicit({
    hooks: createElicitationHooks({ dispatch: hooks.dispatch, tell }),
    scene: hooks.scene,
    onNote: tell,
    onAttention(moment, question) {
      const server = oneLine(question.server);
      if (moment === 'over') return;
      if (moment !== 'asked') {
        const message = `The answer to the MCP server "${server}" is ${moment}`;
        return hooks.notify({ type: 'elicitation_response', message });
      }
      hooks.notify({
        type: question.mode === 'url' ? 'elicitation_url_dialog' : 'elicitation_dialog',
        message: `The MCP server "${server}" asks: ${oneLine(question.message)}`,
      });
    },
    clock,
    ask,
  });
  return (declaration) => {
    const { entry, name } = declaration;
    const isRemote = entry !== undefined && 'url' in entry;
    const auth =
      isRemote && entry.type !== 'ws'
        ? new ServerAuth(
            { name, entry },
            { fs, stateDirectory, clock, fetch: createFetch({ environment: env }) },
          )
        : undefined;
    const headers = isRemote
      ? createHeadersHelper(
          { name, scope: declaration.scope, entry },
          {
            processes: parts.processes,
            env,
            cwd: config.cwd,
            trusted: environment.trust.now,
            platform: environment.host.os,
          },
        )
      : undefined;
    const bridge = entry?.type === 'sdk' ? config.mcpBridge?.(name) : undefined;
    return createConnection(declaration, {
      processes: parts.processes,
      env,
      cwd: config.cwd,
      clock,
      roots: () => workspace.roots,
      elicit,
      onNote: tell,
      log: join(stateDirectory, 'mcp-logs', `${declaration.key}.log`),
      clientInfo: { name: 'portcullis', version: VERSION },
      authProvider: auth?.provider,
      stepUp: auth && ((challenge) => auth.stepUp(challenge)),
      refreshAuth: auth && (() => auth.refresh()),
      headers,
      sdkTransport: bridge,
    });
  };
}
