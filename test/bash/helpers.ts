import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../src/platform/clock.js';
import { shellEnvironment } from '../../src/platform/environment.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import type { ProcessSupervisor } from '../../src/platform/process/process.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { ToolInputs } from '../../src/protocol/tools.schema.js';
import { type BashDeps, bashTool } from '../../src/tools/bash/bash.js';
import { bashOutputTool } from '../../src/tools/bash/bash-output.js';
import { type BackgroundShells, createBackgroundShells } from '../../src/tools/bash/shells.js';
import { taskStopTool } from '../../src/tools/tasks/task-stop.js';
import type { Tool, ToolContext, ToolOutput } from '../../src/tools/tool.js';
import { temporaryDirectory, testSupervisor } from '../process/helpers.js';
import { unusablePermit } from '../support/permit.js';

export interface BashBench {
  readonly root: string;
  readonly spill: string;
  readonly shells: BackgroundShells;
  readonly processes: ProcessSupervisor;
  readonly progress: string[];
  cwd(): string;
  bash(command: string, more?: Partial<ToolInputs['Bash']>): Promise<Seen>;
  output(input: ToolInputs['BashOutput']): Promise<Seen>;
  stop(input: ToolInputs['TaskStop']): Promise<Seen>;
}

export interface Seen {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Record<string, unknown>;
}

export interface BenchOptions extends Partial<BashDeps> {
  readonly env?: Record<string, string | undefined>;
  readonly signal?: AbortSignal;
  readonly extraRoots?: readonly string[];
  readonly toolUseId?: string;
}

/** A Bash tool in a temporary project, called as the runtime calls it. */
export function bashBench(options: BenchOptions = {}): BashBench {
  const base = temporaryDirectory();
  const root = path.join(base, 'project');
  const spill = path.join(base, 'spill');
  mkdirSync(root);
  const processes = testSupervisor();
  const shells = createBackgroundShells({ processes, clock: systemClock });
  let cwd = root;
  const progress: string[] = [];
  const context: ToolContext = {
    agent: MAIN_AGENT,
    sessionId: 'session',
    toolUseId: options.toolUseId ?? 'toolu_1',
    signal: options.signal ?? new AbortController().signal,
    workspace: {
      get cwd() {
        return cwd;
      },
      roots: [root, ...(options.extraRoots ?? [])],
      setCwd: (directory) => {
        cwd = directory;
      },
    },
    readState: { note: () => {}, get: () => undefined },
    mode: 'default',
    setMode: () => {},
    spillDirectory: () => spill,
    progress: (text) => progress.push(text),
  };
  const environment = shellEnvironment(options.env ?? process.env);
  const bash = bashTool({
    processes,
    shells,
    fs: nodeFileSystem,
    environment: () => environment,
    ...options,
  });
  return {
    root,
    spill,
    shells,
    processes,
    progress,
    cwd: () => cwd,
    bash: (command, more = {}) => call(bash, { command, ...more }, context),
    output: (input) => call(bashOutputTool({ shells }), input, context),
    stop: (input) => call(taskStopTool({ shells }), input, context),
  };
}

async function call<Input>(tool: Tool<Input>, input: Input, context: ToolContext): Promise<Seen> {
  const permit = unusablePermit(
    {
      toolUseId: context.toolUseId,
      tool: tool.name,
      agent: 'main',
      decision: 'allow',
      decidedBy: 'test',
      reason: 'test',
      trace: [],
      input,
      mode: 'default',
    },
    input,
  );
  const output: ToolOutput = await tool.run(input, context, permit);
  return {
    text: typeof output.content === 'string' ? output.content : JSON.stringify(output.content),
    isError: output.isError === true,
    structured: (output.structured ?? {}) as Record<string, unknown>,
  };
}
