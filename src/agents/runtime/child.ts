import { openingFacts } from '../../config/session-environment.js';
import { compactEnvironment } from '../../context/compaction/trigger.js';
import { messageOf } from '../../errors.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import { subagentStart } from '../../hooks/events/agent.js';
import { createStopHooks, stopHookCap } from '../../hooks/events/stop.js';
import type { IdleDecision, InputMessage, LoopOutcome, ModelAnswer } from '../../loop/types.js';
import type { GateVerdict } from '../../permissions/gate/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import { Recorder } from '../../session/recorder.js';
import { VERSION } from '../../version.js';
import { type AgentSetup, createAgent } from '../core/agent.js';
import { Compaction } from '../core/compaction.js';
import { runLimits } from '../core/model-layer.js';
import { childSystem, openingMessages } from './agent-context.js';
import { compactionHooks, scopeHooks } from './agent-hooks.js';
import { AgentLog } from './agent-log.js';
import { forkNotice } from './fork.js';
import type { AgentHost } from './host.js';
import { type AgentReport, endOf } from './report.js';
import type { AgentRun } from './run.js';

/** Answers with calls that no person was available to allow, after which an agent gives up. */
const UNANSWERED_LIMIT = 2;
const UNANSWERED = 'it needs permissions, and no person is there to give them';

/** Runs an agent from start to end. Never throws, and always cleans up. */
export async function runChild(host: AgentHost, run: AgentRun): Promise<AgentReport> {
  const { ref, description, definition, plan } = run;
  const log = new AgentLog(host, run);
  const undo: Step[] = [() => release(host, ref)];
  const wants = new Wants();
  const ended = await work(host, { run, log, wants, undo }).catch((thrown: unknown) => {
    const failure = { kind: 'bad_response', message: messageOf(thrown), retryable: false } as const;
    return { reason: { kind: 'model_failure', failure } as const, text: '' };
  });
  run.isListening = false;
  const attempt = async <T>(what: string, step: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (thrown) {
      host.hooks.tell(`${what}: ${messageOf(thrown)}`);
      return undefined;
    }
  };
  // In reverse order; one failure does not stop the others.
  for (const step of undo.reverse()) await attempt(`cleaning up after ${ref.path}`, step);
  const text = ended.text || log.lastText;
  const what = `the workspace of ${ref.path} could not be looked at`;
  const left = await attempt(what, () => plan.place.finish(text));
  const { cancelled } = run;
  return {
    agent: ref,
    description,
    end: endOf(ended, { cancelled, missing: [...wants.missing], refused: wants.isOver() }),
    text,
    account: log.account(),
    ...left,
    ...(definition.oneShot === true || run.once ? {} : { resume: ref.id }),
  };
}

type Step = () => void | Promise<void>;

/** Releases what other parts keep for an agent: shells, lists, files. */
async function release(host: AgentHost, ref: AgentRef): Promise<void> {
  host.working.delete(ref.id);
  host.memories.close(ref);
  host.release(ref);
  const { builtins } = host.toolRuntime();
  await builtins.release(ref.id);
  // A workspace of its own still needs the record of writes; closing it forgets that.
  if (ref.workspace === undefined) builtins.ledger.forget(ref.path);
  host.log.store.release(host.log.history.sessionId, ref.id);
}

interface Work {
  readonly run: AgentRun;
  readonly log: AgentLog;
  readonly wants: Wants;
  readonly undo: Step[];
}

async function work(host: AgentHost, { run, log, wants, undo }: Work): Promise<LoopOutcome> {
  const { environment, hooks, snapshots } = host;
  const { ref, definition, plan } = run;
  const { pool, place, request, earlier, fork, choice, limits, budget } = plan;
  const { workspace } = place;
  const signal =
    budget.signal === undefined ? run.signal : AbortSignal.any([run.signal, budget.signal]);
  const scene = (now: AbortSignal): Scene => ({
    agent: ref,
    cwd: workspace.cwd,
    mode: host.toolRuntime().permissions.mode(ref),
    signal: now,
  });
  undo.push(scopeHooks(hooks, run));
  if (definition.mcpServers.length > 0) {
    const servers = await host.serversFor(ref, definition, signal);
    const { problems } = pool.add(servers.tools);
    for (const text of [...servers.notes, ...problems]) hooks.tell(`agent ${ref.type}: ${text}`);
    undo.push(() => servers.close());
  }
  const recorder = new Recorder({
    store: host.log.store,
    sessionId: host.log.history.sessionId,
    clock: environment.clock,
    version: VERSION,
    entrypoint: host.config.entrypoint,
    agentId: ref.id,
    cwd: () => workspace.cwd,
    gitBranch: environment.gitBranch,
    ...earlier,
  });
  if (earlier === undefined) {
    recorder.attachment(log.head());
    if (fork !== undefined) recorder.history(fork.messages);
  }
  const started = await subagentStart(hooks, scene(signal));
  const contexts = [...(place.notes ?? []), ...(request.contexts ?? []), ...started.contexts];
  const note = await hooks.notes.note(contexts);
  // A resumed fork already has the notice.
  const isNewFork = fork !== undefined && earlier === undefined;
  const text = isNewFork ? `${forkNotice()}\n\n${request.prompt}` : request.prompt;
  const task: InputMessage = {
    uuid: environment.clock.uuid(),
    content: [{ type: 'text', text }, ...(request.beside ?? [])],
  };
  const inherited = place.isolation === undefined ? environment.workspace.roots.slice(1) : [];
  const system =
    fork?.system ??
    (await childSystem(definition, {
      ...openingFacts(environment, choice.model),
      cwd: workspace.cwd,
      additionalDirectories: inherited,
    }));
  // Preloaded skills may use the agent's tools, so these are registered first.
  host.working.set(ref.id, { pool, workspace });
  const openers = fork === undefined ? await openingMessages(host, run, signal) : [];
  const agent = createAgent({
    system,
    history: earlier?.messages ?? fork?.messages ?? [],
    ...childSetup(host, { run, log, wants }, { scene, recorder }),
  });
  undo.push(() => agent.conversation.replace([]));
  snapshots.set(ref.id, {
    system,
    pool,
    choice: () => choice,
    limits: () => limits,
    messages: () => agent.conversation.messages,
    definition,
  });
  undo.push(() => void snapshots.delete(ref.id));
  const prompts = [...openers, ...(note === undefined ? [] : [note]), task];
  return await budget.runAgent(() => agent.run({ prompts }, signal));
}

type SceneOf = (signal: AbortSignal) => Scene;

function childSetup(
  host: AgentHost,
  { run, log, wants }: Omit<Work, 'undo'>,
  { scene, recorder }: { readonly scene: SceneOf; readonly recorder: Recorder },
): Omit<AgentSetup, 'system' | 'history'> {
  const { environment, hooks, model } = host;
  const { env, clock } = environment;
  const { ref, definition, plan } = run;
  const { pool, readState, limits, choice, budget } = plan;
  const { workspace } = plan.place;
  const { permissions, calls, events } = host.toolRuntime();
  const client = model.clientFor(ref);
  const compaction = new Compaction({
    client: budget.side(client),
    clock,
    env: () => compactEnvironment(env, environment.settings.values),
    window: () => limits,
    recordBoundary: (compacted) => recorder.compactBoundary(compacted),
    hooks: compactionHooks(host, run, scene),
    emit: () => undefined,
  });
  const stop = createStopHooks(hooks.dispatch, {
    cap: stopHookCap(env),
    changes: () => calls.ledger.count(),
  });
  const limitOf = runLimits(host.config, model, {
    maxTurns: definition.maxTurns,
    stuck: () =>
      (wants.isOver() ? UNANSWERED : undefined) ??
      permissions.stuck(ref.path) ??
      compaction.exhausted,
  });
  return {
    ref,
    client: budget.client(client),
    choice: () => choice,
    pool,
    invoke: calls.ofAgent({
      agent: ref,
      pool,
      workspace,
      readState,
      unattended: definition.asks === 'deny',
      onVerdict: (verdict) => wants.verdict(verdict),
    }),
    isReadOnly: calls.readsOnly(ref, workspace, pool),
    record: recorder,
    compaction,
    shouldStop: (turns) => limitOf(turns) ?? budget.shouldStop(turns),
    async takeInput() {
      const last = budget.lastTurnNotice();
      return [...run.take(), ...(last === undefined ? [] : [last])];
    },
    afterBatch: (batch, signal) => events.afterBatch(batch, scene(signal)),
    async onIdle(answer, signal) {
      const said = joined(run.take());
      if (said !== undefined) return said;
      const move = await stop.beforeLeaving({
        event: 'SubagentStop',
        lastMessage: textOf(answer.message.content),
        backgroundTasks: [],
        crons: [],
        agentTranscriptPath: host.log.store.transcriptPath(host.log.history.sessionId, ref.id),
        ...scene(signal),
      });
      if (move.kind === 'go-on') return await hooks.notes.note([move.message]);
      if (move.kind === 'leave' && move.notice !== undefined) hooks.tell(move.notice);
      const late = joined(run.take());
      if (late !== undefined) return late;
      const next =
        move.kind === 'end' ? undefined : await rested(host, run, { answer, scene: scene(signal) });
      if (next !== undefined) return next;
      run.isListening = false;
      return move.kind === 'end'
        ? { leave: { kind: 'stop_prevented', message: move.stop } }
        : undefined;
    },
    onAnswer(answer) {
      permissions.nextAnswer(ref.path);
      wants.answered();
      log.answer(answer);
    },
    emit(event) {
      if (event.type === 'requesting') run.begin();
      log.event(event);
    },
    // The log records complete answers only.
    emitPartials: false,
    uuid: clock.uuid,
  };
}

/** Lets an agent that stays alive wait for messages; undefined when it ends. */
async function rested(
  { hooks }: AgentHost,
  run: AgentRun,
  { answer, scene }: { answer: ModelAnswer; scene: Scene },
): Promise<IdleDecision> {
  const { stays } = run.plan.request;
  if (stays === undefined) return undefined;
  const move = await stays.beforeRest(scene, textOf(answer.message.content));
  if (move.kind === 'go-on') return await hooks.notes.note([move.text]);
  if (move.kind === 'leave') {
    if (move.stop === undefined) return undefined;
    run.isListening = false;
    return { leave: { kind: 'stop_prevented', message: move.stop } };
  }
  await run.heard(scene.signal);
  stays.woken();
  return joined(run.take());
}

/** Merges several messages into one. */
function joined(messages: readonly InputMessage[]): InputMessage | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  return { ...first, content: messages.flatMap(({ content }) => content) };
}

/** Collects permissions that the agent needed and no person was available to give. */
class Wants {
  readonly missing = new Set<string>();
  #answers = 0;
  #hasRefusal = false;

  verdict(verdict: GateVerdict): void {
    if (verdict.kind !== 'refused' || verdict.unanswered !== true) return;
    // Calls of one answer count once, because the agent had not seen their results.
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
