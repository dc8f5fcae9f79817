import { type Agent, type AgentSetup, createAgent } from '../agents/core/agent.js';
import { Compaction } from '../agents/core/compaction.js';
import {
  createSession,
  type SessionJoint,
  structuredNudge,
} from '../agents/core/create-session.js';
import { loadAgain, takeLateTools } from '../agents/core/dynamic-tools.js';
import { createInspection } from '../agents/core/inspection.js';
import { type LiveSessionSettings, openLiveSessionSettings } from '../agents/core/live-settings.js';
import { runLimits } from '../agents/core/model-layer.js';
import { openHostRequests } from '../agents/core/open-host-requests.js';
import type { AgentSession } from '../agents/core/session.js';
import { openSessionEvents, type SessionEvents } from '../agents/core/session-events.js';
import { sessionInfo } from '../agents/core/session-info.js';
import type { Parts } from '../agents/core/session-parts.js';
import type { AgentDefinition } from '../agents/definitions/definition.js';
import { watchShells } from '../agents/delivery/background.js';
import type { OpenAgents } from '../agents/session-agents.js';
import { agentRows } from '../budget/rows.js';
import type { SessionConfig } from '../config/session-config.js';
import { openingFacts, type SessionEnvironment } from '../config/session-environment.js';
import { compactEnvironment } from '../context/compaction/trigger.js';
import { openOpening } from '../context/prompt/opening.js';
import { reminder, showsOpening } from '../context/prompt/reminders.js';
import { systemPrompt } from '../context/prompt/system-prompt.js';
import { messageOf } from '../errors.js';
import type { OpenHooks } from '../hooks/session/session-hooks.js';
import type { IdleDecision, InputMessage, ModelAnswer } from '../loop/types.js';
import { NO_SERVERS } from '../mcp/no-servers.js';
import { modelAccounts } from '../model/usage.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { textOf } from '../protocol/content.js';
import type { PermissionMode } from '../protocol/permissions.js';
import { SKILL_TOOL } from '../skills/grants/approval.js';
import { loadValidators } from '../tools/define-tool.js';

/** The agent and what happens around its runs. */
export async function joinParts(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: Parts,
): Promise<AgentSession> {
  const { clock, workspace } = environment;
  const { model, log, toolRuntime, hooks, instructions, skills, mcp, agents, current } = parts;
  const { client, choices, ledger } = model;
  const { history, recorder } = log;
  const { permissions, builtins } = toolRuntime;
  let agent: Agent | undefined;
  const events = openSessionEvents(config, environment, {
    ...parts,
    refreshRules: () => rules.refresh(),
    contextTokens: () => compaction.usedTokens(agent?.conversation.messages ?? []),
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
  const { live } = rules;
  watchShells(builtins.shells, {
    emit: config.emit,
    uuid: clock.uuid,
    tell: (id, message) => agents.runtime.tell(id, message),
  });
  await agents.teams?.side.begin();
  const setup = agentSetup(config, environment, {
    events,
    compaction,
    rules,
    ...parts,
  });
  const main = createAgent(setup);
  agent = main;
  agents.snapshots.set(MAIN_AGENT.id, {
    system: setup.system,
    pool: setup.pool,
    choice: setup.choice,
    limits: choices.limits,
    messages: () => main.conversation.messages,
    definition: config.runsAs,
  });
  // A session that another runtime began was never shown what ours begin with.
  const isOpened = history.resumed && history.messages.some(showsOpening);
  const opening = await openOpening({
    fs: environment.fs,
    configDir: environment.configDir,
    sources: environment.sources,
    facts: openingFacts(environment, choices.current().model),
    book: instructions.book,
    resumedFrom: isOpened ? { cwd: history.lastCwd } : undefined,
    emit: config.emit,
    uuid: clock.uuid,
  });
  instructions.told({ files: opening.loaded });
  const offersSkills = builtins.pool.resolve(SKILL_TOOL) !== undefined && !isOpened;
  const listing = offersSkills
    ? await skills.listing(choices.limits().contextWindow).catch((thrown: unknown) => {
        hooks.tell(`the skills could not be listed: ${messageOf(thrown)}`);
        return undefined;
      })
    : undefined;
  const announced = isOpened ? undefined : mcp?.announcement(builtins.pool);
  const kinds = isOpened ? undefined : await agents.listing(builtins.pool);
  const { runsAs } = config;
  const first = runsAs === undefined ? [] : await mainOpening(runsAs, parts, history.resumed);
  const openingMessages = [
    ...opening.messages,
    ...hooks.notes.followUp([announced, listing, kinds].filter((text) => text !== undefined)),
    ...first,
  ];
  if (history.resumed) {
    loadAgain(builtins.pool, history.messages);
    await agents.resumed();
  }
  const late = takeLateTools({
    mcp,
    toolRuntime,
    pool: builtins.pool,
    isRunning: () => current.run !== undefined,
    tell: hooks.tell,
    remind: hooks.pending.remind,
  });
  const joint: SessionJoint = {
    ...parts,
    events,
    rules,
    agent: main,
    compaction,
    opening: openingMessages,
    planNotes: openPlanNotes(config.planModeInstructions, permissions.mode),
    takeLateTools: late.beginTurn,
  };
  return createSession(config, environment, {
    ...joint,
    offers: {
      id: history.sessionId,
      info: () => sessionInfo(environment, parts, opening.paths),
      inspect: createInspection({
        settings: live.current,
        directories: () => workspace.roots,
        applied: () => ({ model: choices.current().model, effort: config.effort ?? null }),
        cwd: config.cwd,
        spent: model.budget.spent,
        inForce: () => permissions.rules(MAIN_AGENT),
        flags: { allow: config.allowedTools ?? [], deny: config.disallowedTools ?? [] },
      }),
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
          const isRunning = current.run !== undefined;
          return await takeBackConversation(
            { log, conversation: main.conversation, isRunning },
            messageId,
          );
        },
      },
      team: {
        view: () => agents.teams?.view(),
        isOver: () => agents.teams?.side.isOver?.() === true,
      },
      async context() {
        const { asMessages, contextView } = await import('../agents/core/context-view.js');
        const said = agent?.conversation.messages ?? [];
        return await contextView(parts, {
          system: setup.system,
          messages: said.length > 0 ? said : asMessages(openingMessages),
          counted: compaction.usedTokens(said),
        });
      },
      accounts: () => ({
        ...modelAccounts(ledger, { model: choices.current().model, limits: choices.limits() }),
        ...agentRows(model.budget),
      }),
    },
  });
}

/** What the agent that a session runs as brings to it besides its words and tools. */
async function mainOpening(
  definition: AgentDefinition,
  { hooks, skills, agents }: Parts,
  resumed: boolean,
): Promise<readonly InputMessage[]> {
  const notes = await agents.runsAs(definition);
  if (resumed) return [];
  const { signal } = new AbortController();
  const texts = await skills.preload(definition.skills, MAIN_AGENT, signal);
  const { initialPrompt } = definition;
  return [
    ...hooks.notes.followUp([...(notes === undefined ? [] : [notes]), ...texts.map(reminder)]),
    ...(initialPrompt === undefined ? [] : [hooks.notes.prompt(initialPrompt)]),
  ];
}

interface SetupParts extends Parts {
  readonly events: SessionEvents;
  readonly compaction: Compaction;
  readonly rules: LiveSessionSettings;
}

/** What the main agent is made of. */
function agentSetup(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: SetupParts,
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
    shouldStop: (turns) => limits(turns) ?? budget.main.shouldStop(turns),
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
      // Agents may take long: the turn ends, hooks hear of it, and whoever runs us waits.
      const mayWait =
        config.waitForBackground === true && parts.agents.backgroundTasks().length === 0;
      if (mayWait && (await background.wait())) return background.next();
      const move = await events.runs.beforeLeaving(answer, signal);
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

/** What a host wants the agent to do in plan mode: told once each time that the mode is entered. */
export function openPlanNotes(
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

/** One that works for another session waits for it instead of leaving. Undefined: the run ends. */
export async function teamRest(
  { agents, hooks }: { readonly agents: OpenAgents; readonly hooks: OpenHooks },
  answer: ModelAnswer,
  signal: AbortSignal,
): Promise<IdleDecision> {
  const move = await agents.teams?.side.rest?.(hooks.scene(signal), textOf(answer.message.content));
  if (move?.kind === 'go-on') return await hooks.notes.note([move.text]);
  if (move?.kind !== 'leave' || move.stop === undefined) return undefined;
  return { leave: { kind: 'stop_prevented', message: move.stop } };
}
