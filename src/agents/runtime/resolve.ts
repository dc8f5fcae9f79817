import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { serverKey } from '../../mcp/config/names.js';
import { MODEL_ALIASES } from '../../model/catalog/aliases.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';
import type { AgentHost } from './agent-host.js';
import { forkDefinition, forkedTalk, forkRefusal, MAIN_ONLY } from './fork.js';
import type { AgentRunPlan, EarlierTalk, SpawnRequest } from './run.js';

/** The tools and the model of an agent, and whose mind it has. */
type ResolvedAgent = Pick<AgentRunPlan, 'pool' | 'fork' | 'choice' | 'limits'>;

/** An agent that is about to start. */
interface Wanted {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  /** What the agent runs on that starts it; undefined: the session's. */
  readonly parentModel?: string | undefined;
  readonly earlier?: EarlierTalk | undefined;
}

type Host = Pick<AgentHost, 'snapshots' | 'pool' | 'choices' | 'env' | 'provider'>;

export function resolveAgent(
  host: Host,
  wanted: Wanted,
  { depth }: { readonly depth: number },
): Result<ResolvedAgent, string> {
  const { request, ref } = wanted;
  if (request.fork === true) return copied(host, wanted);
  const pool = agentPool(host.pool, request.definition, { maySpawn: ref.depth < depth });
  if (!pool.ok) return pool;
  const model = modelFor(host, wanted);
  return model.ok ? ok({ pool: pool.value, ...model.value }) : model;
}

/** What a copy stands for. Whatever the call says about model and effort is the original's to say. */
export function asFork(
  { snapshots }: Pick<Host, 'snapshots'>,
  request: SpawnRequest,
  originalId: string,
): SpawnRequest {
  if (request.fork !== true) return request;
  const { model: _model, effort: _effort, ...rest } = request;
  return { ...rest, definition: forkDefinition(snapshots.get(originalId)?.definition) };
}

/** The very tools, model and words of the original, so that a provider finds them in its cache. */
function copied(
  { snapshots }: Host,
  { request, ref, earlier }: Wanted,
): Result<ResolvedAgent, string> {
  const mind = snapshots.get(ref.parentId ?? '');
  if (mind === undefined) return err('the agent that it is a copy of is not there any more');
  const refusal = earlier === undefined ? forkRefusal(request.parent, mind.messages()) : undefined;
  if (refusal !== undefined) return err(refusal);
  const talk = earlier === undefined ? forkedTalk(mind.messages(), request.toolUseId) : ok([]);
  if (!talk.ok) return talk;
  return ok({
    pool: mind.pool.view({}),
    choice: mind.choice(),
    limits: mind.limits(),
    fork: { system: mind.system, messages: talk.value },
  });
}

/** The tools of an agent: those of the session that its definition leaves it. */
export function agentPool(
  session: ToolPool,
  {
    tools,
    disallowedTools,
    mcpServers,
  }: Pick<AgentDefinition, 'tools' | 'disallowedTools' | 'mcpServers'>,
  { maySpawn }: { readonly maySpawn: boolean },
): Result<ToolPool, string> {
  // Who names a server means all that it offers.
  const servers = mcpServers.map(({ name }) => `mcp__${serverKey(name)}`);
  const pool = session.view({
    allow: tools === undefined ? undefined : [...tools.map(bareName), ...servers],
    deny: [
      ...MAIN_ONLY,
      ...(maySpawn ? [] : ['Agent']),
      // With something in parentheses it is a rule, and the tool stays.
      ...disallowedTools.filter((entry) => bareName(entry) === entry),
    ],
  });
  if (tools !== undefined && tools.length > 0 && pool.tools.length === 0) {
    return err(`none of its tools is there: ${tools.join(', ')}`);
  }
  // Without the search nobody could ask for what is told by name alone.
  const unseen = pool.resolve('ToolSearch') === undefined ? pool.deferred : [];
  if (unseen.length > 0) pool.load(unseen.map(({ name }) => name));
  return ok(pool);
}

/** The environment, then the call, then the definition, then what the parent runs on. */
function modelFor(
  { choices, env, provider }: Host,
  { request, parentModel }: Wanted,
): Result<Pick<ResolvedAgent, 'choice' | 'limits'>, string> {
  const { definition } = request;
  const named = [env.CLAUDE_CODE_SUBAGENT_MODEL, request.model, definition.model].find(
    (name) => name !== undefined && !['', 'inherit'].includes(name.trim().toLowerCase()),
  );
  // The words of one provider mean nothing to another one.
  const isForeign =
    named !== undefined && provider !== 'anthropic' && MODEL_ALIASES.includes(named.toLowerCase());
  const model = named === undefined || isForeign ? parentModel : named;
  try {
    return ok(choices.other({ model, effort: request.effort ?? definition.effort }));
  } catch (thrown) {
    return err(`its model "${model ?? ''}" cannot be used: ${messageOf(thrown)}`);
  }
}
