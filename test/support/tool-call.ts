import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { textOf } from '../../src/protocol/content.js';
import { type CloneableReadState, createReadState } from '../../src/tools/files/read-state.js';
import type { Tool, ToolContext, ToolOutput } from '../../src/tools/tool.js';
import { unusablePermit } from './permit.js';

/** A directory of this test's own, without links in its path; removed when the test ends. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'portcullis-test-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface CallHost {
  readonly cwd: string;
  readonly context: ToolContext;
  readonly readState: CloneableReadState;
  /** Validates and runs, as the one way in does after the gate has said yes. */
  call<Input>(tool: Tool<Input>, input: Input): Promise<CallOutcome>;
}

export interface CallOutcome {
  readonly text: string;
  readonly isError: boolean;
  readonly output: ToolOutput;
  /** The structured result, loosely typed for assertions. */
  readonly structured: Record<string, unknown>;
}

export function callHost(cwd: string = temporaryDirectory()): CallHost {
  const readState = createReadState();
  const context: ToolContext = {
    agent: MAIN_AGENT,
    sessionId: 'session',
    toolUseId: 'toolu_1',
    signal: new AbortController().signal,
    workspace: { cwd, roots: [cwd], setCwd: () => {} },
    readState,
    mode: 'default',
    setMode: () => {},
    spillDirectory: () => path.join(cwd, '.spill'),
    progress: () => {},
  };
  return {
    cwd,
    context,
    readState,
    call: async (tool, input) => {
      const problems = await tool.validate(input);
      if (problems.length > 0) throw new Error(`invalid input: ${JSON.stringify(problems)}`);
      const permit = unusablePermit({ toolUseId: 'toolu_1', decision: 'allow' }, input);
      const output = await tool.run(input, context, permit);
      return {
        text: textOf(output.content),
        isError: output.isError === true,
        output,
        structured: (output.structured ?? {}) as Record<string, unknown>,
      };
    },
  };
}
