import { nodeFileSystem } from '../../src/env/node-fs.js';
import { resolve } from '../../src/env/paths.js';
import { createGate } from '../../src/permissions/gate.js';
import type { Guard } from '../../src/permissions/guard.js';
import { parseRules, type RuleKind } from '../../src/permissions/rules.js';
import type { Asker, GateVerdict } from '../../src/permissions/types.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { PermissionMode } from '../../src/protocol/permissions.js';
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
  readonly signal?: AbortSignal;
}

type Input = Readonly<Record<string, unknown>>;

export interface Rig {
  call(tool: string, input: Input): Promise<GateVerdict>;
  /** `runs`, `asks` (nobody to answer) or `denied` (a rule). */
  outcome(tool: string, input: Input): Promise<'runs' | 'asks' | 'denied'>;
  bash(command: string): Promise<'runs' | 'asks' | 'denied'>;
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
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  let at = cwd;
  const workspace: Workspace = {
    get cwd() {
      return at;
    },
    roots: options.roots ?? [cwd],
    setCwd: (directory) => {
      at = directory;
    },
  };
  const gate = createGate({
    fs: nodeFileSystem,
    home,
    clock: { monotonic: () => 0 },
    mode: () => options.mode ?? 'default',
    rules: () => rules,
    asker: () => options.asker,
    ...(options.guards === undefined ? {} : { guards: options.guards }),
  });
  const call: Rig['call'] = (name, input) => {
    const tool = standIn(name);
    return gate({
      toolUseId: 'toolu_1',
      tool,
      input,
      subject: tool.subject(input, workspace),
      agent: MAIN_AGENT,
      workspace,
      signal: options.signal ?? new AbortController().signal,
    });
  };
  const outcome: Rig['outcome'] = async (name, input) => {
    const verdict = await call(name, input);
    if (verdict.kind === 'allowed') return 'runs';
    return verdict.message.includes('denied by permission rule') ? 'denied' : 'asks';
  };
  return { call, outcome, bash: (command) => outcome('Bash', { command }) };
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
    validate: (input) =>
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
