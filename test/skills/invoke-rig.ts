import { createGate } from '../../src/permissions/gate/gate.js';
import type { Asker, Gate, GateVerdict } from '../../src/permissions/gate/types.js';
import { joinRules } from '../../src/permissions/rules/rule.js';
import { parseRules } from '../../src/permissions/rules/rules.js';
import { systemClock } from '../../src/platform/clock.js';
import { shellEnvironment } from '../../src/platform/environment.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { type AgentRef, MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { PermissionMode } from '../../src/protocol/permissions.js';
import type { ToolCallResult } from '../../src/protocol/tool-call.js';
import type { SourcedRule } from '../../src/settings/types.js';
import { asName } from '../../src/skills/discovery/names.js';
import { createSkillApprovals, type SkillApprovals } from '../../src/skills/grants/approval.js';
import { createSkillGrants, type SkillGrants } from '../../src/skills/grants/grant.js';
import {
  createSkillInvoker,
  type InvokerParts,
  type ReadySkill,
  type SkillInvoker,
  type SkillOutcome,
} from '../../src/skills/invoke/invoke.js';
import type { RunShell } from '../../src/skills/invoke/shell.js';
import { skillTool } from '../../src/skills/invoke/skill-tool.js';
import type { Skill, SkillBook, SkillHead } from '../../src/skills/skill.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { bashTool } from '../../src/tools/bash/bash.js';
import { createBackgroundShells } from '../../src/tools/bash/shells.js';
import { readTool } from '../../src/tools/files/read.js';
import { createReadState } from '../../src/tools/files/read-state.js';
import { writeTool } from '../../src/tools/files/write.js';
import { createInvoke } from '../../src/tools/invoke.js';
import { createPool } from '../../src/tools/pool.js';
import type { AnyTool, ToolContext, ToolOutput, Workspace } from '../../src/tools/tool.js';
import { testSupervisor } from '../process/helpers.js';
import { standIn } from '../support/gate-rig.js';

/** A skill as a book would give it. Keys of the head are those that are set, unless they are given. */
export function skillOf(
  name: string,
  body: string,
  head: Partial<SkillHead> = {},
  more: Partial<Skill> = {},
): Skill {
  return {
    name,
    origin: 'project',
    source: 'project',
    file: `/p/.claude/skills/${name}/SKILL.md`,
    directory: `/p/.claude/skills/${name}`,
    head: { keys: Object.keys(head), ...head },
    trusted: true,
    bodyLine: 4,
    problems: [],
    body: () => Promise.resolve(body),
    ...more,
  };
}

/** Skills with `paths` are dormant until somebody touches anything. */
export function bookOf(...skills: readonly Skill[]): SkillBook {
  let awake = false;
  return {
    list: () => Promise.resolve(skills.filter(({ head }) => awake || head.paths === undefined)),
    skipped: () => Promise.resolve([]),
    find: (name) => Promise.resolve(skills.find((one) => one.name === asName(name))),
    touched: () => {
      awake = true;
      return Promise.resolve(skills.filter(({ head }) => head.paths !== undefined));
    },
    refresh: () => Promise.resolve(false),
  };
}

export interface RigOptions {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly mode?: PermissionMode;
  readonly asker?: Asker;
  readonly managedOnly?: string;
  readonly invoker?: Partial<InvokerParts>;
  readonly onReady?: (ready: ReadySkill, context: ToolContext) => void;
}

export interface SkillRig {
  readonly project: TempProject;
  readonly grants: SkillGrants;
  readonly approvals: SkillApprovals;
  readonly invoker: SkillInvoker;
  readonly gate: Gate;
  /** Commands that were sent to the one way in. */
  readonly commands: string[];
  readonly verdicts: GateVerdict[];
  readonly outputs: ToolOutput[];
  call(tool: string, input: Record<string, unknown>, agent?: AgentRef): Promise<ToolCallResult>;
  /** What the result says. */
  said(tool: string, input: Record<string, unknown>, agent?: AgentRef): Promise<string>;
  type(name: string, args?: string): Promise<SkillOutcome>;
  judge(tool: string, input: Record<string, unknown>, agent?: AgentRef): Promise<GateVerdict>;
}

/** Skills over the real gate, the real one way in and a real shell, in a temporary project. */
export function skillRig(book: SkillBook, options: RigOptions = {}): SkillRig {
  const project = makeTempProject({ files: { 'a.txt': 'text of a' } });
  const cwd = project.directory;
  const place = { cwd, home: project.home };
  const workspace: Workspace = { cwd, roots: [cwd], setCwd: () => {} };
  const sourced = (texts: readonly string[] = []): SourcedRule[] =>
    texts.map((text) => ({ value: { text, root: cwd }, source: 'user', trusted: true }));
  const { rules: base } = parseRules(
    { allow: sourced(options.allow), ask: sourced(options.ask), deny: sourced(options.deny) },
    place,
  );
  const grants = createSkillGrants({
    ...place,
    projectDir: cwd,
    managedOnly: () => options.managedOnly,
  });
  const approvals = createSkillApprovals(book);
  const gateWith = (asker: Asker | undefined): Gate =>
    createGate({
      fs: nodeFileSystem,
      home: project.home,
      clock: systemClock,
      mode: () => options.mode ?? 'default',
      rules: (agent) => joinRules([grants.rules(agent), base]),
      asker: () => asker,
      guards: [grants.guard, approvals.guard],
      resolvers: [approvals.resolver],
    });
  const gate = gateWith(options.asker);
  const commands: string[] = [];
  const verdicts: GateVerdict[] = [];
  const outputs: ToolOutput[] = [];
  let calls = 0;
  const processes = testSupervisor();
  const files: AnyTool[] = [
    readTool({ fs: nodeFileSystem }),
    writeTool({ fs: nodeFileSystem }),
    bashTool({
      processes,
      shells: createBackgroundShells({ processes, clock: systemClock }),
      fs: nodeFileSystem,
      environment: () => shellEnvironment(process.env),
    }),
  ];
  const through = async (
    way: { readonly tools: readonly AnyTool[]; readonly gate: Gate; readonly agent: AgentRef },
    name: string,
    input: Record<string, unknown>,
  ): Promise<ToolCallResult> => {
    const { agent } = way;
    const invoke = createInvoke({
      pool: createPool(way.tools),
      gate: way.gate,
      agent,
      workspace,
      contextFor: ({ id }, signal) => ({
        agent,
        sessionId: 'session-1',
        toolUseId: id,
        signal,
        workspace,
        readState: createReadState(),
        mode: 'default',
        setMode: () => {},
        spillDirectory: () => project.at('.spill'),
        progress: () => {},
      }),
      onVerdict: (_call, _tool, verdict) => void verdicts.push(verdict),
      onInvalidInput: async () => undefined,
      onRan: (_call, _tool, output) => void outputs.push(output),
      bound: (output) => Promise.resolve(output),
      monotonic: () => 0,
      uuid: () => 'uuid',
    });
    calls++;
    const block = { type: 'tool_use' as const, id: `toolu_${calls}`, name, input };
    return invoke(block, undefined, new AbortController().signal);
  };
  const runShell: RunShell = async ({ text, agent }) => {
    commands.push(text);
    const before = verdicts.length;
    const way = { tools: files, gate: gateWith(undefined), agent };
    const { block } = await through(way, 'Bash', { command: text });
    const isRefused = verdicts.at(before)?.kind !== 'allowed';
    if (isRefused) return { kind: 'refused', reason: String(block.content) };
    return { kind: 'ran', text: String(block.content), isError: block.is_error === true };
  };
  const invoker = createSkillInvoker({
    book,
    grants,
    runShell,
    projectDir: cwd,
    sessionId: () => 'session-1',
    ...options.invoker,
  });
  const skill = skillTool({
    invoker,
    approvals,
    ...(options.onReady === undefined ? {} : { onReady: options.onReady }),
  });
  const tools = [...files, skill];
  const call: SkillRig['call'] = (name, input, agent = MAIN_AGENT) =>
    through({ tools, gate, agent }, name, input);
  return {
    project,
    grants,
    approvals,
    invoker,
    gate,
    commands,
    verdicts,
    outputs,
    call,
    said: async (...given) => String((await call(...given)).block.content),
    type: (name, args) =>
      invoker.invoke({
        name,
        args,
        by: 'person',
        agent: MAIN_AGENT,
        signal: new AbortController().signal,
      }),
    async judge(name, input, agent = MAIN_AGENT) {
      const tool = tools.find((one) => one.name === name) ?? standIn(name);
      const signal = new AbortController().signal;
      const subject = tool.subject(input, workspace);
      calls++;
      const toolUseId = `toolu_${calls}`;
      return gate({ toolUseId, tool, input, subject, agent, workspace, signal });
    },
  };
}
