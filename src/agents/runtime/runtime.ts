import { err, ok, type Result } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { CloneableReadState } from '../../tools/files/read-state.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { Deliveries } from '../delivery/deliveries.js';
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
import type { AgentHost } from './agent-host.js';
import { emitFinished, emitStarted } from './agent-log.js';
import { runChild } from './child.js';
import { asFork, resolveAgent } from './resolve.js';
import { type EarlierAgent, notResumable, requestAgain } from './resume.js';
import { newAgentId, newRef, Roster } from './roster.js';
import { AgentRun, type ChildPlace, type EarlierTalk, type SpawnRequest } from './run.js';

/** How deep agents may start agents, the main one being at 0, and how many may run at once. */
export interface SpawnLimits {
  readonly depth: number;
  readonly concurrency: number;
}

export interface RuntimeParts {
  readonly host: AgentHost;
  limits(): SpawnLimits;
  readonly deliveries: Pick<Deliveries, 'started' | 'ended' | 'deliver'>;
  /** Says something to the main agent. */
  tellMain(message: InputMessage): void;
  /** The kind of agent, as it is now. */
  find(type: string): Promise<AgentDefinition | undefined>;
  /** Undefined: there is no such transcript. */
  earlier(id: string): Promise<EarlierAgent | undefined>;
}

type Started = Result<AgentRun, string>;

/** An agent that is about to start, with what holds and judges it from above. */
interface Start {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  readonly place: ChildPlace;
  readonly readState: CloneableReadState;
  readonly parentModel?: string | undefined;
  readonly earlier?: EarlierTalk;
  readonly above: readonly AgentLimits[];
  readonly guards: readonly GuardHooks[];
}

/** The agents of a session. */
export class AgentRuntime {
  readonly roster = new Roster();
  readonly #parts: RuntimeParts;
  /** Calls that are about to start an agent count already. */
  #starting = 0;
  /** Agents that somebody is about to resume, by their ids. */
  readonly #resuming = new Map<string, Promise<Started>>();

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
  }

  /** Starts an agent, or says why not: depth, number, budget, unknown tools. */
  async spawn(wanted: SpawnRequest): Promise<Started> {
    const { host } = this.#parts;
    const { parent } = wanted;
    const refusal = this.#tooDeep(parent.depth + 1) ?? this.#tooMany();
    if (refusal !== undefined) return err(refusal);
    const above = parent.depth === 0 ? [] : this.roster.living(parent.id)?.plan.below;
    // fail-closed: an agent inherits the limits of the one that starts it, and that one is gone.
    if (above === undefined) return err('the agent that asks for it is not there any more');
    this.#starting++;
    try {
      const request = await this.#equipped(asFork(host, wanted, parent.id));
      const { definition } = request;
      const path = this.roster.pathFor(parent, definition.name);
      const ref = newRef(request, request.id ?? newAgentId(host.clock.uuid()), path);
      const { guardsBelow: guards = host.hooks.guards() } =
        this.roster.living(parent.id)?.plan ?? {};
      const description = request.description.trim() || definition.name;
      return await this.#place(
        { request: { ...request, description }, ref, above, guards },
        { parent, parentModel: this.roster.find(parent.id)?.model },
      );
    } finally {
      this.#starting--;
    }
  }

  /**
   * Resumes an agent that has ended, in the background. An error: there is none, it cannot be resumed, it still runs, a
   * person has stopped it, it is not `from`'s to resume, or `from` may start none of its type, or not without a question.
   * Of several who resume one agent at once the first does, and the others speak to it.
   */
  async resume(idOrName: string, prompt: string, wish: ResumeRequest): Promise<Started> {
    const id = this.roster.find(idOrName)?.id ?? idOrName;
    for (let begun = this.#resuming.get(id); begun !== undefined; begun = this.#resuming.get(id)) {
      const other = await begun.catch(() => undefined);
      const content = [{ type: 'text' as const, text: prompt }];
      const message = { uuid: this.#parts.host.clock.uuid(), content, meta: true };
      if (other?.ok === true && this.roster.living(id)?.hear(message) === true) return other;
    }
    const refusal = this.#notNow(id) ?? this.#tooMany();
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

  /** Says something to an agent, by its id. False: it is not there any more. */
  tell(id: string, message: InputMessage): boolean {
    if (id !== MAIN_AGENT.id) return this.roster.living(id)?.hear(message) ?? false;
    this.#parts.tellMain(message);
    return true;
  }

  /** Ends an agent and all that it started. */
  cancel(run: AgentRun, by: 'person' | 'parent' | 'session', reason: string): void {
    for (const one of [...this.roster.below(run.ref), run]) one.cancel(by, reason);
  }

  /** Ends all of them and waits for their end. */
  async close(): Promise<void> {
    const running = this.roster.running();
    for (const run of running) run.cancel('session', 'the session is over');
    await Promise.all(running.map(({ ended }) => ended));
  }

  #tooDeep(depth: number): string | undefined {
    if (depth <= this.#parts.limits().depth) return undefined;
    return `agents are nested ${depth - 1} deep already, which is the limit. Do not try again: do the work yourself`;
  }

  #tooMany(): string | undefined {
    const { concurrency } = this.#parts.limits();
    if (this.roster.running().length + this.#starting < concurrency) return undefined;
    return `${concurrency} agents are running, which is the limit. Do not try again before one of them has ended`;
  }

  #notNow(id: string): string | undefined {
    const known = this.roster.find(id);
    if (known !== undefined && known.report() === undefined) return `${id} still runs`;
    const end = known?.report()?.end;
    if (end?.kind !== 'cancelled' || end.by !== 'person') return undefined;
    return `${id} was stopped by a person, who alone can go on with it`;
  }

  async #equipped(request: SpawnRequest): Promise<SpawnRequest> {
    return { ...request, definition: await this.#parts.host.equip(request.definition) };
  }

  /** Gives an agent its place, and takes it back where the agent cannot be started. */
  async #place(
    wanted: Omit<Start, 'place' | 'readState'>,
    { parent, parentModel }: { parent: AgentRef; parentModel?: string | undefined },
  ): Promise<Started> {
    const { host } = this.#parts;
    const plan = this.roster.living(parent.id)?.plan;
    const workspace = plan?.place.workspace ?? host.workspace;
    const made = await host.placeFor(wanted.request, wanted.ref, workspace);
    if (!made.ok) return made;
    const place = made.value;
    const { isolation = wanted.ref.isolation, workspace: at = wanted.ref.workspace } =
      place.ref ?? {};
    const started = this.#start({
      ...wanted,
      ref: { ...wanted.ref, isolation, workspace: at },
      place,
      readState: place.readState ?? (plan?.readState ?? host.readState).clone(),
      parentModel,
    });
    if (!started.ok) await place.finish();
    return started;
  }

  /** All that can be refused is refused here; then it runs. */
  #start(start: Start): Started {
    const { host, limits, deliveries } = this.#parts;
    const { request, ref, place, above, guards, earlier } = start;
    const { definition } = request;
    // fail-closed: answers, fences and budgets go by the path; two with one would share them.
    if (this.roster.running().some((run) => run.ref.path === ref.path)) {
      return err(`another agent runs as ${ref.path} just now`);
    }
    const made = resolveAgent(host, start, limits());
    if (!made.ok) return made;
    const again = earlier !== undefined;
    const budget = host.budgetFor(ref, definition, {
      again,
      ...(again ? { above: above.map(({ budget: most = {} }) => most) } : {}),
    });
    if (budget?.ok === false) return budget;
    const fence = host.fences.raise(ref, definition, above);
    const refusal = fence.ok ? request.admit?.(ref) : fence.error;
    if (!fence.ok || refusal !== undefined) {
      if (fence.ok) fence.value();
      budget?.value.close();
      return err(refusal ?? '');
    }
    const below = [...above, inheritedLimits(definition, ref)];
    const modes = below.flatMap(({ mode }) => mode ?? []);
    const leave = host.permissions.admit(ref, modes, request.mode);
    const own = guardsOf(definition);
    const run = new AgentRun({
      ref,
      definition,
      description: request.description,
      prompt: request.prompt,
      beside: request.beside ?? [],
      contexts: [...(place.notes ?? []), ...(request.contexts ?? [])],
      place,
      readState: start.readState,
      ...made.value,
      budget: budget?.value,
      output: host.output(ref),
      above,
      below,
      guards,
      guardsBelow: own === undefined ? guards : [...guards, own],
      signal: ref.background ? undefined : request.signal,
      startedAt: host.clock.now(),
      once: request.admit !== undefined || request.stays !== undefined,
      stays: request.stays,
      earlier,
    });
    this.roster.add(run, request.name);
    deliveries.started(run);
    emitStarted({ host, roster: this.roster }, run, request);
    void this.#run(run, [fence.value, leave, () => budget?.value.close()]);
    return ok(run);
  }

  async #run(run: AgentRun, undo: readonly (() => void)[]): Promise<void> {
    const { host, deliveries } = this.#parts;
    const report = await runChild(host, run);
    for (const step of undo) step();
    const { log } = run.plan.output;
    log?.append(report.end.kind === 'done' ? '' : `[${report.end.kind}: ${report.end.reason}]`);
    log?.close();
    this.roster.ended(run);
    // Safe from a crash before anybody hears of it.
    deliveries.ended(report, run);
    emitFinished({ host, roster: this.roster }, run, report);
    // It is settled before anybody is told, so that nobody waits for it any more.
    run.settle(report);
    if (run.ref.background) deliveries.deliver(report, { to: this.#heirOf(run.ref), task: run });
  }

  /** Who started it, or the nearest one above that still lives. */
  #heirOf({ parentId }: AgentRef): AgentRef {
    for (let id = parentId; id !== undefined && id !== MAIN_AGENT.id; ) {
      const parent = this.roster.living(id);
      if (parent?.isListening === true) return parent.ref;
      id = this.roster.find(id)?.ref.parentId;
    }
    return MAIN_AGENT;
  }

  async #resume(id: string, prompt: string, wish: ResumeRequest): Promise<Started> {
    const { host, find } = this.#parts;
    const { from } = wish;
    const earlier = await this.#parts.earlier(id);
    if (earlier === undefined) return err(`there is no agent ${id}`);
    const refusal = notResumable(earlier, from) ?? this.#tooDeep(earlier.ref.depth);
    if (refusal !== undefined) return err(refusal);
    const definition = await find(earlier.ref.type);
    if (definition === undefined)
      return err(`there is no agent of the type ${earlier.ref.type} now`);
    const held = recordedLimits(earlier.ref);
    const over = isFinal(definition, held);
    if (over !== undefined) return err(over);
    const forbidden = await host.forbidsResume(wish, definition, find);
    if (forbidden !== undefined) return err(`${from.path} may not go on with ${id}: ${forbidden}`);
    const { held: _held, ...who } = earlier.ref;
    const ref: AgentRef = {
      ...who,
      background: true,
      ...(definition.trusted === false ? { untrusted: true as const } : {}),
    };
    const parent = { ...from, id: ref.parentId ?? from.id };
    const wanted = requestAgain(earlier, { definition, prompt, from });
    const now = await this.#equipped(asFork(host, wanted, parent.id));
    const lost = held === undefined ? undefined : unenforceable(now.definition, held);
    if (lost !== undefined) return err(`${id} cannot go on: ${lost}`);
    const guards = await this.#guardsAgain(earlier);
    if (!guards.ok) return err(`${id} cannot go on: ${guards.error}`);
    const request = { ...now, definition: applyRecordedLimits(now.definition, held) };
    const { talk, above = [] } = earlier;
    const start = { request, ref, earlier: talk, above, guards: guards.value };
    return await this.#place(start, { parent });
  }

  /** The guards of those above an agent that is resumed: who started it may be there, or have ended. */
  async #guardsAgain({
    ref,
    above = [],
  }: Pick<EarlierAgent, 'ref' | 'above'>): Promise<Result<readonly GuardHooks[], string>> {
    const { host, find } = this.#parts;
    const living = this.roster.living(ref.parentId ?? '');
    if (living !== undefined) return ok(living.plan.guardsBelow);
    const recalled = await recallGuards(above, find);
    return recalled.ok ? ok([...host.hooks.guards(), ...recalled.value]) : recalled;
  }
}
