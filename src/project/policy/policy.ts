import { hookChecks } from '../../config/plugins.js';
import { PortcullisError } from '../../errors.js';
import { namesOf } from '../../hooks/dispatch/input.js';
import { captureHooks } from '../../hooks/registry/capture.js';
import { openPermissions } from '../../permissions/gate/open.js';
import type { Precheck } from '../../permissions/gate/precheck.js';
import type { GateVerdict } from '../../permissions/gate/types.js';
import { describeEffects } from '../../permissions/shell/effects/describe.js';
import { systemClock } from '../../platform/clock.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { configDirectory, homeDirectory, stateDirectory } from '../../platform/fs/paths.js';
import { createProcessSupervisor } from '../../platform/process/node-process.js';
import type { PermissionMode, Receipt } from '../../protocol/permissions.js';
import { type LoadedSettings, loadSettings, withStrictness } from '../../settings/files/load.js';
import { openBuiltins } from '../../tools/builtin/builtin-tools.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';
import { openHookTestHost } from '../hooks/hook-test.js';
import type { Project } from '../project.js';
import { refuseFatal } from '../settings.js';
import { findTool, parseAgent, type ToolCall } from './policy-call.js';

type Environment = Readonly<Record<string, string | undefined>>;

export type PolicySettings = Pick<LoadedSettings, 'settings' | 'problems'>;

/** A tool call to decide about. It is never run. */
export interface PolicyCall extends ToolCall {
  /** Absolute. */
  readonly cwd: string;
  readonly mode?: PermissionMode | undefined;
  /** A path (`main/reviewer#1`) or a type. Absent: the main agent. */
  readonly agent?: string | undefined;
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly decidedBy: string;
  readonly rule?: string | undefined;
  readonly reason: string;
  readonly receipt: Receipt;
  /** What a command was seen to do, one line an effect. */
  readonly effects?: readonly string[] | undefined;
  /** How many hooks match the call and were not asked. Absent: none. */
  readonly unaskedHooks?: number | undefined;
}

export interface PolicyEvaluator {
  /**
   * Throws a `config` error for settings with which no session would start, and a `usage` error for what
   * cannot be a call: an unknown tool, or input that the tool cannot read.
   */
  evaluate(call: PolicyCall, settings: PolicySettings): Promise<PolicyDecision>;
}

/** Decides calls with the gate and the tools of real sessions. With `precheck` PreToolUse hooks are asked too. */
export async function createPolicyEvaluator(
  env: Environment,
  hooks?: { readonly precheck: Precheck },
): Promise<PolicyEvaluator> {
  const pool = await allTools(env);
  return {
    async evaluate({ cwd, mode, ...call }, { settings, problems }) {
      refuseFatal(problems);
      const { gate } = openPermissions({
        fs: nodeFileSystem,
        clock: systemClock,
        env,
        // Nothing runs, so a mode that root may not use can be asked about.
        isRoot: false,
        cwd,
        settings: settings.permissions,
        strictness: settings.strictness,
        allowedTools: [],
        disallowedTools: [],
        mode,
        bypassArmed: true,
        // The trace shows that the user would be asked.
        asker: async () => ({ behavior: 'deny', message: 'a check asks no one' }),
        emit: () => undefined,
        ...(hooks && { precheck: hooks.precheck }),
      });
      const tool = findTool(pool, call.tool);
      const agent = parseAgent(call.agent);
      const added = settings.permissions.additionalDirectories.map(({ value }) => value);
      const workspace = createWorkspace([cwd, ...added]);
      const { input } = call;
      const subject = subjectOf(tool, input, workspace);
      const signal = new AbortController().signal;
      const toolUseId = 'toolu_check';
      const verdict = await gate({ toolUseId, tool, input, subject, agent, workspace, signal });
      const captured = captureHooks({ values: settings.values, env, cwd }).hooks.PreToolUse ?? [];
      const matching = captured.filter((hook) =>
        hook.matches({ agent, matched: namesOf({ tool }) }),
      );
      const unaskedHooks = hooks === undefined ? matching.length || undefined : undefined;
      const place = { cwd, home: homeDirectory(env) };
      const effects =
        subject.command === undefined ? undefined : await describeEffects(subject.command, place);
      return { ...decisionOf(verdict), effects, unaskedHooks };
    },
  };
}

/** Decides calls by the settings that are in force in a project; with `hooks` its hooks are run as well. */
export async function openProjectPolicy(
  project: Project,
  { hooks, warn }: { readonly hooks: boolean; warn(text: string): void },
): Promise<(call: PolicyCall) => Promise<PolicyDecision>> {
  const host = hooks ? await openHookTestHost(project, warn) : undefined;
  const evaluator = await createPolicyEvaluator(project.places.env, host);
  const settings = await project.settings();
  return (call) => evaluator.evaluate(call, settings);
}

/** The settings of a text alone, as if the user's own file held it. */
export async function settingsFromText(
  text: string,
  { file, cwd, env }: { readonly file: string; readonly cwd: string; readonly env: Environment },
): Promise<PolicySettings> {
  const configDir = configDirectory(env);
  const { settings, problems } = await loadSettings({
    fs: nodeFileSystem,
    cwd,
    env,
    configDir,
    managedDir: configDir,
    sources: ['user'],
    trustProject: false,
    only: { file, text },
    ...hookChecks(cwd, env),
  });
  return { settings, problems: withStrictness(problems, settings.strictness) };
}

function subjectOf(...[tool, input, workspace]: [AnyTool, ...Parameters<AnyTool['subject']>]) {
  try {
    return tool.subject(input, workspace);
  } catch (thrown) {
    throw new PortcullisError('usage', `${tool.name} cannot read this input`, { cause: thrown });
  }
}

function decisionOf({ kind, receipt }: GateVerdict): PolicyDecision {
  const { decidedBy, reason } = receipt;
  const trace = receipt.trace.filter(({ guard }) => guard !== 'asker');
  if (kind === 'allowed' || trace.length === receipt.trace.length) {
    const decision = kind === 'allowed' ? 'allow' : 'deny';
    const step = trace.find((one) => one.guard === decidedBy && one.decision === decision);
    return { decision, decidedBy, rule: step?.source, reason, receipt };
  }
  const step = trace.find((one) => one.decision === 'ask');
  const open = trace.findLast((one) => one.decision === 'pass' && one.reason);
  return {
    decision: 'ask',
    decidedBy: step?.guard ?? 'no rule',
    rule: step?.source,
    reason: step?.reason ?? open?.reason ?? 'no rule allows it',
    receipt,
  };
}

/** Every built-in tool, including those that are offered only on request. */
async function allTools(env: Environment): Promise<ToolPool> {
  const builtins = await openBuiltins({
    fs: nodeFileSystem,
    clock: systemClock,
    processes: createProcessSupervisor({ stateDirectory: stateDirectory(env) }),
    env: { ...env, CLAUDE_CODE_ENABLE_TASKS: '1' },
    workspace: createWorkspace(['/']),
    configDir: configDirectory(env),
    sessionId: 'policy',
    hasPerson: true,
    offered: undefined,
    allowed: [],
    banned: [],
    jsonSchema: undefined,
    summarise: () => Promise.reject(new Error('a check runs no tool')),
  });
  return builtins.pool;
}
