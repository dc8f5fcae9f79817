import { systemClock } from '../../env/clock.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { createProcessSupervisor } from '../../env/node-process.js';
import { configDirectory, join, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { captureHooks, type HookSet } from '../../hooks/capture.js';
import { openPermissions } from '../../permissions/open.js';
import type { Precheck } from '../../permissions/precheck.js';
import type { AskAnswer, Gate, GateVerdict } from '../../permissions/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode, Receipt, TraceStep } from '../../protocol/permissions.js';
import { type LoadedSettings, loadSettings } from '../../settings/load.js';
import { fatalOf, withStrictness } from '../../settings/refuse.js';
import { describeProblem } from '../../settings/types.js';
import { openBuiltins } from '../../tools/builtin/set.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A call that nobody makes, to learn what would become of it. */
export interface PolicyCase {
  /** As in a user's own settings file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Takes their place: settings as they are in force somewhere. */
  readonly inForce?: SettingsInForce;
  readonly mode?: PermissionMode;
  /** Absolute. */
  readonly cwd: string;
  /** A path (`main/reviewer#1`) or a type. Absent: the main agent. */
  readonly agent?: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Settings under a name that tells them from others. */
export interface SettingsInForce {
  readonly name: string;
  load(): Promise<Pick<LoadedSettings, 'settings' | 'problems'>>;
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly decidedBy: string;
  readonly rule?: string;
  readonly reason: string;
  /** Absent when the settings themselves are refused, so that nothing would start. */
  readonly receipt?: Receipt;
  /** Hooks whose matcher fits the call and that were not asked. Absent: there is none. */
  readonly unaskedHooks?: number;
}

export interface PolicyJudge {
  /** Throws for a case that cannot be a call at all: an unknown tool, input it cannot read. */
  decide(question: PolicyCase): Promise<PolicyDecision>;
}

/** How PreToolUse hooks are asked, where they are. */
export interface AskHooks {
  readonly precheck: Precheck;
}

/** The gate of real runs with the tools of real runs, of which none is ever run. */
export async function openPolicyJudge(env: Environment, hooks?: AskHooks): Promise<PolicyJudge> {
  const pool = await wholePool(env);
  const gates = new Map<string, Promise<OpenedGate>>();
  return {
    async decide(question) {
      const { settings, cwd, mode, inForce } = question;
      const key = JSON.stringify([settings, cwd, mode, inForce?.name]);
      const opening = gates.get(key) ?? openGate(env, question, hooks);
      if (gates.size >= MOST_GATES) gates.clear();
      gates.set(key, opening);
      const opened = await opening;
      if ('refused' in opened) {
        return { decision: 'deny', decidedBy: 'settings', reason: opened.refused };
      }
      const found = toolNamed(pool, question.tool);
      const decision = await judge(opened, { ...question, found });
      const unaskedHooks = hooks === undefined ? hooksFor(opened, question, found) : 0;
      return unaskedHooks === 0 ? decision : { ...decision, unaskedHooks };
    },
  };
}

const MOST_GATES = 500;

interface Questioned {
  readonly gate: Gate;
  readonly roots: readonly string[];
  readonly hooks: HookSet['hooks'];
}

/** Hooks that a session would ask about a call, for all that their matchers say. */
function hooksFor({ hooks }: Questioned, { agent }: PolicyCase, tool: AnyTool): number {
  const occasion = { agent: agentNamed(agent), matched: [tool.name, ...(tool.aliases ?? [])] };
  return (hooks.PreToolUse ?? []).filter((one) => one.matches(occasion)).length;
}

/** One line on hooks that were not asked; empty when there are none. */
export function unaskedText(count: number, flag = '--hooks runs and asks them'): string {
  if (count === 0) return '';
  const which = count === 1 ? '1 PreToolUse hook was' : `${count} PreToolUse hooks were`;
  return `${which} not asked and may still refuse${flag === '' ? '' : `; ${flag}`}\n`;
}

type OpenedGate = Questioned | { readonly refused: string };

/** Questions end here: who is asked says no, and that somebody was asked shows in the trace. */
const REFUSE: AskAnswer = { behavior: 'deny', message: 'this is a check, nobody is asked' };

async function openGate(
  env: Environment,
  question: PolicyCase,
  asked: AskHooks | undefined,
): Promise<OpenedGate> {
  const { cwd, mode } = question;
  try {
    const { settings, problems } = await settingsOf(env, question);
    const fatal = fatalOf(withStrictness(problems, settings.strictness));
    if (fatal.length > 0) return { refused: fatal.map(describeProblem).join(' · ') };
    const permissions = openPermissions({
      fs: nodeFileSystem,
      clock: systemClock,
      env,
      // Nothing runs, so the mode that root may not use can be asked about.
      isRoot: false,
      cwd,
      settings: settings.permissions,
      strictness: settings.strictness,
      allowedTools: [],
      disallowedTools: [],
      mode,
      bypassArmed: true,
      asker: async () => REFUSE,
      emit: () => undefined,
      ...asked,
    });
    const { hooks } = captureHooks({ values: settings.values, env, cwd });
    const added = settings.permissions.additionalDirectories.map(({ value }) => value);
    return { gate: permissions.gate, roots: [cwd, ...added], hooks };
  } catch (thrown) {
    if (thrown instanceof PortcullisError && thrown.code === 'config') {
      return { refused: thrown.message };
    }
    throw thrown;
  }
}

function settingsOf(env: Environment, { inForce, settings, cwd }: PolicyCase) {
  if (inForce !== undefined) return inForce.load();
  const places = userSettingsOnly(env, settings);
  return loadSettings({ ...places, cwd, env, sources: ['user'], trustProject: false });
}

/** A file system of one file. Everything else there is on disk has no say. */
function userSettingsOnly(env: Environment, settings: PolicyCase['settings']) {
  const configDir = configDirectory(env);
  const file = join(configDir, 'settings.json');
  const text = JSON.stringify(settings, null, 2);
  const absent = (path: string): Error =>
    Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
  // What looks at the disk at once would not see the one file.
  const { statNow: _statNow, lstatNow: _lstatNow, ...later } = nodeFileSystem;
  const fs = {
    ...later,
    stat: async (path: string) =>
      path === file
        ? ({ kind: 'file', size: text.length, mtimeMs: 0, mode: 0o600 } as const)
        : undefined,
    readText: async (path: string) => {
      if (path === file) return text;
      throw absent(path);
    },
    list: async (path: string): Promise<never> => {
      throw absent(path);
    },
  };
  return { fs, configDir, managedDir: join(configDir, 'no-managed-settings') };
}

async function judge(
  { gate, roots }: Questioned,
  question: PolicyCase & { readonly found: AnyTool },
): Promise<PolicyDecision> {
  const { input, found } = question;
  const workspace = createWorkspace(roots);
  let subject: ReturnType<AnyTool['subject']>;
  try {
    subject = found.subject(input, workspace);
  } catch (thrown) {
    throw new PortcullisError('usage', `${found.name} cannot read this input`, { cause: thrown });
  }
  const verdict = await gate({
    toolUseId: 'toolu_check',
    tool: found,
    input,
    subject,
    agent: agentNamed(question.agent),
    workspace,
    signal: new AbortController().signal,
  });
  return decisionOf(verdict);
}

function decisionOf(verdict: GateVerdict): PolicyDecision {
  const { receipt } = verdict;
  const { trace } = receipt;
  const asked = trace.some((step) => step.guard === 'asker');
  const decision = verdict.kind === 'allowed' ? 'allow' : asked ? 'ask' : 'deny';
  const step = decidingStep(trace, decision, receipt.decidedBy);
  const reason = decision === 'ask' ? (step?.reason ?? lastReason(trace)) : receipt.reason;
  return {
    decision,
    decidedBy: decision === 'ask' ? (step?.guard ?? 'nothing allows it') : receipt.decidedBy,
    ...(step?.source === undefined ? {} : { rule: step.source }),
    reason,
    receipt,
  };
}

function decidingStep(
  trace: readonly TraceStep[],
  decision: PolicyDecision['decision'],
  by: string,
): TraceStep | undefined {
  const before = trace.filter((step) => step.guard !== 'asker');
  if (decision === 'ask') return before.find((step) => step.decision === 'ask');
  return before.find((step) => step.guard === by && step.decision === decision);
}

function lastReason(trace: readonly TraceStep[]): string {
  return (
    trace.findLast((step) => step.decision === 'pass' && step.reason)?.reason ?? 'nothing allows it'
  );
}

/** Every built-in tool, those too that are offered only when asked for. */
async function wholePool(env: Environment): Promise<ToolPool> {
  const none = (): never => {
    throw new PortcullisError('internal', 'a check runs no tool');
  };
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
    summarise: none,
  });
  return builtins.pool;
}

function toolNamed(pool: ToolPool, name: string): AnyTool {
  const found = pool.resolve(name);
  if (found !== undefined) return found;
  if (name.startsWith('mcp__')) return serverTool(name);
  const near = pool.nearestName(name);
  throw new PortcullisError('usage', `there is no tool ${name}`, {
    ...(near === undefined ? {} : { remedy: `did you mean ${near}?` }),
  });
}

/** What a server's tool is judged by is its name, so the server need not be there. */
function serverTool(name: string): AnyTool {
  return {
    name,
    kind: 'network',
    definition: { name, description: '', input_schema: { type: 'object' } },
    validate: () => [],
    subject: () => ({ paths: [], summary: name }),
    concurrencySafe: () => false,
    run: () => Promise.reject(new Error('a check runs no tool')),
  };
}

/** `reviewer` stands for a reviewer that the main agent started. */
export function agentNamed(name: string | undefined): AgentRef {
  if (name === undefined || name === MAIN_AGENT.path) return MAIN_AGENT;
  const path = name.includes('/') ? name : `main/${name.includes('#') ? name : `${name}#1`}`;
  const last = path.split('/').at(-1) ?? path;
  return {
    // Of the form that agents have, and of none that ever lived.
    id: `a${'0'.repeat(16)}`,
    type: last.replace(/#\d+$/, ''),
    path,
    depth: path.split('/').length - 1,
    background: false,
  };
}
