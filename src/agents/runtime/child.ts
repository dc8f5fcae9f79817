import { messageOf } from '../../errors.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { IdleDecision, InputMessage, LoopOutcome, ModelAnswer } from '../../loop/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { Recorder } from '../../session/recorder.js';
import { createAgent } from '../core/agent.js';
import { createCompaction } from '../core/compaction.js';
import type { AgentHost, ChildFacts, ChildServers } from './agent-host.js';
import { ChildLog } from './child-log.js';
import { forkNotice } from './fork.js';
import { endOf } from './outcome.js';
import type { AgentReport } from './report.js';
import type { AgentMailbox, AgentRunPlan } from './run-plan.js';

/** Answers of the model to calls that nobody was there to allow, after which an agent gives up. */
const UNANSWERED_LIMIT = 2;

/** Runs an agent from its first to its last word. Never throws; whatever happens, it is cleaned up. */
export async function runChild(
  world: AgentHost,
  order: AgentRunPlan,
  line: AgentMailbox,
): Promise<AgentReport> {
  const { ref, description, definition } = order;
  const log = new ChildLog(world, order);
  const cleanup = new Cleanup(world, ref);
  const want = new Wants();
  let ended: Pick<LoopOutcome, 'reason' | 'text'> | undefined;
  let left: Pick<AgentReport, 'worktree' | 'strays'> = {};
  try {
    ended = await work(world, { order, line, log, want, cleanup });
  } catch (thrown) {
    const failure = { kind: 'bad_response', message: messageOf(thrown), retryable: false } as const;
    ended = { reason: { kind: 'model_failure', failure }, text: '' };
  } finally {
    line.close();
    await cleanup.undo();
    left = await finishPlace(world, order, ended?.text || log.lastText());
  }
  const facts = { cancelled: line.cancelled(), missing: want.missing(), refused: want.isOver() };
  const end = endOf(ended, facts);
  const canGoOn = definition.oneShot !== true && !order.once;
  return {
    agent: ref,
    description,
    end,
    text: ended.text === '' ? log.lastText() : ended.text,
    account: log.account(world.costOf(ref)),
    ...left,
    ...(canGoOn ? { resume: ref.id } : {}),
  };
}

interface Work {
  readonly order: AgentRunPlan;
  readonly line: AgentMailbox;
  readonly log: ChildLog;
  readonly want: Wants;
  readonly cleanup: Cleanup;
}

async function work(world: AgentHost, work: Work): Promise<LoopOutcome> {
  const { order, line, log, cleanup } = work;
  const { ref, definition, pool, place, earlier, contexts, fork } = order;
  const { workspace } = place;
  const signal = order.budget?.until?.(line.signal) ?? line.signal;
  const facts: ChildFacts = {
    ref,
    definition,
    pool,
    place,
    model: order.choice.model,
    contextWindow: order.limits.contextWindow,
    signal,
  };
  const scene = (now: AbortSignal): Scene => ({
    agent: ref,
    cwd: workspace.cwd,
    mode: world.permissions.mode(ref),
    signal: now,
  });
  cleanup.add(world.hooks.scoped(ref, definition, order.guards));
  if (definition.mcpServers.length > 0) {
    const servers = await ownServers(world, order, signal);
    if (servers !== undefined) cleanup.add(() => servers.close());
  }
  const recorder = await world.record(ref, { cwd: () => workspace.cwd, ...earlier });
  if (earlier === undefined) {
    recorder.attachment(log.head());
    if (fork !== undefined) recorder.history(fork.messages);
  }
  const started = await world.hooks.start(scene(signal));
  const note = await world.hooks.notes.note([...contexts, ...started.contexts]);
  const task: InputMessage = {
    uuid: world.clock.uuid(),
    content: [{ type: 'text', text: taskText(order) }, ...order.beside],
  };
  const system = fork?.system ?? (await world.system(facts));
  const again = earlier !== undefined;
  const openers = fork === undefined ? await world.opening(facts, { again }) : [];
  const agent = createAgent({
    system,
    history: earlier?.messages ?? fork?.messages ?? [],
    ...childSetup(world, work, { facts, scene, recorder }),
  });
  cleanup.add(() => agent.conversation.replace([]));
  world.snapshots.set(ref.id, {
    system,
    pool,
    choice: () => order.choice,
    limits: () => order.limits,
    messages: () => agent.conversation.messages,
    definition,
  });
  cleanup.add(() => void world.snapshots.delete(ref.id));
  const prompts = [...openers, ...(note === undefined ? [] : [note]), task];
  const run = (): Promise<LoopOutcome> => agent.run({ prompts }, signal);
  return await (order.budget?.runAgent?.(run) ?? run());
}

/** A fork that is gone on with has been told already what it is. */
function taskText({ prompt, fork, earlier }: AgentRunPlan): string {
  return fork === undefined || earlier !== undefined ? prompt : `${forkNotice()}\n\n${prompt}`;
}

type Setup = Parameters<typeof createAgent>[0];

function childSetup(
  world: AgentHost,
  { order, line, log, want }: Work,
  {
    facts,
    scene,
    recorder,
  }: { facts: ChildFacts; scene: (signal: AbortSignal) => Scene; recorder: Recorder },
): Omit<Setup, 'system' | 'history'> {
  const { ref, definition, pool, place, readState, choice, limits, budget } = order;
  const plain = world.client(ref);
  const client = budget?.client(plain) ?? plain;
  const compaction = createCompaction({
    client: budget?.side?.(plain) ?? plain,
    clock: world.clock,
    env: world.compactEnv,
    window: () => limits,
    recordBoundary: (compacted) => recorder.compactBoundary(compacted),
    hooks: world.hooks.compaction(scene, facts),
    emit: () => undefined,
  });
  const stop = world.hooks.stop();
  return {
    ref,
    client,
    choice: () => choice,
    pool,
    invoke: world.invoke({
      ref,
      pool,
      workspace: place.workspace,
      readState,
      unattended: definition.asks === 'deny',
      onVerdict: (verdict) => want.verdict(verdict),
    }),
    isReadOnly: world.readsOnly(ref, place.workspace, pool),
    record: recorder,
    compaction,
    shouldStop(turns) {
      const stuck = want.words() ?? world.permissions.stuck(ref.path) ?? compaction.exhausted;
      if (stuck !== undefined) return { kind: 'stuck', message: stuck };
      const { maxTurns } = definition;
      if (maxTurns !== undefined && turns >= maxTurns)
        return { kind: 'max_turns', limit: maxTurns };
      return budget?.shouldStop(turns) ?? world.sessionEnds();
    },
    async takeInput() {
      const said = line.take();
      const last = budget?.lastTurnNotice?.();
      return last === undefined ? said : [...said, last];
    },
    afterBatch: world.hooks.afterBatch(scene),
    async onIdle(answer, signal) {
      const said = joined(line.take());
      if (said !== undefined) return said;
      const move = await stop.beforeLeaving({
        event: 'SubagentStop',
        lastMessage: textOf(answer.message.content),
        backgroundTasks: [],
        crons: [],
        agentTranscriptPath: world.hooks.transcriptOf(ref),
        ...scene(signal),
      });
      if (move.kind === 'go-on') return await world.hooks.notes.note([move.message]);
      if (move.kind === 'leave' && move.notice !== undefined) world.tell(move.notice);
      const late = joined(line.take());
      if (late !== undefined) return late;
      const about = { answer, scene: scene(signal) };
      const next = move.kind === 'end' ? undefined : await rested(world, { order, line }, about);
      if (next !== undefined) return next;
      line.close();
      return move.kind === 'end'
        ? { leave: { kind: 'stop_prevented', message: move.stop } }
        : undefined;
    },
    onAnswer(answer) {
      world.permissions.nextAnswer(ref.path);
      want.answered();
      log.answer(answer);
    },
    emit(event) {
      if (event.type === 'requesting') line.atWork();
      log.event(event);
    },
    // The log tells of whole answers only.
    emitPartials: false,
    uuid: world.clock.uuid,
  };
}

/** One that stays waits here until somebody speaks to it. Undefined: it leaves. */
async function rested(
  world: AgentHost,
  { order, line }: Pick<Work, 'order' | 'line'>,
  { answer, scene }: { answer: ModelAnswer; scene: Scene },
): Promise<IdleDecision> {
  const { stays } = order;
  if (stays === undefined) return undefined;
  const move = await stays.beforeRest(scene, textOf(answer.message.content));
  if (move.kind === 'go-on') return await world.hooks.notes.note([move.text]);
  if (move.kind === 'leave') {
    if (move.stop === undefined) return undefined;
    line.close();
    return { leave: { kind: 'stop_prevented', message: move.stop } };
  }
  await line.heard(scene.signal);
  stays.woken();
  return joined(line.take());
}

/** Several messages as one. */
function joined(messages: readonly InputMessage[]): InputMessage | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  return { ...first, content: messages.flatMap(({ content }) => content) };
}

async function ownServers(
  world: AgentHost,
  { ref, definition, pool }: AgentRunPlan,
  signal: AbortSignal,
): Promise<ChildServers | undefined> {
  const servers = await world.serversFor?.(ref, definition, signal);
  if (servers === undefined) return undefined;
  const { problems } = pool.add(servers.tools);
  for (const text of [...servers.notes, ...problems]) world.tell(`agent ${ref.type}: ${text}`);
  return servers;
}

async function finishPlace(
  world: AgentHost,
  { ref, place }: AgentRunPlan,
  text: string,
): Promise<Pick<AgentReport, 'worktree' | 'strays'>> {
  try {
    return await place.finish(text);
  } catch (thrown) {
    world.tell(`the workspace of ${ref.path} could not be looked at: ${messageOf(thrown)}`);
    return {};
  }
}

/** What an agent asked for and nobody was there to allow. */
class Wants {
  #missing: ReadonlySet<string> = NONE_MISSING;
  #answers = 0;
  #hasRefusal = false;

  verdict(verdict: Parameters<Parameters<AgentHost['invoke']>[0]['onVerdict']>[0]): void {
    if (verdict.kind !== 'refused' || verdict.unanswered !== true) return;
    // Calls of one answer count once: their results had not been seen yet.
    if (!this.#hasRefusal) this.#answers++;
    this.#hasRefusal = true;
    const { receipt, reasonForModel = receipt.reason } = verdict;
    const wanted = verdict.suggestion ?? `${receipt.tool} (${reasonForModel})`;
    this.#missing = new Set([...this.#missing, wanted]);
  }

  answered(): void {
    this.#hasRefusal = false;
  }

  missing(): readonly string[] {
    return [...this.#missing];
  }

  isOver(): boolean {
    return this.#answers >= UNANSWERED_LIMIT;
  }

  words(): string | undefined {
    return this.isOver() ? 'it needs permissions, and nobody is there to give them' : undefined;
  }
}

const NONE_MISSING: ReadonlySet<string> = new Set();

type Step = () => void | Promise<void>;

/** Undoes, last first, what was done for an agent. One failure does not keep the rest from it. */
class Cleanup {
  readonly #world: AgentHost;
  readonly #ref: AgentRef;
  readonly #steps: Step[];

  constructor(world: AgentHost, ref: AgentRef) {
    this.#world = world;
    this.#ref = ref;
    this.#steps = [() => world.release(ref)];
  }

  add(step: Step): void {
    this.#steps.push(step);
  }

  async undo(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (thrown) {
        this.#world.tell(`cleaning up after ${this.#ref.path}: ${messageOf(thrown)}`);
      }
    }
  }
}
