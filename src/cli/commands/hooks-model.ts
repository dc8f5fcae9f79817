import { createHookAgent, type HookAgentParts } from '../../agents/hook-agent.js';
import { type ModelLayer, openModelLayer } from '../../agents/model-layer.js';
import type { SessionConfig } from '../../agents/session-config.js';
import { messageOf, PortcullisError } from '../../errors.js';
import type { Ground } from '../../harness/ground.js';
import type { AgentJudge } from '../../hooks/agent-runner.js';
import { UsageLedger } from '../../model/usage.js';
import { err, ok, type Result } from '../../util/result.js';
import { VERSION } from '../../version.js';

/** A model that is looked for when a hook first asks one, so that others need none. */
export interface LazyModel {
  readonly layer: ModelLayer;
  /** Agents of hooks, with the session's own tools and gate. */
  judge(parts: () => JudgeParts): AgentJudge;
}

export type JudgeParts = Omit<HookAgentParts, 'client' | 'choice'>;

/** Stands for the small model until it is known which one that is. */
const SMALL = 'small';

export function lazyModel(config: SessionConfig, ground: Ground): LazyModel {
  let opening: Promise<Result<ModelLayer, string>> | undefined;
  const opened = (): Promise<Result<ModelLayer, string>> => {
    opening ??= openModelLayer(config, {
      env: ground.env,
      clock: ground.clock,
      version: VERSION,
      fromSettings: ground.settings.model?.value,
      readText: (file) => ground.fs.readText(file),
    }).then(ok, (thrown: unknown) => err(wordsOf(thrown)));
    return opening;
  };
  return {
    layer: {
      client: {
        provider: 'none',
        elapsedMs: () => 0,
        async *stream(request, signal) {
          const found = await opened();
          if (!found.ok) {
            const failure = { kind: 'model_not_found', message: found.error } as const;
            yield { type: 'failure', failure: { ...failure, retryable: false } };
            return;
          }
          const { client, choices } = found.value;
          const model = request.model === SMALL ? choices.small() : request.model;
          yield* client.stream({ ...request, model }, signal);
        },
      },
      clientFor() {
        return this.client;
      },
      ledger: new UsageLedger(),
      choices: {
        small: () => SMALL,
        fallbacks: [],
        offers: () => [],
        current: unknown,
        limits: unknown,
        resolve: unknown,
        set: unknown,
        forTurn: unknown,
        endTurn: unknown,
        think: unknown,
        other: unknown,
      },
    },
    judge: (parts) => {
      let made: AgentJudge | undefined;
      return async (question, signal) => {
        const found = await opened();
        if (!found.ok) return err({ cause: 'unavailable', message: found.error });
        const { client, choices } = found.value;
        made ??= createHookAgent({
          ...parts(),
          client,
          choice: (name) => ({ ...choices.current(), model: name ?? choices.small() }),
        });
        return await made(question, signal);
      };
    },
  };
}

function wordsOf(thrown: unknown): string {
  const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
  return [messageOf(thrown), remedy].filter((part) => part !== undefined).join('; ');
}

function unknown(): never {
  throw new PortcullisError('internal', 'no conversation is held here, so it has no model');
}
