import { createGate } from '../../src/permissions/gate/gate.js';
import type { Guard } from '../../src/permissions/gate/guard.js';
import type { Precheck } from '../../src/permissions/gate/precheck.js';
import type { Asker, GateCall, GateVerdict } from '../../src/permissions/gate/types.js';
import type { GateFacts } from '../../src/permissions/gate/view.js';
import { type Answering, openAnswering } from '../../src/permissions/grants/answering.js';
import type { AnswerTargets } from '../../src/permissions/grants/updates.js';
import { createAgentRules } from '../../src/permissions/rules/agent-rules.js';
import { joinRules, NO_RULES } from '../../src/permissions/rules/rule.js';
import { parseRules, type RuleKind } from '../../src/permissions/rules/rules.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { resolve } from '../../src/platform/fs/paths.js';
import { type AgentRef, MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { PermissionMode } from '../../src/protocol/permissions.js';
import type { SessionNews } from '../../src/protocol/session-events.js';
import type { SourcedRule } from '../../src/settings/types.js';
import type { AnyTool, ToolKind, ToolSubject, Workspace } from '../../src/tools/tool.js';

export interface RigOptions {
  readonly cwd: string;
  readonly home: string;
  readonly roots?: readonly string[];
  readonly mode?: PermissionMode;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly asker?: Asker;
  readonly guards?: readonly Guard[];
  readonly precheck?: Precheck;
  /** Puts questions to others than the asker as well. */
  readonly around?: (call: GateCall, asker: Asker | undefined) => Asker | undefined;
  readonly signal?: AbortSignal;
  /** Keeps answers: where, and by which clock. */
  readonly answers?: RigAnswers;
  readonly agent?: AgentRef;
  readonly facts?: GateFacts;
  /** What the gate looks at files with. */
  readonly fs?: typeof nodeFileSystem;
  /** Rules for some agents, by pattern. */
  readonly agents?: Readonly<Record<string, Partial<Record<RuleKind, readonly string[]>>>>;
}

export interface RigAnswers {
  readonly configDir: string;
  now?(): number;
  readonly news?: SessionNews[];
  readonly rebind?: AnswerTargets['rebind'];
  readonly setMode?: (mode: PermissionMode) => void;
  readonly managedOnly?: string;
}

type Input = Readonly<Record<string, unknown>>;

export interface Rig {
  call(tool: string, input: Input): Promise<GateVerdict>;
  /** `runs`, `asks` (nobody to answer) or `denied` (a rule). */
  outcome(tool: string, input: Input): Promise<'runs' | 'asks' | 'denied'>;
  bash(command: string): Promise<'runs' | 'asks' | 'denied'>;
  beginTurn(): void;
}

/** A gate over real files with stand-ins for the tools: what they are judged by, and nothing that runs. */
export function gateRig(options: RigOptions): Rig {
  const { cwd, home } = options;
  const sourced = (texts: readonly string[] = []): SourcedRule[] =>
    texts.map((text, index) => ({
      value: { text, root: cwd },
      source: 'project',
      file: resolve(cwd, '.claude/settings.json'),
      line: index + 1,
      trusted: true,
    }));
  const texts: Record<RuleKind, SourcedRule[]> = {
    allow: sourced(options.allow),
    ask: sourced(options.ask),
    deny: sourced(options.deny),
  };
  const { rules, problems } = parseRules(texts, { cwd, home });
  const scoped = Object.entries(options.agents ?? {}).map(([pattern, lists]) => ({
    pattern,
    allow: sourced(lists.allow),
    ask: sourced(lists.ask),
    deny: sourced(lists.deny),
  }));
  const agentRules = createAgentRules(rules, scoped, { cwd, home });
  const all = [...problems, ...agentRules.problems].filter(({ severity }) => severity !== 'note');
  if (all.length > 0) throw new Error(JSON.stringify(all));
  let at = cwd;
  let roots = options.roots ?? [cwd];
  const workspace: Workspace = {
    get cwd() {
      return at;
    },
    get roots() {
      return roots;
    },
    setCwd: (directory) => {
      at = directory;
    },
  };
  const open = (answers: RigAnswers): Answering =>
    openAnswering({
      fs: nodeFileSystem,
      clock,
      cwd,
      home,
      targets: {
        fs: nodeFileSystem,
        configDir: answers.configDir,
        ...(answers.rebind === undefined ? {} : { rebind: answers.rebind }),
        addDirectory: (directory) => {
          roots = [...roots, directory];
        },
        removeDirectory: (directory) => {
          roots = roots.filter((root) => root !== directory);
        },
      },
      mode: () => options.mode ?? 'default',
      setMode: (mode) => answers.setMode?.(mode),
      managedOnly: () => answers.managedOnly,
      emit: (event) => void answers.news?.push(event),
    });
  const clock = { monotonic: () => 0, now: () => options.answers?.now?.() ?? 0, uuid: () => '' };
  const answering = options.answers === undefined ? undefined : open(options.answers);
  const gate = createGate({
    fs: options.fs ?? nodeFileSystem,
    home,
    clock,
    mode: () => options.mode ?? 'default',
    rules: (agent) => joinRules([answering?.rules(agent) ?? NO_RULES, agentRules.rulesOf(agent)]),
    ...(options.facts === undefined ? {} : { facts: options.facts }),
    ...(answering === undefined ? {} : { keep: answering.keep, resolvers: [answering.resolver] }),
    asker: (call) =>
      options.around === undefined ? options.asker : options.around(call, options.asker),
    ...(options.guards === undefined ? {} : { guards: options.guards }),
    ...(options.precheck === undefined ? {} : { precheck: options.precheck }),
  });
  const call: Rig['call'] = async (name, input) => {
    const tool = standIn(name);
    return gate({
      toolUseId: 'toolu_1',
      tool,
      input,
      subject: tool.subject(input, workspace),
      agent: options.agent ?? MAIN_AGENT,
      workspace,
      signal: options.signal ?? new AbortController().signal,
    });
  };
  const outcome: Rig['outcome'] = async (name, input) => {
    const verdict = await call(name, input);
    if (verdict.kind === 'allowed') return 'runs';
    return verdict.message.includes('denied by permission rule') ? 'denied' : 'asks';
  };
  return {
    call,
    outcome,
    bash: (command) => outcome('Bash', { command }),
    beginTurn: () => answering?.beginTurn(),
  };
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  Bash: 'execute',
  Read: 'read',
  Grep: 'read',
  Write: 'edit',
  Edit: 'edit',
  NotebookEdit: 'edit',
  WebFetch: 'network',
  TodoWrite: 'control',
  AskUserQuestion: 'control',
  ExitPlanMode: 'control',
};

export function standIn(name: string): AnyTool {
  const kind = KINDS[name] ?? 'network';
  return {
    name,
    kind,
    needsPerson: name === 'AskUserQuestion' || name === 'ExitPlanMode',
    definition: { name, description: '', input_schema: { type: 'object' } },
    validate: async (input) =>
      Object.hasOwn(input as object, 'invalid')
        ? [{ path: '/invalid', message: 'is not known' }]
        : [],
    subject: (input: Input, workspace: Workspace): ToolSubject => {
      const file = input.file_path ?? input.path;
      return {
        paths:
          typeof file === 'string'
            ? [{ path: resolve(workspace.cwd, file), access: kind === 'edit' ? 'write' : 'read' }]
            : [],
        summary: name,
        ...(typeof input.command === 'string' ? { command: input.command } : {}),
        ...(typeof input.url === 'string' ? { url: input.url } : {}),
      };
    },
    concurrencySafe: () => false,
    run: () => Promise.reject(new Error('stand-ins do not run')),
  };
}
