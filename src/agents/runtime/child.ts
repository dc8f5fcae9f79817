import { messageOf } from '../../errors.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { IdleDecision, InputMessage, LoopOutcome, ModelAnswer } from '../../loop/types.js';
import type { GateVerdict } from '../../permissions/gate/types.js';
import { textOf } from '../../protocol/content.js';
import type { Recorder } from '../../session/recorder.js';
import { createAgent } from '../core/agent.js';
import { Compaction } from '../core/compaction.js';
import type { AgentHost } from './agent-host.js';
import { AgentLog } from './agent-log.js';
import type { ChildServers } from './agent-servers.js';
import { forkNotice } from './fork.js';
import { type AgentReport, endOf } from './report.js';
import type { AgentRun, AgentRunPlan, ChildFacts } from './run.js';

/** Answers of the model to calls that nobody was there to allow, after which an agent gives up. */
const UNANSWERED_LIMIT = 2;
const UNANSWERED = 'it needs permissions, and nobody is there to give them';

/** Runs an agent from its first to its last word. Never throws; whatever happens, it is cleaned up. */
export async function runChild(host: AgentHost, run: AgentRun): Promise<AgentReport> {
  const { ref, description, definition, place, once } = run.plan;
  const log = new AgentLog(host, run.plan);
  const undo: Step[] = [() => host.release(ref)];
  const want = new Wants();
  const ended = await work(host, { run, log, want, undo }).catch((thrown: unknown) => {
    const failure = { kind: 'bad_response', message: messageOf(thrown), retryable: false } as const;
    return { reason: { kind: 'model_failure', failure } as const, text: '' };
  });
  run.isListening = false;
  // Last first. One failure does not keep the rest from it.
  for (const step of undo.reverse()) {
    await attempt(host, `cleaning up after ${ref.path}`, async () => await step());
  }
  const text = ended.text || log.lastText;
  const what = `the workspace of ${ref.path} could not be looked at`;
  const left = await attempt(host, what, () => place.finish(text));
  const { cancelled } = run;
  const end = endOf(ended, { cancelled, missing: [...want.missing], refused: want.isOver() });
  return {
    agent: ref,
    description,
    end,
    text,
    account: log.account(host.costOf(ref)),
    ...left,
    ...(definition.oneShot === true || once ? {} : { resume: ref.id }),
  };
}

type Step = () => void | Promise<void>;

async function attempt<T>(
  { tell }: AgentHost,
  what: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    tell(`${what}: ${messageOf(thrown)}`);
    return undefined;
  }
}

interface Work {
  readonly run: AgentRun;
  readonly log: AgentLog;
  readonly want: Wants;
  readonly undo: Step[];
}

async function work(host: AgentHost, work: Work): Promise<LoopOutcome> {
  const { run, log, undo } = work;
  const { plan: order } = run;
  const { ref, definition, pool, place, earlier, contexts, fork } = order;
  const { workspace } = place;
  const signal = order.budget?.until?.(run.signal) ?? run.signal;
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
    mode: host.permissions.mode(ref),
    signal: now,
  });
  undo.push(host.hooks.scoped(ref, definition, order.guards));
  if (definition.mcpServers.length > 0) {
    const servers = await ownServers(host, order, signal);
    if (servers !== undefined) undo.push(() => servers.close());
  }
  const recorder = host.record(ref, { cwd: () => workspace.cwd, ...earlier });
  if (earlier === undefined) {
    recorder.attachment(log.head());
    if (fork !== undefined) recorder.history(fork.messages);
  }
  const started = await host.hooks.start(scene(signal));
  const note = await host.hooks.notes.note([...contexts, ...started.contexts]);
  const task: InputMessage = {
    uuid: host.clock.uuid(),
    content: [{ type: 'text', text: taskText(order) }, ...order.beside],
  };
  const system = fork?.system ?? (await host.system(facts));
  const again = earlier !== undefined;
  const openers = fork === undefined ? await host.opening(facts, { again }) : [];
  const agent = createAgent({
    system,
    history: earlier?.messages ?? fork?.messages ?? [],
    ...childSetup(host, work, { facts, scene, recorder }),
  });
  undo.push(() => agent.conversation.replace([]));
  host.snapshots.set(ref.id, {
    system,
    pool,
    choice: () => order.choice,
    limits: () => order.limits,
    messages: () => agent.conversation.messages,
    definition,
  });
  undo.push(() => void host.snapshots.delete(ref.id));
  const prompts = [...openers, ...(note === undefined ? [] : [note]), task];
  const start = (): Promise<LoopOutcome> => agent.run({ prompts }, signal);
  return await (order.budget?.runAgent?.(start) ?? start());
}

/** A fork that is gone on with has been told already what it is. */
function taskText({ prompt, fork, earlier }: AgentRunPlan): string {
  return fork === undefined || earlier !== undefined ? prompt : `${forkNotice()}\n\n${prompt}`;
}

type Setup = Parameters<typeof createAgent>[0];

function childSetup(
  host: AgentHost,
  { run, log, want }: Work,
  {
    facts,
    scene,
    recorder,
  }: { facts: ChildFacts; scene: (signal: AbortSignal) => Scene; recorder: Recorder },
): Omit<Setup, 'system' | 'history'> {
  const { ref, definition, pool, place, readState, choice, limits, budget } = run.plan;
  const plain = host.client(ref);
  const client = budget?.client(plain) ?? plain;
  const compaction = new Compaction({
    client: budget?.side?.(plain) ?? plain,
    clock: host.clock,
    env: () => host.compactEnv(),
    window: () => limits,
    recordBoundary: (compacted) => recorder.compactBoundary(compacted),
    hooks: host.hooks.compaction(scene, facts),
    emit: () => undefined,
  });
  const stop = host.hooks.stop();
  return {
    ref,
    client,
    choice: () => choice,
    pool,
    invoke: host.invoke({
      agent: ref,
      pool,
      workspace: place.workspace,
      readState,
      unattended: definition.asks === 'deny',
      onVerdict: (verdict) => want.verdict(verdict),
    }),
    isReadOnly: host.readsOnly(ref, place.workspace, pool),
    record: recorder,
    compaction,
    shouldStop(turns) {
      const stuck =
        (want.isOver() ? UNANSWERED : undefined) ??
        host.permissions.stuck(ref.path) ??
        compaction.exhausted;
      if (stuck !== undefined) return { kind: 'stuck', message: stuck };
      const { maxTurns } = definition;
      if (maxTurns !== undefined && turns >= maxTurns)
        return { kind: 'max_turns', limit: maxTurns };
      return budget?.shouldStop(turns) ?? host.sessionEnds();
    },
    async takeInput() {
      const said = run.take();
      const last = budget?.lastTurnNotice?.();
      return last === undefined ? said : [...said, last];
    },
    afterBatch: host.hooks.afterBatch(scene),
    async onIdle(answer, signal) {
      const said = joined(run.take());
      if (said !== undefined) return said;
      const move = await stop.beforeLeaving({
        event: 'SubagentStop',
        lastMessage: textOf(answer.message.content),
        backgroundTasks: [],
        crons: [],
        agentTranscriptPath: host.hooks.transcriptOf(ref),
        ...scene(signal),
      });
      if (move.kind === 'go-on') return await host.hooks.notes.note([move.message]);
      if (move.kind === 'leave' && move.notice !== undefined) host.tell(move.notice);
      const late = joined(run.take());
      if (late !== undefined) return late;
      const about = { answer, scene: scene(signal) };
      const next = move.kind === 'end' ? undefined : await rested(host, run, about);
      if (next !== undefined) return next;
      run.isListening = false;
      return move.kind === 'end'
        ? { leave: { kind: 'stop_prevented', message: move.stop } }
        : undefined;
    },
    onAnswer(answer) {
      host.permissions.nextAnswer(ref.path);
      want.answered();
      log.answer(answer);
    },
    emit(event) {
      if (event.type === 'requesting') run.begin();
      log.event(event);
    },
    // The log tells of whole answers only.
    emitPartials: false,
    uuid: host.clock.uuid,
  };
}

/** One that stays waits here until somebody speaks to it. Undefined: it leaves. */
async function rested(
  host: AgentHost,
  run: AgentRun,
  { answer, scene }: { answer: ModelAnswer; scene: Scene },
): Promise<IdleDecision> {
  const { stays } = run.plan;
  if (stays === undefined) return undefined;
  const move = await stays.beforeRest(scene, textOf(answer.message.content));
  if (move.kind === 'go-on') return await host.hooks.notes.note([move.text]);
  if (move.kind === 'leave') {
    if (move.stop === undefined) return undefined;
    run.isListening = false;
    return { leave: { kind: 'stop_prevented', message: move.stop } };
  }
  await run.heard(scene.signal);
  stays.woken();
  return joined(run.take());
}

/** Several messages as one. */
function joined(messages: readonly InputMessage[]): InputMessage | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  return { ...first, content: messages.flatMap(({ content }) => content) };
}

async function ownServers(
  host: AgentHost,
  { ref, definition, pool }: AgentRunPlan,
  signal: AbortSignal,
): Promise<ChildServers | undefined> {
  const servers = await host.serversFor(ref, definition, signal);
  if (servers === undefined) return undefined;
  const { problems } = pool.add(servers.tools);
  for (const text of [...servers.notes, ...problems]) host.tell(`agent ${ref.type}: ${text}`);
  return servers;
}

/** What an agent asked for and nobody was there to allow. */
class Wants {
  readonly missing = new Set<string>();
  #answers = 0;
  #hasRefusal = false;

  verdict(verdict: GateVerdict): void {
    if (verdict.kind !== 'refused' || verdict.unanswered !== true) return;
    // Calls of one answer count once: their results had not been seen yet.
    if (!this.#hasRefusal) this.#answers++;
    this.#hasRefusal = true;
    const { receipt, reasonForModel = receipt.reason } = verdict;
    this.missing.add(verdict.suggestion ?? `${receipt.tool} (${reasonForModel})`);
  }

  answered(): void {
    this.#hasRefusal = false;
  }

  isOver(): boolean {
    return this.#answers >= UNANSWERED_LIMIT;
  }
}
