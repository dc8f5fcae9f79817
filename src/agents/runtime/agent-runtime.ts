import { err, ok, type Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentHost } from './agent-host.js';
import { agentPool } from './agent-pool.js';
import { type ChosenModel, childModel } from './child-model.js';
import { forkDefinition, forkedTalk, forkRefusal } from './fork.js';
import type { AgentRunPlan, EarlierTalk, ForkedMind } from './run-plan.js';
import type { SpawnRequest } from './task.js';

/** The tools and the model of an agent, and whose mind it has. */
export type ResolvedAgent = Pick<AgentRunPlan, 'pool' | 'fork'> & ChosenModel;

/** An agent that is about to start. */
export interface Wanted {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  /** What the agent runs on that starts it; undefined: the session's. */
  readonly parentModel: string | undefined;
  readonly earlier: EarlierTalk | undefined;
}

type World = Pick<AgentHost, 'snapshots' | 'pool' | 'choices' | 'env' | 'provider'>;

export function resolveAgentRuntime(
  world: World,
  wanted: Wanted,
  limits: { readonly depth: number },
): Result<ResolvedAgent, string> {
  return wanted.request.fork === true ? copied(world, wanted) : own(world, wanted, limits);
}

/** What a copy stands for. Whatever the call says about model and effort is the original's to say. */
export function asFork(
  { snapshots }: Pick<World, 'snapshots'>,
  request: SpawnRequest,
  originalId: string,
): SpawnRequest {
  if (request.fork !== true) return request;
  const { model: _model, effort: _effort, ...rest } = request;
  return { ...rest, definition: forkDefinition(snapshots.get(originalId)?.definition) };
}

function own(
  world: World,
  { request, ref, parentModel }: Wanted,
  { depth }: { readonly depth: number },
): Result<ResolvedAgent, string> {
  const { definition } = request;
  const pool = agentPool(world.pool(), definition, { maySpawn: ref.depth < depth });
  if (!pool.ok) return pool;
  const model = childModel(world, {
    call: request.model,
    definition: definition.model,
    parent: parentModel,
    effort: request.effort ?? definition.effort,
  });
  return model.ok ? ok({ pool: pool.value, ...model.value }) : model;
}

/** The very tools, model and words of the original, so that a provider finds them in its cache. */
function copied(
  { snapshots }: World,
  { request, ref, earlier }: Wanted,
): Result<ResolvedAgent, string> {
  const mind = snapshots.get(ref.parentId ?? '');
  if (mind === undefined) return err('the agent that it is a copy of is not there any more');
  const pool = mind.pool.view({});
  const make = (messages: ForkedMind['messages']): ResolvedAgent => ({
    pool,
    choice: mind.choice(),
    limits: mind.limits(),
    fork: { system: mind.system, messages },
  });
  if (earlier !== undefined) return ok(make([]));
  const refusal = forkRefusal(request.parent, mind.messages());
  if (refusal !== undefined) return err(refusal);
  const talk = forkedTalk(mind.messages(), request.toolUseId);
  return talk.ok ? ok(make(talk.value)) : talk;
}
