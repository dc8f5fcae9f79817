import { err, ok, type Result } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { CloneableReadState } from '../../tools/files/read-state.js';
import type { Workspace } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { Deliveries } from '../delivery/child-delivery.js';
import { type GuardHooks, guardsOf, recallGuards } from '../limits/inherited-hooks.js';
import { type Hold, holdOf, modesOf } from '../limits/inherited-limits.js';
import { applyRecordedLimits, heldOf, isFinal, unenforceable } from '../limits/recorded-limits.js';
import type { ResumeRequest, ResumeRules } from '../limits/resume-permissions.js';
import { announce, conclude } from './agent-events.js';
import type { AgentHost, ChildPlace } from './agent-host.js';
import { asFork, resolveAgentRuntime } from './agent-runtime.js';
import { runChild } from './child.js';
import { placeFor } from './child-place.js';
import { newRef } from './child-ref.js';
import { type ChildTask, createChildTask } from './child-task.js';
import type { AgentReport } from './report.js';
import { type EarlierAgent, notResumable, requestAgain } from './resume.js';
import { type AgentLimits, createRoster, type OpenRoster } from './roster.js';
import type { AgentRunPlan, EarlierTalk } from './run-plan.js';
import type { AgentTask, Roster, Spawn, SpawnRequest } from './task.js';

export interface SpawnParts {
  readonly world: AgentHost & ResumeRules;
  limits(): AgentLimits;
  readonly deliveries: Deliveries;
  /** Says something to the main agent. */
  tellMain(message: InputMessage): void;
  /** The kind of agent, as it is now. */
  find(type: string): Promise<AgentDefinition | undefined>;
  /** Undefined: there is no such transcript. */
  earlier(id: string): Promise<EarlierAgent | undefined>;
}

/** The agents of a session. */
export interface AgentRuntime {
  readonly spawn: Spawn;
  readonly roster: Roster;
  /**
   * Goes on with an agent that has ended, in the background. An error: there is none, it cannot be
   * gone on with, it still runs, a person has stopped it, it is not `from`'s to go on with, or
   * `from` may start none of its type, or not without a question.
   */
  resume(id: string, prompt: string, wish: ResumeRequest): Promise<Result<AgentTask, string>>;
  /** Addresses of agents of earlier processes, which nobody else gets. */
  reserve(paths: readonly string[]): void;
  /** Every report, of agents that were waited for too. Returns the way to unsubscribe. */
  onEnded(listener: (report: AgentReport, task: AgentTask) => void): () => void;
  /** Says something to an agent, by its id. False: it is not there any more. */
  tell(id: string, message: InputMessage): boolean;
  /** Ends an agent and all that it started. */
  cancel(task: AgentTask, by: 'person' | 'parent' | 'session', reason: string): void;
  /** Ends all of them and waits for their end. */
  close(): Promise<void>;
}

/** Where living agents are. */
interface Seat {
  readonly task: ChildTask;
  readonly workspace: Workspace;
  readonly readState: CloneableReadState;
  /** What it and those above it are held to. */
  readonly way: readonly Hold[];
  /** What judges the calls of those that it starts. */
  readonly guards: readonly GuardHooks[];
}

interface State {
  readonly parts: SpawnParts;
  readonly roster: OpenRoster;
  readonly seats: Map<string, Seat>;
  /** Calls that are about to start an agent count already. */
  starting: number;
  /** Agents that somebody is about to go on with, by their ids. */
  readonly resuming: Map<string, Promise<Result<AgentTask, string>>>;
  readonly listeners: Set<(report: AgentReport, task: AgentTask) => void>;
}

export function createAgentRuntime(parts: SpawnParts): AgentRuntime {
  const state: State = {
    parts,
    roster: createRoster(),
    seats: new Map(),
    starting: 0,
    resuming: new Map(),
    listeners: new Set(),
  };
  const cancel: AgentRuntime['cancel'] = (task, by, reason) => {
    for (const below of state.roster.below(task.ref)) below.cancel(by, reason);
    task.cancel(by, reason);
  };
  return {
    spawn: (request) => spawn(state, request),
    roster: state.roster,
    resume: (id, prompt, wish) => resume(state, { id, prompt, ...wish }),
    reserve: state.roster.reserve,
    onEnded(listener) {
      state.listeners.add(listener);
      return () => void state.listeners.delete(listener);
    },
    tell(id, message) {
      if (id !== MAIN_AGENT.id) return state.seats.get(id)?.task.hear(message) ?? false;
      parts.tellMain(message);
      return true;
    },
    cancel,
    async close() {
      const running = state.roster.running();
      for (const task of running) task.cancel('session', 'the session is over');
      await Promise.all(running.map(({ ended }) => ended));
    },
  };
}

async function spawn(state: State, wanted: SpawnRequest): Promise<Result<AgentTask, string>> {
  const { parts, roster } = state;
  const { parent } = wanted;
  const refusal = tooDeep(state, parent.depth + 1) ?? tooMany(state);
  if (refusal !== undefined) return err(refusal);
  const above = parent.depth === 0 ? [] : state.seats.get(parent.id)?.way;
  // fail-closed: what binds the one who asks binds whom it starts, and here nobody knows it.
  if (above === undefined) return err('the agent that asks for it is not there any more');
  state.starting++;
  try {
    const request = await equipped(parts.world, asFork(parts.world, wanted, parent.id));
    const { definition } = request;
    const ref = newRef({ uuid: parts.world.clock.uuid, roster }, request);
    const { workspace, readState } = seatOf(state, parent);
    const made = await placeFor(parts.world, { request, ref, workspace });
    if (!made.ok) return made;
    const place = made.value;
    const placed = placedAt(ref, place);
    return await begin(state, {
      request,
      description: request.description.trim() || definition.name,
      ref: placed,
      place,
      readState: place.readState ?? readState.clone(),
      parentModel: roster.find(parent.id)?.model,
      earlier: undefined,
      above,
      guards: guardsFor(state, parent.id),
    });
  } finally {
    state.starting--;
  }
}

async function equipped(world: AgentHost, request: SpawnRequest): Promise<SpawnRequest> {
  return { ...request, definition: await world.equip(request.definition) };
}

function placedAt(ref: AgentRef, place: ChildPlace): AgentRef {
  const { isolation = ref.isolation, workspace = ref.workspace } = place.ref ?? {};
  return { ...ref, isolation, workspace };
}

/** Why there can be no agent this deep. */
function tooDeep({ parts }: State, depth: number): string | undefined {
  if (depth <= parts.limits().depth) return undefined;
  return `agents are nested ${depth - 1} deep already, which is the limit. Do not try again: do the work yourself`;
}

/** Why there can be no agent more. */
function tooMany({ parts, roster, starting }: State): string | undefined {
  const { concurrency } = parts.limits();
  if (roster.running().length + starting >= concurrency) {
    return `${concurrency} agents are running, which is the limit. Do not try again before one of them has ended`;
  }
  return undefined;
}

function seatOf({ parts, seats }: State, agent: AgentRef): Pick<Seat, 'workspace' | 'readState'> {
  return seats.get(agent.id) ?? parts.world;
}

/** What judges the calls of those that an agent starts. */
function guardsFor({ parts, seats }: State, id: string): readonly GuardHooks[] {
  return seats.get(id)?.guards ?? parts.world.hooks.guards();
}

interface Start {
  readonly request: SpawnRequest;
  readonly description: string;
  readonly ref: AgentRef;
  readonly place: ChildPlace;
  readonly readState: CloneableReadState;
  readonly parentModel: string | undefined;
  readonly earlier: EarlierTalk | undefined;
  readonly above: readonly Hold[];
  readonly guards: readonly GuardHooks[];
}

/** A place that was made for an agent that cannot be started is taken back. */
async function begin(state: State, wanted: Start): Promise<Result<AgentTask, string>> {
  const started = start(state, wanted);
  if (!started.ok) await wanted.place.finish();
  return started;
}

/** All that can be refused is refused here; then it runs. */
function start(state: State, begin: Start): Result<AgentTask, string> {
  const { world, limits } = state.parts;
  const { request, ref, place, above, guards } = begin;
  const { definition } = request;
  // fail-closed: answers, fences and budgets go by the path; two with one would share them.
  if (state.roster.running().some((task) => task.ref.path === ref.path)) {
    return err(`another agent runs as ${ref.path} just now`);
  }
  const made = resolveAgentRuntime(world, begin, { depth: limits().depth });
  if (!made.ok) return made;
  const again = begin.earlier !== undefined;
  const budget = world.budgetFor?.(ref, definition, {
    again,
    ...(again ? { above: above.map(({ budget: limits = {} }) => limits) } : {}),
  });
  if (budget?.ok === false) return budget;
  const way = [...above, holdOf(definition, ref)];
  const fence = world.fences.raise(ref, definition, above);
  if (!fence.ok) {
    budget?.value.close();
    return fence;
  }
  const refusal = request.admit?.(ref);
  if (refusal !== undefined) {
    fence.value();
    budget?.value.close();
    return err(refusal);
  }
  const leave = world.permissions.admit(ref, modesOf(way), request.mode);
  const order: AgentRunPlan = {
    ref,
    definition,
    description: begin.description,
    prompt: request.prompt,
    beside: request.beside ?? [],
    contexts: [...(place.notes ?? []), ...(request.contexts ?? [])],
    place,
    readState: begin.readState,
    ...made.value,
    budget: budget?.value,
    output: world.output(ref),
    above,
    guards,
    once: request.admit !== undefined || request.stays !== undefined,
    stays: request.stays,
    earlier: begin.earlier,
  };
  const task = createChildTask(order, {
    startedAt: world.clock.now(),
    uuid: world.clock.uuid,
    signal: ref.background ? undefined : request.signal,
  });
  const { readState } = begin;
  const own = guardsOf(definition);
  const below = own === undefined ? guards : [...guards, own];
  const seat = { task, workspace: place.workspace, readState, way, guards: below };
  state.seats.set(ref.id, seat);
  state.roster.add(task, request.name);
  state.parts.deliveries.started(task);
  announce({ world, roster: state.roster }, task, request);
  void run(state, { order, task, undo: [fence.value, leave, () => budget?.value.close()] });
  return ok(task);
}

async function run(
  state: State,
  { order, task, undo }: { order: AgentRunPlan; task: ChildTask; undo: readonly (() => void)[] },
): Promise<void> {
  const { world, deliveries } = state.parts;
  const report = await runChild(world, order, task.line);
  for (const step of undo) step();
  const { log } = order.output;
  log?.append(report.end.kind === 'done' ? '' : `[${report.end.kind}: ${report.end.reason}]`);
  log?.close();
  state.seats.delete(task.id);
  state.roster.ended(task);
  // Safe from a crash before anybody hears of it.
  deliveries.ended(report, task);
  conclude({ world, roster: state.roster }, task, report);
  for (const listener of state.listeners) listener(report, task);
  // fail-safe order: it is settled before anybody is told, so that nobody waits for it any more.
  task.settle(report);
  if (task.ref.background) deliveries.deliver(report, { to: heirOf(state, task.ref), task });
}

/** Who started it, or the nearest one above that still lives. */
function heirOf({ seats, roster }: State, { parentId }: AgentRef): AgentRef {
  for (let id = parentId; id !== undefined && id !== MAIN_AGENT.id; ) {
    const seat = seats.get(id);
    if (seat?.task.isListening() === true) return seat.task.ref;
    id = roster.find(id)?.ref.parentId;
  }
  return MAIN_AGENT;
}

interface Resumption extends ResumeRequest {
  readonly id: string;
  readonly prompt: string;
}

/** Of several who go on with one agent at once the first does, and the others speak to it. */
async function resume(state: State, wanted: Resumption): Promise<Result<AgentTask, string>> {
  const { parts, roster, seats, resuming } = state;
  const id = roster.find(wanted.id)?.id ?? wanted.id;
  for (let begun = resuming.get(id); begun !== undefined; begun = resuming.get(id)) {
    const other = await begun.catch(() => undefined);
    const content = [{ type: 'text' as const, text: wanted.prompt }];
    const message = { uuid: parts.world.clock.uuid(), content, meta: true };
    if (other?.ok === true && seats.get(id)?.task.hear(message) === true) return other;
  }
  const refusal = whyNotNow(state, id) ?? tooMany(state);
  if (refusal !== undefined) return err(refusal);
  state.starting++;
  const begun = goOn(state, { ...wanted, id });
  resuming.set(id, begun);
  try {
    return await begun;
  } finally {
    resuming.delete(id);
    state.starting--;
  }
}

function whyNotNow({ roster }: State, id: string): string | undefined {
  const known = roster.find(id);
  if (known !== undefined && known.report() === undefined) return `${id} still runs`;
  const end = known?.report()?.end;
  if (end?.kind !== 'cancelled' || end.by !== 'person') return undefined;
  return `${id} was stopped by a person, who alone can go on with it`;
}

async function goOn(
  state: State,
  { id, prompt, from, toolUseId }: Resumption,
): Promise<Result<AgentTask, string>> {
  const { parts } = state;
  const earlier = await parts.earlier(id);
  if (earlier === undefined) return err(`there is no agent ${id}`);
  const refusal = notResumable(earlier, from) ?? tooDeep(state, earlier.ref.depth);
  if (refusal !== undefined) return err(refusal);
  const definition = await parts.find(earlier.ref.type);
  if (definition === undefined) return err(`there is no agent of the type ${earlier.ref.type} now`);
  const held = heldOf(earlier.ref);
  const over = isFinal(definition, held);
  if (over !== undefined) return err(over);
  const wish = { from, toolUseId };
  const forbidden = await parts.world.forbidsResume(wish, definition, parts.find);
  if (forbidden !== undefined) return err(`${from.path} may not go on with ${id}: ${forbidden}`);
  const { held: _held, ...who } = earlier.ref;
  const ref: AgentRef = {
    ...who,
    background: true,
    ...(definition.trusted === false ? { untrusted: true as const } : {}),
  };
  const parent = { ...from, id: ref.parentId ?? from.id };
  const { workspace, readState } = seatOf(state, parent);
  const wanted = requestAgain(earlier, { definition, prompt, from });
  const now = await equipped(parts.world, asFork(parts.world, wanted, parent.id));
  const lost = held === undefined ? undefined : unenforceable(now.definition, held);
  if (lost !== undefined) return err(`${id} cannot go on: ${lost}`);
  const guards = await guardsAgain(state, earlier);
  if (!guards.ok) return err(`${id} cannot go on: ${guards.error}`);
  const request = { ...now, definition: applyRecordedLimits(now.definition, held) };
  const made = await placeFor(parts.world, { request, ref, workspace });
  if (!made.ok) return made;
  return await begin(state, {
    request,
    description: request.description,
    ref: placedAt(ref, made.value),
    place: made.value,
    readState: made.value.readState ?? readState.clone(),
    parentModel: undefined,
    earlier: earlier.talk,
    above: earlier.above ?? [],
    guards: guards.value,
  });
}

/** The guards of those above an agent that goes on: who started it may be there, or have ended. */
async function guardsAgain(
  { parts, seats }: State,
  { ref, above = [] }: Pick<EarlierAgent, 'ref' | 'above'>,
): Promise<Result<readonly GuardHooks[], string>> {
  const living = seats.get(ref.parentId ?? '');
  if (living !== undefined) return ok(living.guards);
  const recalled = await recallGuards(above, parts.find);
  return recalled.ok ? ok([...parts.world.hooks.guards(), ...recalled.value]) : recalled;
}
