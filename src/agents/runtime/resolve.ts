import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { serverKey } from '../../mcp/config/names.js';
import { MODEL_ALIASES } from '../../model/catalog/aliases.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';
import {
  type ConversationSnapshot,
  forkDefinition,
  forkedTalk,
  forkRefusal,
  MAIN_ONLY,
} from './fork.js';
import type { AgentHost } from './host.js';
import type { AgentRunPlan, EarlierTalk, SpawnRequest } from './run.js';

/** The tools and the model of an agent, and the conversation that it continues. */
type ResolvedAgent = Pick<AgentRunPlan, 'pool' | 'fork' | 'choice' | 'limits'>;

interface Wanted {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  readonly earlier?: EarlierTalk | undefined;
}

export function resolveAgent(host: AgentHost, wanted: Wanted): Result<ResolvedAgent, string> {
  const { request, ref } = wanted;
  if (request.fork === true) return copied(host, wanted);
  const maySpawn = ref.depth < host.limits().depth;
  const pool = agentPool(host.toolRuntime().builtins.shared, request.definition, { maySpawn });
  if (!pool.ok) return pool;
  const model = modelFor(host, wanted);
  return model.ok ? ok({ pool: pool.value, ...model.value }) : model;
}

/** Turns a request for a fork into one with the original's definition; the call's model and effort are ignored. */
export function asFork(
  request: SpawnRequest,
  original: ConversationSnapshot | undefined,
): SpawnRequest {
  if (request.fork !== true) return request;
  const { model: _model, effort: _effort, ...rest } = request;
  return { ...rest, definition: forkDefinition(original?.definition) };
}

/** A fork uses the tools, model and system prompt of its original, so that the provider's cache matches. */
function copied(
  { snapshots }: AgentHost,
  { request, ref, earlier }: Wanted,
): Result<ResolvedAgent, string> {
  const original = snapshots.get(ref.parentId ?? '');
  if (original === undefined) return err('the agent that it is a copy of is not there any more');
  const { pool, system } = original;
  const resolved = { pool: pool.view({}), choice: original.choice(), limits: original.limits() };
  if (earlier !== undefined) return ok({ ...resolved, fork: { system, messages: [] } });
  const refusal = forkRefusal(request.parent, original.messages());
  if (refusal !== undefined) return err(refusal);
  const talk = forkedTalk(original.messages(), request.toolUseId);
  return talk.ok ? ok({ ...resolved, fork: { system, messages: talk.value } }) : talk;
}

/** The tools of an agent: the session's, limited by its definition. */
export function agentPool(
  session: ToolPool,
  { tools, disallowedTools, mcpServers }: AgentDefinition,
  { maySpawn }: { readonly maySpawn: boolean },
): Result<ToolPool, string> {
  // Naming a server gives all its tools.
  const servers = mcpServers.map(({ name }) => `mcp__${serverKey(name)}`);
  const pool = session.view({
    allow: tools === undefined ? undefined : [...tools.map(bareName), ...servers],
    deny: [
      ...MAIN_ONLY,
      ...(maySpawn ? [] : ['Agent']),
      // A scoped entry (`Bash(rm *)`) is a rule, and the tool stays.
      ...disallowedTools.filter((entry) => bareName(entry) === entry),
    ],
  });
  if (tools !== undefined && tools.length > 0 && pool.tools.length === 0) {
    return err(`none of its tools is there: ${tools.join(', ')}`);
  }
  // Without ToolSearch deferred tools could not be loaded later.
  const unseen = pool.resolve('ToolSearch') === undefined ? pool.deferred : [];
  if (unseen.length > 0) pool.load(unseen.map(({ name }) => name));
  return ok(pool);
}

/** The first of environment, call and definition that names a model, else the parent's model. */
function modelFor(
  { model: { choices, client }, environment: { env }, roster }: AgentHost,
  { request, ref }: Wanted,
): Result<Pick<ResolvedAgent, 'choice' | 'limits'>, string> {
  const { definition } = request;
  const named = [env.CLAUDE_CODE_SUBAGENT_MODEL, request.model, definition.model].find(
    (name) => name !== undefined && !['', 'inherit'].includes(name.trim().toLowerCase()),
  );
  // A model alias of one provider means nothing to another.
  const isForeign =
    named !== undefined &&
    client.provider !== 'anthropic' &&
    MODEL_ALIASES.includes(named.toLowerCase());
  const isOwn = named !== undefined && !isForeign;
  const model = isOwn ? named : roster.find(ref.parentId ?? '')?.model;
  try {
    return ok(choices.other({ model, effort: request.effort ?? definition.effort }));
  } catch (thrown) {
    return err(`its model "${model ?? ''}" cannot be used: ${messageOf(thrown)}`);
  }
}
