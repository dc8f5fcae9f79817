import { PortcullisError } from '../../errors.js';
import { originOf } from '../../lib/sourced.js';
import { TOOL_ALIASES } from '../../lib/tool-names.js';
import type { Clock } from '../../platform/clock.js';
import { shellEnvironment } from '../../platform/environment.js';
import { configDirectory, homeDirectory, stateDirectory } from '../../platform/fs/paths.js';
import { type AgentRef, ANY_AGENT, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode, PermissionUpdate } from '../../protocol/permissions.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { refuseBroken } from '../../settings/files/load.js';
import type {
  ConfigProblem,
  PermissionSettings,
  SourcedRule,
  Strictness,
} from '../../settings/types.js';
import type { Workspace } from '../../tools/tool.js';
import { openAnswering } from '../grants/answering.js';
import type { AnswerTargets, AppliedUpdates } from '../grants/updates.js';
import { hiddenBy, type IsHidden } from '../paths/hidden-files.js';
import type { PathFileSystem } from '../paths/paths.js';
import { createWorkingTrees } from '../paths/working-trees.js';
import { createLiveRules, type LiveRules } from '../rules/agent-rules.js';
import { rulesForTool } from '../rules/list.js';
import { joinRules, NO_RULES, type Rule, type RuleSet } from '../rules/rule.js';
import { RULE_TOOLS } from '../rules/tools.js';
import type { GateDeps } from './evaluate.js';
import { createGate } from './gate.js';
import type { Guard, Resolver } from './guard.js';
import { createAgentModes, type OwnMode } from './modes.js';
import type { Precheck } from './precheck.js';
import { createSteadying } from './questions.js';
import { createRefusals } from './refusals.js';
import type { Asker, Gate, GateCall } from './types.js';

export interface PermissionParts {
  readonly fs: PathFileSystem;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  readonly cwd: string;
  /** Directories of plugins: changing them changes guards. */
  readonly plugins?: readonly string[];
  readonly settings: PermissionSettings;
  /** Whether a rule that cannot be honoured stops the start; it does unless said otherwise. */
  readonly strictness?: Strictness;
  /** Values of `--allowedTools`: allow rules. */
  readonly allowedTools: readonly string[];
  /** Values of `--disallowedTools`: bare names are bans, scoped ones deny rules. */
  readonly disallowedTools: readonly string[];
  readonly mode: PermissionMode | undefined;
  /** Whether bypassPermissions may be chosen later. */
  readonly bypassArmed: boolean;
  readonly asker: Asker | undefined;
  /** Where answers may be kept. Absent: an answer holds for its call. */
  readonly answers?: AnswerTargets;
  /** Looks at every call first: hooks. */
  readonly precheck?: Precheck;
  /** Also asks hooks. Undefined: there is no asker. */
  readonly around?: (call: GateCall, asker: Asker | undefined) => Asker | undefined;
  /** What other parts of the session hold back or open: skills, instruction files. */
  readonly extension?: GateExtension;
  emit(news: SessionNews): void;
}

/** Guards, resolvers and rules that come and go during a session. */
export interface GateExtension {
  readonly guards: readonly Guard[];
  readonly resolvers: readonly Resolver[];
  rules(agent: AgentRef): RuleSet;
  /** What a call was judged with besides its input: an answer for this very call is for it alone. */
  contentOf?(toolUseId: string): string | undefined;
  /** Directories in which this agent keeps notes. */
  notes?(agent: AgentRef): readonly string[];
}

/** The gate of a session and the mode it goes by. */
export interface Permissions {
  readonly gate: Gate;
  /** Of this agent; absent: of the session. */
  mode(agent?: AgentRef): PermissionMode;
  /** Throws when the mode may not be chosen now. */
  setMode(mode: PermissionMode): void;
  /** Tool names that allow rules mention. */
  readonly allowedNames: readonly string[];
  /** Tools that are taken out of the pool of every agent. */
  readonly bannedNames: readonly string[];
  /** Whether a rule denies every call of a tool of these names, so that it is not offered; without an agent: to any agent. */
  isBanned(names: readonly string[], agent?: AgentRef): boolean;
  /** Whether a file that a search of this agent has found may not be shown; undefined: every one may. */
  hidden(agent: AgentRef, workspace: Pick<Workspace, 'roots'>): IsHidden | undefined;
  /** Set once an agent keeps asking for what it cannot have. */
  stuck(agentPath: string): string | undefined;
  /** The model has answered, having seen what became of its calls. */
  nextAnswer(agentPath?: string): void;
  /**
   * An agent begins. `modes`: what definitions say on the way down, its own last. `own`: a mode that
   * it has in place of the session's. Returns what ends it.
   */
  admit(agent: AgentRef, modes: readonly PermissionMode[], own?: OwnMode): () => void;
  /** All rules that hold for an agent now. */
  rules(agent: AgentRef): RuleSet;
  /** Changes rules, mode or directories on behalf of a person, as an answer would. */
  applyUpdates(updates: readonly PermissionUpdate[]): Promise<AppliedUpdates>;
  /** A new prompt: what held or was counted for one turn is over. */
  beginTurn(): void;
  /** Other settings for the calls to come. A fatal problem among those returned: nothing changed. */
  replaceSettings(settings: PermissionSettings, strictness: Strictness): readonly ConfigProblem[];
}

export function openPermissions(parts: PermissionParts): Permissions {
  const home = homeDirectory(parts.env);
  const live = createLiveRules({ home, ...parts });
  refuseBroken(live.replace(parts.settings, parts.strictness), parts.emit);
  const { allow, deny } = live.texts();
  let mode = startMode(parts);
  const setMode = (next: PermissionMode): void => {
    if (next === 'bypassPermissions')
      refuseBypass(parts, { armed: parts.bypassArmed, settings: live.settings() });
    mode = next;
    parts.emit({ type: 'mode', mode });
  };
  const trees = createWorkingTrees(parts.cwd);
  const modes = createAgentModes(() => mode);
  const { extension, answers: targets } = parts;
  const managedOnly = (): string | undefined =>
    live.settings().managedRulesOnly === undefined
      ? undefined
      : 'only managed rules may allow anything here';
  const contentOf = extension?.contentOf;
  const own = { home, mode: () => mode, setMode, managedOnly, contentOf };
  const answering = targets && openAnswering({ ...parts, targets, ...own });
  const refusals = createRefusals(parts.clock);
  const exported = new Set(Object.keys(shellEnvironment(parts.env)));
  const rulesOf = (agent: AgentRef): RuleSet => {
    const answered = answering?.rules(agent) ?? NO_RULES;
    return joinRules([extension?.rules(agent) ?? NO_RULES, answered, live.rules(agent)]);
  };
  const gate = createGate({
    fs: parts.fs,
    home,
    clock: parts.clock,
    mode: modes.of,
    rules: rulesOf,
    facts: {
      exported: () => exported,
      askReadOnly: () => live.settings().askReadOnly !== undefined,
      trees,
      own: [configDirectory(parts.env), stateDirectory(parts.env), ...(parts.plugins ?? [])],
      notes: extension?.notes,
    },
    guards: extension?.guards ?? [],
    resolvers: [
      ...(answering === undefined ? [] : [answering.resolver]),
      ...(extension?.resolvers ?? []),
    ],
    keep: answering?.keep,
    ...askedBy(parts, live),
  });
  return {
    gate: refusals.watch(gate),
    mode: modes.of,
    setMode,
    rules: rulesOf,
    admit(agent, said, own) {
      trees.admit(agent);
      const leave = modes.admit(agent, said, own);
      return () => {
        leave();
        refusals.beginTurn(agent.path);
        answering?.forget(agent.path);
      };
    },
    hidden(agent, { roots }) {
      const rules = joinRules([extension?.rules(agent) ?? NO_RULES, live.rules(agent)]);
      return hiddenBy(rules, { fs: parts.fs, roots, home, trees });
    },
    stuck: refusals.stuck,
    async applyUpdates(updates) {
      // fail-closed: where answers are not kept, nothing else changes rules either.
      if (answering === undefined) return { notes: [], refused: 'Rules cannot be changed here.' };
      return await answering.applyUpdates(updates, MAIN_AGENT);
    },
    nextAnswer: (agentPath = MAIN_AGENT.path) => refusals.nextAnswer(agentPath),
    beginTurn() {
      refusals.beginTurn(MAIN_AGENT.path);
      answering?.beginTurn();
    },
    replaceSettings(settings, strictness) {
      const problems = live.replace(settings, strictness);
      const bypassEnds = live.settings().bypassDisabled !== undefined;
      if (bypassEnds && mode === 'bypassPermissions') setMode('default');
      return problems;
    },
    // Hundreds of rules name the same few tools.
    allowedNames: [...new Set(allow.map(nameOf))],
    bannedNames: bannedAmong(live.rules(ANY_AGENT).deny, deny),
    isBanned: (names, agent = ANY_AGENT) =>
      rulesForTool(live.rules(agent).deny, names).any !== undefined,
  };
}

/** Who is asked: hooks and the person. A yes covers what the question showed. */
function askedBy(parts: PermissionParts, live: LiveRules): Pick<GateDeps, 'asker' | 'precheck'> {
  const { precheck, around = (_call, asker) => asker } = parts;
  const steady = createSteadying(parts.fs);
  const asks = (): boolean => live.settings().denyInsteadOfPrompting === undefined;
  return {
    asker(call) {
      if (call.unattended === true) return undefined;
      const asked = around(call, asks() ? parts.asker : undefined);
      return asked === undefined ? undefined : steady(asked);
    },
    precheck,
  };
}

/** Every known name, and every written one, whose tool a rule denies altogether. */
function bannedAmong(deny: readonly Rule[], written: readonly SourcedRule[]): readonly string[] {
  // Rules about parts of tools deny none altogether, and mostly there are no others.
  if (!deny.some((rule) => rule.spec.kind === 'any')) return [];
  const named = [...Object.keys(RULE_TOOLS), ...Object.keys(TOOL_ALIASES)];
  const known = new Set([...named, ...written.map(nameOf)]);
  return [...known].filter((name) => rulesForTool(deny, [name]).any !== undefined);
}

function nameOf({ value: { text } }: SourcedRule): string {
  const open = text.indexOf('(');
  return (open === -1 ? text : text.slice(0, open)).trim();
}

function startMode(parts: PermissionParts): PermissionMode {
  const mode = parts.mode ?? parts.settings.defaultMode?.value ?? 'default';
  const { bypassDisabled } = parts.settings;
  if (mode === 'bypassPermissions' && bypassDisabled !== undefined) {
    const text = `bypassPermissions is disabled by ${originOf(bypassDisabled)}; starting in mode default`;
    parts.emit({ type: 'notice', level: 'warning', text });
    return 'default';
  }
  if (mode === 'bypassPermissions') refuseBypass(parts, { armed: true, settings: parts.settings });
  return mode;
}

/** fail-closed: with all checks off, root could do anything at all. */
function refuseBypass(
  parts: PermissionParts,
  { armed, settings }: { armed: boolean; settings: PermissionSettings },
): void {
  const { bypassDisabled } = settings;
  if (bypassDisabled !== undefined) {
    throw new PortcullisError('config', 'bypassPermissions is disabled by settings', {
      remedy: `see disableBypassPermissionsMode in ${bypassDisabled.file ?? bypassDisabled.source}`,
    });
  }
  if (!armed) {
    throw new PortcullisError(
      'config',
      'bypassPermissions was not enabled when the session was started',
      {
        remedy: 'start with --allow-dangerously-skip-permissions',
      },
    );
  }
  if (parts.isRoot && parts.env.IS_SANDBOX !== '1') {
    throw new PortcullisError('config', 'bypassPermissions is refused for root outside a sandbox', {
      remedy: 'run as another user, or set IS_SANDBOX=1 inside a container that may be lost',
    });
  }
}
