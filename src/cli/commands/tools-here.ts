import { type ModelLayer, openModelLayer } from '../../agents/model-layer.js';
import type { SessionConfig } from '../../agents/session-config.js';
import { type Ground, openGround } from '../../harness/ground.js';
import type { Parts } from '../../harness/session-parts.js';
import { openParts } from '../../harness.js';
import { chooseProvider } from '../../model/provider.js';
import { VERSION } from '../../version.js';
import { silentModel } from './context-here.js';

export interface ToolsWishes
  extends Pick<
    SessionConfig,
    | 'entrypoint'
    | 'persist'
    | 'emit'
    | 'asker'
    | 'elicit'
    | 'settings'
    | 'allowedTools'
    | 'mcpConfig'
    | 'tools'
    | 'strictMcpConfig'
  > {
  /** Whether hooks and tools may ask a model. */
  readonly asksModel: boolean;
}

export interface ToolsHere {
  readonly ground: Ground;
  readonly parts: Parts;
  close(): Promise<void>;
}

/** The tools of a session with the gate before them, and no conversation. Starts no server. */
export async function openToolsHere(wishes: ToolsWishes): Promise<ToolsHere> {
  const { asksModel, ...fields } = wishes;
  const config: SessionConfig = {
    ...fields,
    cwd: process.cwd(),
    env: process.env,
    start: { kind: 'new', id: undefined },
    fork: false,
    trust: false,
    startServers: false,
  };
  const ground = await openGround(config);
  const model = asksModel ? await modelHere(config, ground) : silentModel(config, ground);
  const parts = await openParts(config, ground, model);
  const { agents, mcp, hooks, skills, hands, processes, sandbox, checkpoints, log } = parts;
  mcp?.onTools((tools) => void hands.lateTools.add(tools));
  return {
    ground,
    parts,
    async close() {
      await agents.close();
      await hands.builtins.shells.killAll();
      await mcp?.close();
      await hooks.close();
      await skills.close();
      await processes.killAll();
      await sandbox.close();
      await checkpoints.close();
      hands.journal.close();
      log.store.close();
    },
  };
}

/** The model that is configured; without one, whoever asks is told that there is no answer. */
async function modelHere(config: SessionConfig, ground: Ground): Promise<ModelLayer> {
  const fromSettings = ground.settings.model?.value;
  if (chooseProvider(ground.env, { model: fromSettings }).kind !== 'none') {
    return await openModelLayer(config, {
      env: ground.env,
      clock: ground.clock,
      version: VERSION,
      fromSettings,
      readText: (file) => ground.fs.readText(file),
    });
  }
  const silent = silentModel(config, ground);
  return {
    ...silent,
    client: {
      ...silent.client,
      async *stream() {
        const message = 'no model is configured';
        yield { type: 'failure', failure: { kind: 'bad_response', message, retryable: false } };
      },
    },
  };
}
