import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHookAgent, HOOK_AGENT_TURNS } from '../../src/agents/core/hook-agent.js';
import type { HookRaw } from '../../src/hooks/registry/hook.js';
import {
  type AgentQuestion,
  createAgentRunner,
  VERDICT_TOOL,
} from '../../src/hooks/runners/model.js';
import { isRecord } from '../../src/lib/own.js';
import { anthropicClient } from '../../src/model/anthropic/client.js';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import { createGate } from '../../src/permissions/gate/gate.js';
import type { Guard } from '../../src/permissions/gate/guard.js';
import type { Precheck } from '../../src/permissions/gate/precheck.js';
import type { GateVerdict } from '../../src/permissions/gate/types.js';
import { parseRules } from '../../src/permissions/rules/rules.js';
import { systemClock } from '../../src/platform/clock.js';
import { shellEnvironment } from '../../src/platform/environment.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { type AgentRef, MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { SourcedRule } from '../../src/settings/types.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { bashTool } from '../../src/tools/bash/bash.js';
import { createBackgroundShells } from '../../src/tools/bash/shells.js';
import { askUserQuestionTool } from '../../src/tools/builtin/ask-user-question.js';
import { enterPlanModeTool } from '../../src/tools/builtin/plan-mode.js';
import { STRUCTURED_OUTPUT } from '../../src/tools/builtin/structured-output.js';
import { readTool } from '../../src/tools/files/read.js';
import { createReadState } from '../../src/tools/files/read-state.js';
import { writeTool } from '../../src/tools/files/write.js';
import { createInvoke } from '../../src/tools/invoke.js';
import { boundOutput } from '../../src/tools/output.js';
import { globTool } from '../../src/tools/search/glob.js';
import { grepTool } from '../../src/tools/search/grep.js';
import type { AnyTool } from '../../src/tools/tool.js';
import { createWorkspace } from '../../src/tools/workspace.js';
import { testSupervisor, until } from '../process/helpers.js';
import { hookOf, requestOf } from './runner-rig.js';

const fs = nodeFileSystem;
const clock = systemClock;
const verdict = (ok: boolean, reason?: string): Reply => ({
  tool: 'StructuredOutput',
  input: { ok, ...(reason === undefined ? {} : { reason }) },
});

interface Options {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly guards?: readonly Guard[];
  readonly precheck?: Precheck;
  readonly depthLimit?: number;
}

/** A judge with real tools, a real gate and a scripted model behind real HTTP. */
async function bench(script: readonly (Reply | ReplyFunction)[], options: Options = {}) {
  const project = makeTempProject({ files: { 'a.txt': 'FILEBODY\n' } });
  onTestFinished(() => project.remove());
  const server = await startFakeModelServer({ script });
  onTestFinished(() => server.close());
  const processes = testSupervisor();
  const shells = createBackgroundShells({ processes, clock });
  const { directory: cwd, home } = project;
  const sourced = (texts: readonly string[] = []): SourcedRule[] =>
    texts.map((text) => ({ value: { text, root: cwd }, source: 'user', trusted: true }));
  const { rules } = parseRules(
    { allow: sourced(options.allow), ask: [], deny: sourced(options.deny) },
    { cwd, home },
  );
  const seen: { agent: AgentRef; tool: string; verdict: GateVerdict }[] = [];
  const tools: readonly AnyTool[] = [
    readTool({ fs }),
    globTool({ fs, clock }),
    grepTool({ fs, processes, env: {} }),
    bashTool({ processes, shells, fs, environment: () => shellEnvironment(process.env) }),
    writeTool({ fs }),
    askUserQuestionTool(),
    enterPlanModeTool(),
  ];
  const judge = createHookAgent({
    client: anthropicClient({ baseUrl: server.url, apiKey: 'key', userAgent: 'portcullis/1.2.3' }),
    choice: (name) => ({ model: name ?? 'default-model', maxTokens: 1_000 }),
    uuid: clock.uuid,
    invoke: ({ agent, pool, workspace }) => {
      const readState = createReadState();
      return createInvoke({
        pool,
        agent,
        workspace,
        gate: createGate({
          fs,
          home,
          clock,
          mode: () => 'default',
          rules: () => rules,
          asker: () => undefined,
          ...(options.guards === undefined ? {} : { guards: options.guards }),
          ...(options.precheck === undefined ? {} : { precheck: options.precheck }),
        }),
        bound: (output, context) => boundOutput(output, { fs, context }),
        monotonic: clock.monotonic,
        uuid: clock.uuid,
        onInvalidInput: async () => undefined,
        onRan: () => {},
        contextFor: (call, signal) => ({
          agent,
          sessionId: 'session',
          toolUseId: call.id,
          signal,
          workspace,
          readState,
          mode: 'default',
          setMode: () => {
            throw new Error('a judge changed the mode');
          },
          spillDirectory: () => path.join(project.root, 'spill'),
          progress: () => {},
        }),
        onVerdict: (_call, tool, said) => void seen.push({ agent, tool: tool.name, verdict: said }),
      });
    },
    tools: () => tools,
    workspace: () => createWorkspace([cwd]),
    depthLimit: options.depthLimit ?? 3,
  });
  const bodyOf = (index: number): Record<string, unknown> => {
    const body = server.requests[index]?.body;
    if (!isRecord(body)) throw new Error(`there is no request ${index}`);
    return body;
  };
  return {
    project,
    server,
    shells,
    seen,
    bodyOf,
    judge,
    ask: (more: Partial<AgentQuestion> = {}, signal = new AbortController().signal) =>
      judge({ prompt: 'JUDGE this', agent: MAIN_AGENT, toolUseId: 'toolu_9', ...more }, signal),
    run: (request: Parameters<typeof requestOf>[0] = {}): Promise<HookRaw> =>
      createAgentRunner({ judge })(
        hookOf({ type: 'agent', prompt: 'JUDGE this: $ARGUMENTS' }),
        requestOf(request),
      ),
  };
}

describe('the judge of an agent hook', () => {
  it('looks, and then gives its verdict through the output tool', async () => {
    const { run, server, project, bodyOf, seen } = await bench([
      () => ({ tool: 'Read', input: { file_path: project.at('a.txt') } }),
      (view) => verdict(view.lastUser.includes('FILEBODY'), 'seen'),
    ]);
    expect(await run()).toEqual({ kind: 'verdict', ok: true, reason: 'seen' });
    server.assertDone();
    expect(JSON.stringify(bodyOf(0).messages)).toContain('JUDGE this: <hook-input-');
    expect(JSON.stringify(bodyOf(0).system)).toContain('You are a judge');
    expect(bodyOf(0).model).toBe('default-model');
    expect(seen.map(({ tool, verdict: said }) => [tool, said.kind])).toEqual([
      ['Read', 'allowed'],
      ['StructuredOutput', 'allowed'],
    ]);
  });

  it('says no with a reason, by the model that the hook names', async () => {
    const { ask, bodyOf } = await bench([verdict(false, 'MARKREASON')]);
    expect(await ask({ model: 'other' })).toEqual({
      ok: true,
      value: { ok: false, reason: 'MARKREASON' },
    });
    expect(bodyOf(0).model).toBe('other');
  });

  it('is offered what serves to look, and nothing else', async () => {
    const { ask, bodyOf } = await bench([verdict(true)]);
    await ask();
    const names = (bodyOf(0).tools as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(['Bash', 'Glob', 'Grep', 'Read', 'StructuredOutput']);
  });

  it('cannot use what it is not offered', async () => {
    const { ask, project, seen } = await bench(
      [
        () => ({ tool: 'Write', input: { file_path: project.at('new.txt'), content: 'x' } }),
        { tool: 'EnterPlanMode', input: {} },
        { tool: 'Agent', input: { prompt: 'x' } },
        verdict(true),
      ],
      { allow: ['Write', 'Edit', 'Agent'] },
    );
    expect(await ask()).toMatchObject({ value: { ok: true } });
    expect(existsSync(project.at('new.txt'))).toBe(false);
    expect(seen.map(({ tool }) => tool)).toEqual(['StructuredOutput']);
  });

  it('has a name and an address of its own', async () => {
    const { ask, seen } = await bench([verdict(true), verdict(true)]);
    await ask();
    const parent = { ...MAIN_AGENT, id: 'child', path: 'main/planner#2', depth: 1 };
    await ask({ agent: parent });
    expect(seen.map(({ agent }) => agent)).toMatchObject([
      {
        type: 'hook-agent',
        path: 'main/hook#1',
        parentId: 'main',
        depth: 1,
        spawnedBy: 'toolu_9',
        background: false,
      },
      { type: 'hook-agent', path: 'main/planner#2/hook#2', parentId: 'child', depth: 2 },
    ]);
    expect(new Set(seen.map(({ agent }) => agent.id)).size).toBe(2);
  });

  it('answers through the tool that hooks know as its verdict', () => {
    expect(VERDICT_TOOL).toBe(STRUCTURED_OUTPUT);
  });
});

describe('the calls of a judge', () => {
  it('pass the gate: what is not allowed does not run', async () => {
    const { run, project, seen } = await bench(
      [
        { tool: 'Bash', input: { command: 'touch denied' } },
        { tool: 'Bash', input: { command: 'touch unasked' } },
        { tool: 'Bash', input: { command: 'touch allowed' } },
        () => ({ tool: 'Read', input: { file_path: project.at('a.txt') } }),
        (view) => verdict(!view.lastUser.includes('FILEBODY')),
      ],
      { allow: ['Bash(touch allowed)'], deny: ['Bash(touch denied)', 'Read(./a.txt)'] },
    );
    expect(await run()).toEqual({ kind: 'verdict', ok: true });
    expect(['denied', 'unasked', 'allowed'].map((name) => project.exists(name))).toEqual([
      false,
      false,
      true,
    ]);
    expect(seen.map(({ verdict: said }) => said.kind)).toEqual([
      'refused',
      'refused',
      'allowed',
      'refused',
      'allowed',
    ]);
  });

  it('leave nothing running', async () => {
    const { run, shells, seen } = await bench(
      [{ tool: 'Bash', input: { command: 'sleep 60', run_in_background: true } }, verdict(true)],
      { allow: ['Bash'] },
    );
    expect(await run()).toEqual({ kind: 'verdict', ok: true });
    expect(shells.list()).toEqual([]);
    expect(seen.map(({ tool }) => tool)).toEqual(['StructuredOutput']);
  });

  it('are not put to another judge, and the verdict arrives all the same', async () => {
    const asked: string[] = [];
    // As the hooks of PreToolUse are asked: this agent hook matches everything.
    const precheck: Precheck = async (view) => {
      const { call } = view;
      asked.push(`${call.agent.path} ${call.tool.name}`);
      const input = { hook_event_name: 'PreToolUse', tool_name: call.tool.name };
      const raw = await rig.run({ agent: call.agent, input });
      const refuses = raw.kind === 'failed';
      const guard: Guard = {
        name: 'hooks',
        onFailure: 'deny',
        decide: async () =>
          refuses ? { decision: 'deny', reason: 'no verdict' } : { decision: 'none' },
      };
      return { view, guard, trace: [] };
    };
    const rig = await bench(
      [
        () => ({ tool: 'Read', input: { file_path: rig.project.at('a.txt') } }),
        (view) => verdict(view.lastUser.includes('FILEBODY'), 'as far as I could see'),
      ],
      { precheck },
    );
    expect(await rig.run()).toEqual({
      kind: 'verdict',
      ok: false,
      reason: 'as far as I could see',
    });
    expect(asked).toEqual(['main/hook#1 Read', 'main/hook#1 StructuredOutput']);
    rig.server.assertDone();
  });

  it('that a hook forbids leave no verdict, also when it is the verdict', async () => {
    const stopping: Guard = {
      name: 'hooks',
      onFailure: 'deny',
      decide: async () => ({ decision: 'deny', reason: 'no', stop: 'enough' }),
    };
    const { run } = await bench([verdict(true)], { guards: [stopping] });
    expect(await run()).toEqual({
      kind: 'failed',
      failure: { cause: 'no-verdict', message: 'a hook ended the judge: enough' },
    });
  });
});

describe('a judge without a verdict', () => {
  it('has ended in words', async () => {
    const { run } = await bench(['{"ok": true}']);
    expect(await run()).toEqual({
      kind: 'failed',
      failure: {
        cause: 'no-verdict',
        message: 'the judge ended without calling StructuredOutput',
      },
    });
  });

  it('has said what does not fit, and may correct it', async () => {
    const { run, server } = await bench([
      { tool: 'StructuredOutput', input: { ok: 'yes' } },
      { tool: 'StructuredOutput', input: { ok: true, decision: 'block' } },
      { tool: 'StructuredOutput', rawInput: '{"ok": tr' },
      verdict(false),
    ]);
    expect(await run()).toEqual({ kind: 'verdict', ok: false });
    server.assertDone();
  });

  it('has contradicted itself', async () => {
    const both = [true, false].map((ok) => ({ tool: 'StructuredOutput', input: { ok } }));
    const { run } = await bench([{ blocks: both }]);
    expect(await run()).toMatchObject({
      failure: { cause: 'no-verdict', message: 'the judge contradicted itself' },
    });
  });

  it('is out of turns', async () => {
    const again: ReplyFunction = (view) => ({
      tool: 'Glob',
      input: { pattern: `${view.turn}.txt` },
    });
    const { run, server } = await bench(Array.from({ length: 60 }, () => again));
    expect(await run()).toEqual({
      kind: 'failed',
      failure: {
        cause: 'no-verdict',
        message: `the judge came to no verdict in ${HOOK_AGENT_TURNS} turns`,
      },
    });
    expect(server.requests).toHaveLength(50);
  });

  it('is out of time, while its model or its command takes it', async () => {
    const { run } = await bench([{ serve: { misbehave: 'hang' } }]);
    expect(await run({ timeoutMs: 200 })).toMatchObject({
      failure: { cause: 'timeout', message: 'no answer within 0.2 s' },
    });
    const waiting = new AbortController();
    const command = 'touch started; sleep 60';
    const { ask, project } = await bench([{ tool: 'Bash', input: { command } }], {
      allow: ['Bash'],
    });
    const asked = ask({}, waiting.signal);
    expect(await until(() => project.exists('started'))).toBe(true);
    waiting.abort();
    expect(await asked).toEqual({
      ok: false,
      error: { cause: 'timeout', message: 'the judge was ended before it decided' },
    });
  });

  it('has a model that cannot be asked', async () => {
    const { run } = await bench([{ error: { status: 400, message: 'no' } }]);
    expect(await run()).toMatchObject({ failure: { cause: 'unavailable' } });
  });

  it('would be nested too deep', async () => {
    const { ask, server } = await bench([], { depthLimit: 2 });
    const agent = { ...MAIN_AGENT, path: 'main/a#1/b#1', depth: 2 };
    expect(await ask({ agent })).toMatchObject({ ok: false, error: { cause: 'unavailable' } });
    expect(server.requests).toEqual([]);
  });
});
