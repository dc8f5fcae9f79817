import { createLimits } from '../../budget/units.js';
import type { SessionConfig } from '../../config/session-config.js';
import {
  type Log,
  openingFacts,
  type SessionEnvironment,
} from '../../config/session-environment.js';
import { compactEnvironment } from '../../context/compaction/trigger.js';
import { instructionsReminder } from '../../context/instructions/reminder.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import { reminder } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { InputMessage } from '../../loop/types.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import { createAppendLog } from '../../platform/fs/append-log.js';
import { homeDirectory, join } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { Recorder } from '../../session/recorder.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import type { ToolPool } from '../../tools/pool.js';
import { VERSION } from '../../version.js';
import type { ModelLayer } from '../core/model-layer.js';
import type { ToolRuntime } from '../core/tool-runtime.js';
import { bareName } from '../definitions/tools.js';
import type { ToolRestrictions } from '../limits/tool-restrictions.js';
import { createResumeRules, type ResumeAsks, type ResumeRules } from '../limits/type-rules.js';
import { AGENT_TOOL } from '../tools/agent-tool.js';
import { childSystem, siblingsReminder } from './agent-context.js';
import { childHooks } from './agent-hooks.js';
import type { AgentHost, ChildFacts, ChildTools } from './agent-host.js';
import { childBudgets } from './agent-host.js';
import type { ConversationSnapshot } from './fork.js';
import type { AgentMemories } from './memory.js';
import type { AgentRun, ChildOutputLog } from './run.js';

export interface AgentHostParts {
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly model: ModelLayer;
  toolRuntime(): ToolRuntime;
  release(agent: AgentRef): void;
  readonly instructions: OpenInstructions;
  readonly skills: OpenSkills;
  readonly mcp: OpenServersOfSession | undefined;
  readonly fences: ToolRestrictions;
  /** What the agents that run work with, and where, by their ids. */
  readonly working: Map<string, Pick<ChildTools, 'pool' | 'workspace'>>;
  readonly memories: AgentMemories;
  readonly asks: Pick<ResumeAsks, 'takeAsked'>;
  /** What the agents that run send, by their ids. */
  readonly snapshots: Map<string, ConversationSnapshot>;
  /** The kinds of agents that this one with these tools may start. */
  listing(pool: ToolPool, agent: AgentRef): Promise<string | undefined>;
  /** Those that run. */
  running(): readonly AgentRun[];
  /** What an agent has recorded just now. */
  heard(event: Parameters<AgentHost['emit']>[0]): void;
  readonly workspaceFor: AgentHost['workspaceFor'];
  readonly serversFor: AgentHost['serversFor'];
}

/** What a session lends to the agents that work in it. */
export function openAgentHost(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: AgentHostParts,
): AgentHost & ResumeRules {
  const { clock, env, workspace, gitBranch } = environment;
  const { log, hooks, model, toolRuntime, working } = parts;
  const { sessionId } = log.history;
  const { ledger } = model;
  /** Where agents write what they say; made for the first of them. */
  let outputs: string | undefined;
  const hasTranscripts = config.persist && config.store === undefined;
  const spent = createLimits({
    maxTurns: undefined,
    maxBudgetUsd: config.maxBudgetUsd,
    spentUsd: () => ledger.sinceStart().costUsd,
    unpricedCalls: () => ledger.sinceStart().unpricedRequests,
    stuck: () => undefined,
  });
  return {
    clock,
    env,
    compactEnv: () => compactEnvironment(env, environment.settings.values),
    provider: model.client.provider,
    choices: model.choices,
    client: model.clientFor,
    costOf({ path }) {
      const own = ledger.of(path);
      return own.unpricedRequests > 0 ? undefined : own.costUsd;
    },
    pool: () => toolRuntime().builtins.shared,
    snapshots: parts.snapshots,
    invoke(hand) {
      working.set(hand.ref.id, hand);
      return toolRuntime().calls.ofAgent({ ...hand, agent: hand.ref });
    },
    readsOnly: (...asked) => toolRuntime().calls.readsOnly(...asked),
    async record(ref, place) {
      return new Recorder({
        store: log.store,
        sessionId,
        clock,
        version: VERSION,
        entrypoint: config.entrypoint,
        agentId: ref.id,
        ...place,
        gitBranch,
      });
    },
    output({ id, background }) {
      // Whoever waits for an agent gets its report with the result: nobody is sent to a file meanwhile.
      if (!background && hasTranscripts) return { path: log.store.transcriptPath(sessionId, id) };
      outputs ??= log.store.spillDirectory(sessionId);
      const path = join(outputs, `${id}.output`);
      return { path, log: outputLog(path, hooks.tell) };
    },
    get permissions() {
      return toolRuntime().permissions;
    },
    fences: parts.fences,
    ...createResumeRules({
      toolOf: ({ id }) =>
        (parts.snapshots.get(id)?.pool ?? toolRuntime().builtins.shared).resolve(AGENT_TOOL),
      fences: parts.fences,
      asks: parts.asks,
      fs: environment.fs,
      home: homeDirectory(env),
      workspace,
      rules: (agent) => toolRuntime().permissions.rules(agent),
      mode: (agent) => toolRuntime().permissions.mode(agent),
    }),
    workspace,
    get readState() {
      return toolRuntime().calls.readState;
    },
    sessionEnds: () => spent(0),
    system: ({ definition, place, model: name }) =>
      childSystem(definition, {
        ...openingFacts(environment, name),
        cwd: place.workspace.cwd,
        additionalDirectories: place.isolation === undefined ? workspace.roots.slice(1) : [],
      }),
    equip: parts.memories.equip,
    opening(child, { again }) {
      const { ref, pool, place } = child;
      // Skills that it is given from the start are its own, too.
      working.set(ref.id, { pool, workspace: place.workspace });
      return opening(parts, child, { again, uuid: clock.uuid });
    },
    hooks: childHooks(config, environment, parts),
    emit(event) {
      parts.heard(event);
      config.emit(event);
    },
    tell: hooks.tell,
    async release(ref) {
      working.delete(ref.id);
      parts.memories.close(ref);
      parts.release(ref);
      const { builtins } = toolRuntime();
      await builtins.release(ref.id);
      // What becomes of a place of its own goes by what it wrote: who closes that place forgets it.
      if (ref.workspace === undefined) builtins.ledger.forget(ref.path);
      log.store.release(sessionId, ref.id);
    },
    budgetFor: model.budget && childBudgets(model.budget),
    workspaceFor: parts.workspaceFor,
    serversFor: parts.serversFor,
  };
}

/** What an agent is told before its task. */
async function opening(
  { instructions, skills, hooks, mcp, listing, memories, running }: AgentHostParts,
  { definition, pool, ref, contextWindow, signal }: ChildFacts,
  { again, uuid }: { readonly again: boolean; uuid(): string },
): Promise<readonly InputMessage[]> {
  const shown = !definition.omitInstructions;
  instructions.admit(ref.id, { shown });
  const notes = await memories.open(ref, definition);
  if (again) return [];
  const loaded = shown ? await instructions.openFor(ref) : undefined;
  // Notes of the main agent for itself are not for others.
  const files = (loaded?.files ?? []).filter(({ scope }) => scope !== 'memory');
  const hasSkills = pool.resolve(SKILL_TOOL) !== undefined;
  const canSpeak = pool.resolve('SendMessage') !== undefined;
  const siblings = canSpeak ? siblingsReminder(running(), ref) : undefined;
  const texts = [
    instructionsReminder(files, { occasion: 'start' }),
    notes,
    hasSkills ? await listedSkills(skills, contextWindow, hooks.tell) : undefined,
    // Who is told by name that it may start others is told whom.
    definition.tools?.some((entry) => bareName(entry) === AGENT_TOOL) === true
      ? await listing(pool, ref)
      : undefined,
    mcp?.announcement(pool),
    siblings === undefined ? undefined : reminder(siblings),
    ...(await skills.preload(definition.skills, ref, signal)).map(reminder),
  ].filter((text) => text !== undefined);
  if (texts.length === 0) return [];
  return [{ uuid: uuid(), content: texts.map((text) => ({ type: 'text', text })), meta: true }];
}

async function listedSkills(
  skills: OpenSkills,
  contextWindow: number,
  tell: (text: string) => void,
): Promise<string | undefined> {
  try {
    return await skills.listing(contextWindow, { quiet: true });
  } catch (thrown) {
    tell(`the skills could not be listed: ${messageOf(thrown)}`);
    return undefined;
  }
}

const OUTPUT_PAUSE_MS = 50;

/** A file that grows with what an agent says. Losing it loses nothing that counts. */
function outputLog(path: string, tell: (text: string) => void): ChildOutputLog {
  const log = createAppendLog(path);
  let isLost = false;
  let waiting: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    waiting = [];
    if (isLost || lines.length === 0) return;
    try {
      log.append(lines);
    } catch (thrown) {
      isLost = true;
      tell(messageOf(thrown));
    }
  };
  return {
    append(text) {
      if (isLost || text === '') return;
      for (const line of text.split('\n')) waiting.push(line);
      // People do not read faster, and many agents write a lot.
      timer ??= setTimeout(flush, OUTPUT_PAUSE_MS);
    },
    close() {
      flush();
      log.close();
    },
  };
}
