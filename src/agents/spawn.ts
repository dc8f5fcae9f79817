import type { InputMessage } from '../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';
import type { CloneableReadState } from '../tools/read-state.js';
import type { Workspace } from '../tools/tool.js';
import { createWorkspace } from '../tools/workspace.js';
import { err, ok, type Result } from '../util/result.js';
import { runChild } from './child.js';
import type { Deliveries } from './child-delivery.js';
import type { ChildOrder, EarlierTalk } from './child-order.js';
import { type ChildTask, createChildTask } from './child-task.js';
import type { ChildPlace, ChildWorld } from './child-world.js';
import type { AgentDefinition } from './definition.js';
import { statusOf } from './end-of.js';
import { FORK_TYPE } from './fork.js';
import { asFork, makeUpOf } from './make-up.js';
import type { AgentReport } from './report.js';
import { type AgentLimits, createRoster, type OpenRoster } from './roster.js';
import type { AgentTask, Roster, Spawn, SpawnRequest } from './task.js';

/** What was said in an agent that has ended, and what it was. */
export interface EarlierAgent {
  readonly ref: AgentRef;
  readonly description: string;
  readonly model: string;
  readonly talk: EarlierTalk;
}

export interface SpawnParts {
  readonly world: ChildWorld;
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
   * gone on with, it still runs, or a person has stopped it.
   */
  resume(id: string, prompt: string, from: AgentRef): Promise<Result<AgentTask, string>>;
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
}

interface State {
  readonly parts: SpawnParts;
  readonly roster: OpenRoster;
  readonly seats: Map<string, Seat>;
  /** Calls that are about to start an agent count already. */
  starting: number;
  readonly listeners: Set<(report: AgentReport, task: AgentTask) => void>;
}

export function createAgentRuntime(parts: SpawnParts): AgentRuntime {
  const state: State = {
    parts,
    roster: createRoster(),
    seats: new Map(),
    starting: 0,
    listeners: new Set(),
  };
  const cancel: AgentRuntime['cancel'] = (task, by, reason) => {
    for (const below of state.roster.below(task.ref)) below.cancel(by, reason);
    task.cancel(by, reason);
  };
  return {
    spawn: (request) => spawn(state, request),
    roster: state.roster,
    resume: (id, prompt, from) => resume(state, { id, prompt, from }),
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
  const refusal = overLimit(state, parent);
  if (refusal !== undefined) return err(refusal);
  state.starting++;
  try {
    const request = await equipped(parts.world, asFork(parts.world, wanted, parent.id));
    const { definition } = request;
    const ref = newRef(state, request);
    const { workspace, readState } = seatOf(state, parent);
    const made = await placeFor(parts.world, { request, ref, workspace });
    if (!made.ok) return made;
    const place = made.value;
    const placed = { ...ref, ...place.ref };
    return await begin(state, {
      request: { ...request, description: request.description.trim() || definition.name },
      ref: placed,
      place,
      readState: place.readState ?? readState.clone(),
      parentModel: roster.find(parent.id)?.model,
      earlier: undefined,
    });
  } finally {
    state.starting--;
  }
}

async function equipped(world: ChildWorld, request: SpawnRequest): Promise<SpawnRequest> {
  return { ...request, definition: await world.equip(request.definition) };
}

/** Why there can be no agent more. */
function overLimit({ parts, roster, starting }: State, parent: AgentRef): string | undefined {
  const { depth, concurrency } = parts.limits();
  if (parent.depth >= depth) {
    return `agents are nested ${parent.depth} deep already, which is the limit. Do not try again: do the work yourself`;
  }
  if (roster.running().length + starting >= concurrency) {
    return `${concurrency} agents are running, which is the limit. Do not try again before one of them has ended`;
  }
  return undefined;
}

function newRef({ parts, roster }: State, request: SpawnRequest): AgentRef {
  const { definition, parent, background, name, toolUseId } = request;
  return {
    id: `a${parts.world.clock.uuid().replaceAll('-', '').slice(0, 16)}`,
    type: definition.name,
    ...(name === undefined ? {} : { name }),
    path: roster.pathFor(parent, definition.name),
    parentId: parent.id,
    depth: parent.depth + 1,
    spawnedBy: toolUseId,
    background,
    ...(parent.workspace === undefined ? {} : { workspace: parent.workspace }),
    ...(parent.isolation === undefined ? {} : { isolation: parent.isolation }),
    ...(definition.trusted === false ? { untrusted: true as const } : {}),
  };
}

function seatOf({ parts, seats }: State, agent: AgentRef): Pick<Seat, 'workspace' | 'readState'> {
  return seats.get(agent.id) ?? parts.world;
}

/** A workspace of its own at the place where the parent is, or one that is made for it. */
async function placeFor(
  world: ChildWorld,
  { request, ref, workspace }: { request: SpawnRequest; ref: AgentRef; workspace: Workspace },
): Promise<Result<ChildPlace, string>> {
  const made = await world.workspaceFor?.(request, ref, workspace);
  if (made !== undefined) return made;
  const { isolation, definition } = request;
  const wanted = isolation ?? definition.isolation ?? definition.workspace.kind;
  // fail-closed: work that was to be kept apart is not done in the midst of everything.
  if (wanted !== 'inherit') return err(`its workspace (${wanted}) cannot be made here`);
  const own = createWorkspace(workspace.roots);
  own.setCwd(workspace.cwd);
  return ok({ workspace: own, finish: async () => ({}) });
}

interface Start {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  readonly place: ChildPlace;
  readonly readState: CloneableReadState;
  readonly parentModel: string | undefined;
  readonly earlier: EarlierTalk | undefined;
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
  const { request, ref, place } = begin;
  const { definition } = request;
  const made = makeUpOf(world, begin, { depth: limits().depth });
  if (!made.ok) return made;
  const budget = world.budgetFor?.(ref, definition);
  if (budget?.ok === false) return budget;
  const fence = world.fences.raise(ref, definition);
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
  const leave = world.permissions.admit(ref, definition.permissionMode);
  const order: ChildOrder = {
    ref,
    definition,
    description: request.description,
    prompt: request.prompt,
    contexts: [...(place.notes ?? []), ...(request.contexts ?? [])],
    place,
    readState: begin.readState,
    ...made.value,
    budget: budget?.value,
    output: world.output(ref.id),
    ...(begin.earlier === undefined ? {} : { earlier: begin.earlier }),
  };
  const task = createChildTask(order, {
    startedAt: world.clock.now(),
    uuid: world.clock.uuid,
    signal: ref.background ? undefined : request.signal,
  });
  state.seats.set(ref.id, { task, workspace: place.workspace, readState: begin.readState });
  state.roster.add(task, request.name);
  state.parts.deliveries.started(task);
  announce(state, task, request);
  void run(state, { order, task, undo: [fence.value, leave, () => budget?.value.close()] });
  return ok(task);
}

async function run(
  state: State,
  { order, task, undo }: { order: ChildOrder; task: ChildTask; undo: readonly (() => void)[] },
): Promise<void> {
  const { world, deliveries } = state.parts;
  const report = await runChild(world, order, task.line);
  for (const step of undo) step();
  order.output.append(
    report.end.kind === 'done' ? '' : `[${report.end.kind}: ${report.end.reason}]`,
  );
  order.output.close();
  state.seats.delete(task.id);
  state.roster.ended(task);
  // Safe from a crash before anybody hears of it.
  deliveries.ended(report, task);
  conclude(state, task, report);
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

function announce(state: State, task: ChildTask, { prompt, toolUseId }: SpawnRequest): void {
  const { emit } = state.parts.world;
  if (task.ref.background) tellBackground(state);
  emit({
    type: 'task_started',
    taskId: task.id,
    toolUseId,
    description: task.description,
    agent: task.ref,
    prompt,
  });
}

function conclude(state: State, task: ChildTask, report: AgentReport): void {
  const { emit, clock } = state.parts.world;
  const { end, account, agent } = report;
  const status = statusOf(end);
  emit({
    type: 'task_updated',
    taskId: task.id,
    status: status === 'stopped' ? 'killed' : status,
    endTime: clock.now(),
    ...(status === 'failed' && 'reason' in end ? { error: end.reason } : {}),
  });
  if (agent.background) tellBackground(state);
  emit({
    type: 'task_finished',
    taskId: task.id,
    toolUseId: agent.spawnedBy ?? '',
    status,
    outputFile: task.outputFile,
    summary: task.description,
    usage: {
      totalTokens: account.lastTokens ?? 0,
      toolUses: account.toolUses,
      durationMs: Math.round(account.seconds * 1000),
    },
  });
}

function tellBackground({ parts, roster }: State): void {
  const tasks = roster
    .running()
    .filter(({ ref }) => ref.background)
    .map(({ id, description, ref }) => ({
      taskId: id,
      taskType: 'local_agent' as const,
      description,
      agentType: ref.type,
    }));
  parts.world.emit({ type: 'background_tasks', tasks });
}

async function resume(
  state: State,
  { id, prompt, from }: { id: string; prompt: string; from: AgentRef },
): Promise<Result<AgentTask, string>> {
  const { parts, roster } = state;
  const known = roster.find(id);
  if (known !== undefined && known.report() === undefined) return err(`${id} still runs`);
  const end = known?.report()?.end;
  if (end?.kind === 'cancelled' && end.by === 'person') {
    return err(`${id} was stopped by a person, who alone can go on with it`);
  }
  const earlier = await parts.earlier(known?.id ?? id);
  if (earlier === undefined) return err(`there is no agent ${id}`);
  const definition = await parts.find(earlier.ref.type);
  if (definition === undefined) return err(`there is no agent of the type ${earlier.ref.type} now`);
  if (definition.oneShot === true) return err(`agents of the type ${definition.name} end for good`);
  const ref: AgentRef = { ...earlier.ref, background: true };
  const parent = { ...from, id: ref.parentId ?? from.id };
  const { workspace, readState } = seatOf(state, parent);
  const wanted: SpawnRequest = {
    definition,
    ...(definition.name === FORK_TYPE ? { fork: true as const } : {}),
    description: earlier.description,
    prompt,
    parent: from,
    toolUseId: ref.spawnedBy ?? '',
    ...(ref.name === undefined ? {} : { name: ref.name }),
    model: earlier.model,
    background: true,
    signal: new AbortController().signal,
  };
  const request = await equipped(parts.world, asFork(parts.world, wanted, parent.id));
  const made = await placeFor(parts.world, { request, ref, workspace });
  if (!made.ok) return made;
  return await begin(state, {
    request,
    ref: { ...ref, ...made.value.ref },
    place: made.value,
    readState: made.value.readState ?? readState.clone(),
    parentModel: undefined,
    earlier: earlier.talk,
  });
}
