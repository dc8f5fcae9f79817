import { err, ok, type Result } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createWorkspace } from '../../tools/workspace.js';
import { type GuardHooks, guardsOf, recallGuards } from '../limits/inherited-hooks.js';
import {
  type AgentLimits,
  applyRecordedLimits,
  inheritedLimits,
  isFinal,
  recordedLimits,
  unenforceable,
} from '../limits/limits.js';
import type { ResumeRequest } from '../limits/type-rules.js';
import { emitFinished, emitStarted, outputFor } from './agent-log.js';
import { runChild } from './child.js';
import type { AgentHost } from './host.js';
import { asFork, resolveAgent } from './resolve.js';
import { type EarlierAgent, notResumable, requestAgain } from './resume.js';
import { newAgentId, newRef, type Roster } from './roster.js';
import {
  AgentRun,
  type AgentRunPlan,
  type ChildPlace,
  type EarlierTalk,
  type SpawnRequest,
} from './run.js';

type Started = Result<AgentRun, string>;

/** An agent about to start, with the limits and hooks of its ancestors. */
interface Start {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  readonly earlier?: EarlierTalk;
  readonly above: readonly AgentLimits[];
  readonly guards: readonly GuardHooks[];
}

/** Starts, resumes and ends the agents of a session. */
export class AgentRuntime {
  readonly roster: Roster;
  readonly #host: AgentHost;
  /** Calls about to start an agent, which count against the limit. */
  #starting = 0;
  /** Agents being resumed, by id. */
  readonly #resuming = new Map<string, Promise<Started>>();

  constructor(host: AgentHost) {
    this.#host = host;
    this.roster = host.roster;
  }

  /** Starts an agent, or returns the reason: depth, number, budget, unknown tools. */
  async spawn(wanted: SpawnRequest): Promise<Started> {
    const { parent } = wanted;
    const refusal = this.#tooDeep(parent.depth + 1) ?? this.#tooMany();
    if (refusal !== undefined) return err(refusal);
    const plan = this.roster.living(parent.id)?.plan;
    // fail-closed: an agent inherits its parent's limits, and the parent has ended.
    if (parent.depth > 0 && plan === undefined)
      return err('the agent that asks for it is not there any more');
    this.#starting++;
    try {
      const request = await this.#prepared(wanted, parent.id);
      const id = request.id ?? newAgentId(this.#host.environment.clock.uuid());
      const ref = newRef(request, id, this.roster.pathFor(parent, request.definition.name));
      const { below: above = [], guardsBelow: guards = this.#guards() } = plan ?? {};
      return await this.#place({ request, ref, above, guards });
    } finally {
      this.#starting--;
    }
  }

  /**
   * Resumes an ended agent in the background. Fails for an unknown, running or one-shot agent, one that a
   * person stopped, one that is not a descendant of `from`, and one whose type `from` may not start without a
   * question. When several callers resume one agent, the first succeeds and the others send it their message.
   */
  async resume(idOrName: string, prompt: string, wish: ResumeRequest): Promise<Started> {
    const id = this.roster.find(idOrName)?.id ?? idOrName;
    for (let begun = this.#resuming.get(id); begun !== undefined; begun = this.#resuming.get(id)) {
      const other = await begun.catch(() => undefined);
      const content = [{ type: 'text' as const, text: prompt }];
      const message = { uuid: this.#host.environment.clock.uuid(), content, meta: true };
      if (other?.ok === true && this.roster.living(id)?.hear(message) === true) return other;
    }
    const refusal = this.#refuseResume(id) ?? this.#tooMany();
    if (refusal !== undefined) return err(refusal);
    this.#starting++;
    const begun = this.#resume(id, prompt, wish);
    this.#resuming.set(id, begun);
    try {
      return await begun;
    } finally {
      this.#resuming.delete(id);
      this.#starting--;
    }
  }

  /** Sends a message to an agent by id; false when it has ended. */
  tell(id: string, message: InputMessage): boolean {
    if (id !== MAIN_AGENT.id) return this.roster.living(id)?.hear(message) ?? false;
    this.#host.tellMain(message);
    return true;
  }

  cancel(run: AgentRun, by: 'person' | 'parent' | 'session', reason: string): void {
    for (const one of [...this.roster.below(run.ref), run]) one.cancel(by, reason);
  }

  /** Cancels all agents and waits for their end. */
  async close(): Promise<void> {
    const running = this.roster.running();
    for (const run of running) run.cancel('session', 'the session is over');
    await Promise.all(running.map(({ ended }) => ended));
  }

  #tooDeep(depth: number): string | undefined {
    if (depth <= this.#host.limits().depth) return undefined;
    return `agents are nested ${depth - 1} deep already, which is the limit. Do not try again: do the work yourself`;
  }

  #tooMany(): string | undefined {
    const { concurrency } = this.#host.limits();
    if (this.roster.running().length + this.#starting < concurrency) return undefined;
    return `${concurrency} agents are running, which is the limit. Do not try again before one of them has ended`;
  }

  #refuseResume(id: string): string | undefined {
    const known = this.roster.find(id);
    if (known !== undefined && known.report() === undefined) return `${id} still runs`;
    const end = known?.report()?.end;
    if (end?.kind !== 'cancelled' || end.by !== 'person') return undefined;
    return `${id} was stopped by a person, who alone can go on with it`;
  }

  /** The main agent's hooks that judge the calls of all agents. */
  #guards(): readonly GuardHooks[] {
    const { runsAs } = this.#host.config;
    return runsAs === undefined ? [] : [guardsOf(runsAs) ?? []].flat();
  }

  /** The request with its definition adapted to this session. */
  async #prepared(wanted: SpawnRequest, parentId: string): Promise<SpawnRequest> {
    const { memories, snapshots } = this.#host;
    const request = asFork(wanted, snapshots.get(parentId));
    const definition = await memories.equip(request.definition);
    return { ...request, definition, description: request.description.trim() || definition.name };
  }

  /** Opens the agent's workspace, and closes it when the agent cannot be started. */
  async #place(start: Start): Promise<Started> {
    const { request, ref } = start;
    const { environment, workspaceFor } = this.#host;
    const starter = this.roster.living(ref.parentId ?? '')?.plan;
    const parent = starter?.place.workspace ?? environment.workspace;
    const made = (await workspaceFor(request, ref, parent)) ?? samePlace(request, parent);
    if (!made.ok) return made;
    const place = made.value;
    const { isolation = ref.isolation, workspace = ref.workspace } = place.ref ?? {};
    const seen = starter?.readState ?? this.#host.toolRuntime().calls.readState;
    const readState = place.readState ?? seen.clone();
    const placed = { ...start, ref: { ...ref, isolation, workspace } };
    const started = this.#start(placed, { place, readState });
    if (!started.ok) await place.finish();
    return started;
  }

  /** Makes all remaining checks, then starts the agent. */
  #start(
    { request, ref, above, guards, earlier }: Start,
    at: Pick<AgentRunPlan, 'place' | 'readState'>,
  ): Started {
    const host = this.#host;
    const { definition } = request;
    // fail-closed: answers, restrictions and budgets are keyed by path, so two agents must not share one.
    if (this.roster.running().some((run) => run.ref.path === ref.path)) {
      return err(`another agent runs as ${ref.path} just now`);
    }
    const resolved = resolveAgent(host, { request, ref, earlier });
    if (!resolved.ok) return resolved;
    const held = above.map(({ budget = {} }) => budget);
    const how = { again: earlier !== undefined, above: earlier === undefined ? undefined : held };
    const budget = host.model.budget.open(ref, definition.budget, how);
    if (!budget.ok) return budget;
    const fence = host.fences.raise(ref, definition, above);
    const refusal = fence.ok ? request.admit?.(ref) : fence.error;
    if (!fence.ok || refusal !== undefined) {
      if (fence.ok) fence.value();
      budget.value.close();
      return err(refusal ?? '');
    }
    const below = [...above, inheritedLimits(definition, ref)];
    const modes = below.flatMap(({ mode }) => mode ?? []);
    const leave = host.toolRuntime().permissions.admit(ref, modes, request.mode);
    const run = new AgentRun({
      request,
      ref,
      ...at,
      ...resolved.value,
      budget: budget.value,
      output: outputFor(host, ref),
      above,
      below,
      guards,
      guardsBelow: [...guards, ...[guardsOf(definition) ?? []].flat()],
      startedAt: host.environment.clock.now(),
      earlier,
    });
    this.roster.add(run, request.name);
    host.deliveries.started(run);
    emitStarted(host, run);
    void this.#run(run, [fence.value, leave, budget.value.close]);
    return ok(run);
  }

  async #run(run: AgentRun, undo: readonly (() => void)[]): Promise<void> {
    const { deliveries } = this.#host;
    const report = await runChild(this.#host, run);
    for (const step of undo) step();
    const { log } = run.plan.output;
    log?.append(report.end.kind === 'done' ? '' : `[${report.end.kind}: ${report.end.reason}]`);
    log?.close();
    this.roster.ended(run);
    // Written to the journal before anyone is notified, so that a crash does not lose it.
    deliveries.ended(report, run);
    emitFinished(this.#host, run, report);
    // Settled before the delivery, so that no call still waits for it.
    run.settle(report);
    if (run.ref.background) deliveries.deliver(report, { to: this.#heirOf(run.ref), task: run });
  }

  /** The parent, or the nearest ancestor that still runs. */
  #heirOf({ parentId }: AgentRef): AgentRef {
    for (let id = parentId; id !== undefined && id !== MAIN_AGENT.id; ) {
      const parent = this.roster.living(id);
      if (parent?.isListening === true) return parent.ref;
      id = this.roster.find(id)?.ref.parentId;
    }
    return MAIN_AGENT;
  }

  async #resume(id: string, prompt: string, wish: ResumeRequest): Promise<Started> {
    const { find, forbidsResume } = this.#host;
    const { from } = wish;
    const earlier = await this.#host.earlier(id);
    if (earlier === undefined) return err(`there is no agent ${id}`);
    const refusal = notResumable(earlier, from) ?? this.#tooDeep(earlier.ref.depth);
    if (refusal !== undefined) return err(refusal);
    const definition = await find(earlier.ref.type);
    if (definition === undefined)
      return err(`there is no agent of the type ${earlier.ref.type} now`);
    const held = recordedLimits(earlier.ref);
    const over = isFinal(definition, held);
    if (over !== undefined) return err(over);
    const forbidden = await forbidsResume(wish, definition, find);
    if (forbidden !== undefined) return err(`${from.path} may not go on with ${id}: ${forbidden}`);
    const { held: _held, ...who } = earlier.ref;
    const untrusted = definition.trusted === false ? { untrusted: true as const } : {};
    const parentId = who.parentId ?? from.id;
    const ref: AgentRef = { ...who, parentId, background: true, ...untrusted };
    const again = requestAgain(earlier, { definition, prompt, from });
    const now = await this.#prepared(again, parentId);
    const lost = held === undefined ? undefined : unenforceable(now.definition, held);
    if (lost !== undefined) return err(`${id} cannot go on: ${lost}`);
    const guards = await this.#guardsAgain(earlier);
    if (!guards.ok) return err(`${id} cannot go on: ${guards.error}`);
    const request = { ...now, definition: applyRecordedLimits(now.definition, held) };
    const { talk, above = [] } = earlier;
    return await this.#place({ request, ref, earlier: talk, above, guards: guards.value });
  }

  /** The inherited hooks of a resumed agent, whose ancestors may run or have ended. */
  async #guardsAgain({
    ref,
    above = [],
  }: EarlierAgent): Promise<Result<readonly GuardHooks[], string>> {
    const living = this.roster.living(ref.parentId ?? '');
    if (living !== undefined) return ok(living.plan.guardsBelow);
    const recalled = await recallGuards(above, this.#host.find);
    return recalled.ok ? ok([...this.#guards(), ...recalled.value]) : recalled;
  }
}

/** The parent's directories with the agent's own current directory. */
function samePlace(
  { isolation, definition, reopen }: SpawnRequest,
  parent: ChildPlace['workspace'],
): Result<ChildPlace, string> {
  const wanted = reopen ?? isolation ?? definition.isolation ?? definition.workspace.kind;
  // fail-closed: an agent that needs its own workspace does not run in its parent's.
  if (wanted !== 'inherit') return err(`its workspace (${wanted}) cannot be made here`);
  const workspace = createWorkspace(parent.roots);
  workspace.setCwd(parent.cwd);
  return ok({ workspace, finish: async () => ({}) });
}
