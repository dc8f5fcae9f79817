import { type Agent, type AgentSetup, createAgent } from '../agents/core/agent.js';
import { Compaction } from '../agents/core/compaction.js';
import {
  createSession,
  type SessionJoint,
  structuredNudge,
} from '../agents/core/create-session.js';
import { loadAgain, takeLateTools } from '../agents/core/dynamic-tools.js';
import { createInspection } from '../agents/core/inspection.js';
import { type JoinedParts, openLiveSessionSettings } from '../agents/core/live-settings.js';
import { runLimits } from '../agents/core/model-layer.js';
import { openHostRequests } from '../agents/core/open-host-requests.js';
import type { AgentSession } from '../agents/core/session.js';
import { openSessionEvents } from '../agents/core/session-events.js';
import { sessionInfo } from '../agents/core/session-info.js';
import { openConversation } from '../agents/core/session-opening.js';
import type { Parts } from '../agents/core/session-parts.js';
import { watchShells } from '../agents/delivery/background.js';
import { agentRows } from '../budget/rows.js';
import type { SessionConfig } from '../config/session-config.js';
import type { SessionEnvironment } from '../config/session-environment.js';
import { compactEnvironment } from '../context/compaction/trigger.js';
import { reminder } from '../context/prompt/reminders.js';
import { systemPrompt } from '../context/prompt/system-prompt.js';
import type { IdleDecision, ModelAnswer } from '../loop/types.js';
import { NO_SERVERS } from '../mcp/no-servers.js';
import { modelAccounts } from '../model/usage.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { type Message, textOf } from '../protocol/content.js';
import type { PermissionMode } from '../protocol/permissions.js';
import { loadValidators } from '../tools/define-tool.js';

/** Creates the main agent and connects the parts of the session around its runs. */
export async function joinParts(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: Parts,
): Promise<AgentSession> {
  const { clock } = environment;
  const { model, log, toolRuntime, hooks, mcp, agents, current } = parts;
  const { client, choices, ledger } = model;
  const { history, recorder } = log;
  const { permissions, builtins } = toolRuntime;
  let agent: Agent | undefined;
  const said = (): readonly Message[] => agent?.conversation.messages ?? [];
  const contextTokens = (): number => compaction.usedTokens(said());
  const refreshRules = (): Promise<void> => rules.refresh();
  const events = openSessionEvents(config, environment, {
    ...parts,
    contextTokens,
    refreshRules,
  });
  const compaction = new Compaction({
    client,
    clock,
    env: () => compactEnvironment(environment.env, environment.settings.values),
    window: choices.limits,
    recordBoundary: (compacted) => recorder.compactBoundary(compacted),
    hooks: events.compaction,
    emit: config.emit,
  });
  const rules = openLiveSessionSettings(environment, parts, events);
  watchShells(builtins.shells, {
    emit: config.emit,
    uuid: clock.uuid,
    tell: (id, message) => agents.runtime.tell(id, message),
  });
  await agents.teams?.side.begin();
  const joined = { ...parts, events, compaction, rules };
  const setup = agentSetup(config, environment, joined);
  const main = createAgent(setup);
  agent = main;
  agents.snapshots.set(MAIN_AGENT.id, {
    system: setup.system,
    pool: setup.pool,
    choice: setup.choice,
    limits: choices.limits,
    messages: said,
    definition: config.runsAs,
  });
  const opening = await openConversation(config, environment, { ...parts, isTrial: false });
  if (history.resumed) {
    loadAgain(builtins.pool, history.messages);
    await agents.resumed();
  }
  const accounts: AgentSession['accounts'] = () => ({
    ...modelAccounts(ledger, { model: choices.current().model, limits: choices.limits() }),
    ...agentRows(model.budget),
  });
  const joint: SessionJoint = {
    ...joined,
    agent: main,
    opening: opening.messages,
    planNotes: openPlanNotes(config.planModeInstructions, permissions.mode),
    takeLateTools: takeLateTools(parts),
    accounts,
  };
  return {
    ...createSession(config, environment, joint),
    id: history.sessionId,
    info: () => sessionInfo(environment, parts, opening.paths),
    inspect: createInspection(config, environment, parts),
    hooks: () => ({ set: hooks.snapshot(), stats: hooks.stats() }),
    awaitPrompt: () => hooks.attention.idle('Portcullis is waiting for your input'),
    setMode: permissions.setMode,
    setModel: events.models.set,
    addDirectory: events.addDirectory,
    mcp: mcp?.control ?? NO_SERVERS,
    requests: openHostRequests(config, environment, joint),
    changes: {
      off: parts.checkpoints.off,
      journal: () => parts.checkpoints.journal(),
      async takeBackConversation(messageId) {
        const { takeBackConversation } = await import('../session/transcripts.js');
        const { conversation } = main;
        const isRunning = current.run !== undefined;
        return await takeBackConversation({ log, conversation, isRunning }, messageId);
      },
    },
    team: {
      view: () => agents.teams?.view(),
      isOver: () => agents.teams?.side.isOver?.() === true,
    },
    async context() {
      const { contextView } = await import('../agents/core/context-view.js');
      const counted = contextTokens();
      const shown = { messages: said(), opening: opening.messages, counted };
      return await contextView(config, parts, shown);
    },
    accounts,
  };
}

function agentSetup(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: JoinedParts & { readonly compaction: Compaction },
): AgentSetup {
  const { model, log, toolRuntime, events, compaction, current, rules } = parts;
  const { background } = parts.agents;
  const { permissions, builtins } = toolRuntime;
  const { choices, turns, budget } = model;
  const { uuid } = environment.clock;
  const nudge = config.jsonSchema === undefined ? undefined : structuredNudge(uuid);
  const limits = runLimits(config, model, {
    maxTurns: config.maxTurns,
    stuck: () => builtins.stuck() ?? permissions.stuck(MAIN_AGENT.path) ?? compaction.exhausted,
  });
  return {
    ref: MAIN_AGENT,
    client: turns,
    choice: choices.current,
    system: systemPrompt(config),
    pool: builtins.pool,
    invoke: toolRuntime.invoke,
    record: log.recorder,
    history: log.history.messages,
    compaction,
    shouldStop: (turnsTaken) => limits(turnsTaken) ?? budget.main.shouldStop(turnsTaken),
    async betweenTurns() {
      parts.checkpoints.requested();
      await rules.refresh();
      await loadValidators();
    },
    async takeInput() {
      const last = budget.main.lastTurnNotice();
      return [...((await current.run?.takeInput()) ?? []), ...(last === undefined ? [] : [last])];
    },
    mayDefer: config.mayDefer === true,
    display: events.display,
    prepareCalls: (calls, signal) => toolRuntime.calls.prepare(calls, signal),
    isReadOnly: toolRuntime.calls.readsOnly(MAIN_AGENT, environment.workspace, builtins.pool),
    async afterBatch(batch, signal) {
      await events.moved(signal);
      return await toolRuntime.events.afterBatch(batch, parts.hooks.scene(signal));
    },
    async onIdle(answer, signal) {
      const next = nudge?.() ?? background.next();
      if (next !== undefined) return next;
      // Agents may run long: the turn ends, Stop hooks run, and the host waits for them.
      const mayWait =
        config.waitForBackground === true && parts.agents.backgroundTasks().length === 0;
      if (mayWait && (await background.wait())) return background.next();
      const move = await events.beforeLeaving(answer, signal);
      return move ?? (await teamRest(parts, answer, signal));
    },
    onAnswer(answer) {
      parts.checkpoints.answered();
      permissions.nextAnswer();
      events.models.answered();
      current.run?.onAnswer(answer);
    },
    emit(event) {
      if (event.type === 'retry' && event.event.type === 'fallback') {
        void events.models.fellBack(event.event.from, event.event.to);
      }
      parts.agents.messaging.heard(event);
      config.emit(event);
    },
    uuid,
  };
}

/** A host's instructions for plan mode, sent once each time the mode is entered. */
function openPlanNotes(
  instructions: string | undefined,
  mode: () => PermissionMode,
): () => readonly string[] {
  let isTold = false;
  if (instructions === undefined || instructions.trim() === '') return () => [];
  return () => {
    const plans = mode() === 'plan';
    const isNew = plans && !isTold;
    isTold = plans;
    return isNew ? [reminder(`${BEFORE}\n\n${instructions}\n\n${AFTER}`)] : [];
  };
}

const BEFORE = 'Plan mode is on: explore and read, change nothing.';
const AFTER =
  'When the plan is complete, present it with ExitPlanMode; work begins after approval.';

/** A teammate waits for new work of its team instead of ending. Undefined: the run ends. */
async function teamRest(
  { agents, hooks }: Parts,
  answer: ModelAnswer,
  signal: AbortSignal,
): Promise<IdleDecision> {
  const move = await agents.teams?.side.rest?.(hooks.scene(signal), textOf(answer.message.content));
  if (move?.kind === 'go-on') return await hooks.notes.note([move.text]);
  if (move?.kind !== 'leave' || move.stop === undefined) return undefined;
  return { leave: { kind: 'stop_prevented', message: move.stop } };
}
