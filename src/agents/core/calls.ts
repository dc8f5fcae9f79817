import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import { PortcullisError } from '../../errors.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { err, ok } from '../../lib/result.js';
import type { Permissions } from '../../permissions/gate/open.js';
import type { Asker, GateCall, GateVerdict, JudgedCall } from '../../permissions/gate/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { Receipt } from '../../protocol/permissions.js';
import type { CallForSkill } from '../../skills/invoke/skill-calls.js';
import type { Builtins, TeamTasks } from '../../tools/builtin/builtin-tools.js';
import { completedCall } from '../../tools/completed-call.js';
import { createReadState } from '../../tools/files/read-state.js';
import type { CheckedCall, Invoke, InvokeDeps } from '../../tools/invocation.js';
import { createInvoke } from '../../tools/invoke.js';
import { boundOutput } from '../../tools/output.js';
import { createPool, type ToolPool } from '../../tools/pool.js';
import type { StopsAgents } from '../../tools/tasks/task-stop.js';
import type { ReadState, ToolContext, Workspace } from '../../tools/tool.js';
import { CallLedger } from './call-ledger.js';
import type { ToolEvents, WhoWorks } from './tool-events.js';

interface CallParts {
  readonly hooks: OpenHooks;
  readonly instructions: OpenInstructions;
  readonly events: ToolEvents;
  readonly permissions: Permissions;
  readonly builtins: Builtins;
  readonly log: Log;
  readonly agents: Pick<AgentTooling, 'poolOf' | 'placeOf'>;
  /** Records and announces a receipt. */
  decided(receipt: Receipt): void;
  /** Watches file changes of calls. */
  readonly watch: InvokeDeps['watch'];
}

/** What the agents feature provides to tools and the gate. */
export interface AgentTooling {
  readonly stops: StopsAgents;
  readonly messaging: { asker(asked: Asker | undefined): Asker | undefined };
  readonly teams?: { readonly tasks: TeamTasks; readonly who: WhoWorks } | undefined;
  /** The tools of a running agent; undefined stands for the session's. */
  poolOf(agent: AgentRef | undefined): ToolPool | undefined;
  /** The workspace of a running agent; undefined stands for the session's. */
  placeOf(agent: AgentRef): Workspace | undefined;
}

/** An agent that makes calls, with its tools and workspace. */
export interface Caller {
  readonly agent: AgentRef;
  readonly pool: ToolPool;
  readonly workspace: Workspace;
  readonly readState: ReadState;
  /** True: no person is asked about its calls. */
  readonly unattended?: boolean | undefined;
}

/** The only entry point for tool calls of agents, skills, hosts and people. */
export class Calls {
  readonly ledger = new CallLedger();
  /** The files that the main agent has read. */
  readonly readState = createReadState();
  readonly #config: SessionConfig;
  readonly #environment: SessionEnvironment;
  readonly #parts: CallParts;

  constructor(config: SessionConfig, environment: SessionEnvironment, parts: CallParts) {
    this.#config = config;
    this.#environment = environment;
    this.#parts = parts;
  }

  /** Calls of an agent of the session; refusals and failures are counted. */
  ofAgent(
    caller: Caller & Pick<InvokeDeps, 'elsewhere'> & { onVerdict?(verdict: GateVerdict): void },
  ): Invoke {
    const { agent, pool, workspace } = caller;
    const { builtins, permissions, hooks } = this.#parts;
    const isMain = agent.depth === 0;
    const attempts = isMain ? builtins : builtins.attempts(workspace);
    return this.of(caller, {
      elsewhere: caller.elsewhere,
      onVerdict: (call, tool, verdict) => {
        attempts.validInput();
        caller.onVerdict?.(verdict);
        if (verdict.kind !== 'refused') return;
        const denial = this.ledger.refused({ call, tool, agent }, verdict);
        const { message } = verdict;
        const by = isMain ? undefined : agent;
        this.#config.emit({ type: 'denied', denial, message, agent: by });
      },
      async onInvalidInput(invalid, signal) {
        const kept = attempts.invalidInput(invalid);
        const tool = pool.resolve(invalid.tool);
        const scene = { agent, cwd: workspace.cwd, mode: permissions.mode(agent), signal };
        const { malformed, problems } = invalid;
        const { id: toolUseId, input } = invalid.call;
        const error = malformed?.cause ?? 'the input does not fit the schema';
        const asked = { ...scene, toolUseId, input, malformed, problems, error };
        const said = tool === undefined ? [] : await hooks.post.invalid({ ...asked, tool });
        const notes = [kept, ...said].filter((note) => note !== undefined);
        const stuck = isMain ? undefined : attempts.stuck();
        if (stuck !== undefined) hooks.tell(`${agent.path}: ${stuck}`);
        return notes.length === 0 ? undefined : notes.join('\n');
      },
      onRan: (call, tool, output) => {
        const shell = builtins.startedShell(output);
        if (shell !== undefined) {
          const description = shell.description ?? shell.command;
          this.#config.emit({
            type: 'task_started',
            taskId: shell.id,
            toolUseId: call.id,
            description,
          });
        }
        if (isMain && output.isError !== true) this.ledger.ran(tool);
      },
    });
  }

  /** Creates the function that sends calls through the gate, each with its receipt. */
  of(
    { agent, pool, workspace, readState, unattended }: Caller,
    more: Partial<
      Pick<InvokeDeps, 'typed' | 'elsewhere' | 'onVerdict' | 'onInvalidInput' | 'onRan'>
    > = {},
  ): Invoke {
    const { permissions, events, hooks, watch, decided } = this.#parts;
    const { fs, clock } = this.#environment;
    return createInvoke({
      gate: permissions.gate,
      review: events.review,
      onRefused: async (checked, verdict, signal) =>
        (await hooks.denied(gateCall({ agent, workspace }, checked, signal), verdict)).hint,
      beforeRun: this.#beforeRun(agent),
      watch,
      bound: (output, context) => boundOutput(output, { fs, context }),
      monotonic: clock.monotonic,
      uuid: clock.uuid,
      pool,
      agent,
      workspace,
      unattended,
      contextFor: this.#contextOf(agent, workspace, readState),
      onInvalidInput: async () => undefined,
      onRan: () => undefined,
      ...more,
      onVerdict: (call, tool, verdict) => {
        decided(verdict.receipt);
        more.onVerdict?.(call, tool, verdict);
      },
    });
  }

  /** Commands and files in skill texts, which run without asking a person. */
  readonly forSkill: CallForSkill = async ({ agent, id, tool: wanted, input }, signal) => {
    const { agents, builtins } = this.#parts;
    // fail-closed: a skill text cannot use a tool that its agent was not given.
    const { tools } = agents.poolOf(agent) ?? builtins.pool;
    const tool = tools.find(({ name }) => name === wanted);
    if (tool === undefined) return err(`there is no ${wanted} tool here`);
    let refused: string | undefined;
    // A file attached to a skill may be truncated, so it does not count as read.
    const isKnown = wanted !== 'Read' && agent.id === MAIN_AGENT.id;
    const readState = isKnown ? this.readState : createReadState();
    const workspace = agents.placeOf(agent) ?? this.#environment.workspace;
    const caller = { agent, workspace, pool: createPool([tool]), readState, unattended: true };
    const invoke = this.of(caller, {
      onVerdict(_call, _tool, verdict) {
        if (verdict.kind === 'refused') refused = whySkillRefused(verdict);
      },
    });
    const call: ToolUseBlock = { type: 'tool_use', id, name: tool.name, input };
    const result = await invoke(call, undefined, signal);
    return refused === undefined ? ok(result) : err(refused);
  };

  #contextOf(agent: AgentRef, place: Workspace, readState: ReadState) {
    const { permissions, instructions, log } = this.#parts;
    const { sessionId } = log.history;
    const setMode = agent.depth === 0 ? permissions.setMode : refuseMode;
    const hiding = () => instructions.hidingNear(permissions.hidden(agent, place), place);
    return (call: ToolUseBlock, signal: AbortSignal, judged?: JudgedCall): ToolContext => ({
      agent,
      sessionId,
      toolUseId: call.id,
      signal,
      workspace: place,
      readState,
      mode: permissions.mode(agent),
      setMode,
      touched: judged?.pathsFound(),
      hiding,
      spillDirectory: () => log.store.spillDirectory(sessionId),
      progress: (text) =>
        this.#config.emit({ type: 'progress', toolUseId: call.id, toolName: call.name, text }),
    });
  }

  /** Notifies the worker that drives the session before a call runs. */
  #beforeRun(agent: AgentRef): InvokeDeps['beforeRun'] {
    const { drive } = this.#config;
    const { hooks, permissions } = this.#parts;
    if (drive === undefined) return undefined;
    return async ({ call, tool, input, verdict }) => {
      const judged = { ...verdict.judged.call, input };
      const readsOnly =
        tool.kind === 'read' || (await hooks.runsBeside(judged, permissions.mode(agent)));
      return await drive.beforeCall({ call, tool, input, agent, readsOnly });
    };
  }

  /** Whether the gate judges a call to change nothing. */
  readsOnly(agent: AgentRef, place: Workspace, pool: ToolPool) {
    const { hooks, permissions } = this.#parts;
    return async (block: ToolUseBlock): Promise<boolean> => {
      const checked = await checkedCall(pool, block);
      if (checked === undefined) return false;
      const call = gateCall({ agent, workspace: place }, checked, new AbortController().signal);
      return await hooks.runsBeside(call, permissions.mode(agent));
    };
  }

  /**
   * Starts the hooks of consecutive read-only calls at once; each call still waits for its own.
   * fail-closed: after a call that may change something, hooks wait for its end.
   */
  async prepare(blocks: readonly ToolUseBlock[], signal: AbortSignal): Promise<() => void> {
    const { hooks, permissions, builtins } = this.#parts;
    const { workspace } = this.#environment;
    const guards = hooks.snapshot().hooks.PreToolUse ?? [];
    // fail-closed: a `once` hook must not be used up by a call that never runs.
    const once = guards.some(({ hook }) => hook.handler.once === true);
    if (blocks.length < 2 || guards.length === 0 || once) return () => undefined;
    const ends: (() => void)[] = [];
    const mode = permissions.mode();
    for (const block of blocks) {
      const checked = await checkedCall(builtins.pool, block);
      if (checked === undefined) continue;
      const call = gateCall({ agent: MAIN_AGENT, workspace }, checked, signal);
      ends.push(hooks.askAhead(call, mode));
      if (!(await hooks.isHarmless(call, mode))) break;
    }
    return () => {
      for (const end of ends) end();
    };
  }
}

function gateCall(
  { agent, workspace }: Pick<Caller, 'agent' | 'workspace'>,
  { call, tool, input }: CheckedCall,
  signal: AbortSignal,
): GateCall {
  const subject = tool.subject(input, workspace);
  return { toolUseId: call.id, tool, input, subject, agent, workspace, signal };
}

/** Undefined: the call will be refused as invalid, so no hook is asked. */
async function checkedCall(pool: ToolPool, call: ToolUseBlock): Promise<CheckedCall | undefined> {
  const tool = pool.resolve(call.name);
  if (tool === undefined) return undefined;
  try {
    const input = tool.fromModel?.(call.input) ?? call.input;
    if ((await tool.validate(input)).length > 0) return undefined;
    const whole = completedCall(pool, tool, { call, input });
    if (whole === undefined) return { call, tool, input };
    return whole.tool && { call: whole.call, tool: whole.tool, input: whole.call.input };
  } catch {
    // The problem is reported when the call itself is judged.
    return undefined;
  }
}

/** fail-closed: only the session may change the mode, not an agent working in it. */
function refuseMode(): never {
  throw new PortcullisError('usage', 'an agent cannot change the mode of the session');
}

/** The reason shown to the skill's caller, whose own call was not refused. */
function whySkillRefused({
  receipt,
  suggestion,
  unanswered,
}: Extract<GateVerdict, { kind: 'refused' }>): string {
  if (unanswered !== true) return receipt.reason;
  return suggestion === undefined
    ? `no person is asked about the commands and files of skills (${receipt.reason})`
    : `nothing allows it beforehand; the rule ${suggestion} would`;
}
