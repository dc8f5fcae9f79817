import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { PermissionMode } from '../../src/protocol/permissions.js';
import type { Tool, ToolContext, ToolOutput } from '../../src/tools/tool.js';
import { unusablePermit } from './permit.js';

export interface CallOptions {
  readonly mode?: PermissionMode;
  /** The mode the gate saw, where it is not the one the call runs in. */
  readonly judgedIn?: PermissionMode;
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly signal?: AbortSignal;
  readonly setMode?: (mode: PermissionMode) => void;
}

/** Runs a tool as the gate would let it: input validated, permit for exactly this input. */
export async function callTool<Input>(
  tool: Tool<Input>,
  input: Input,
  options: CallOptions = {},
): Promise<ToolOutput> {
  const problems = await tool.validate(input);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const mode = options.judgedIn ?? options.mode ?? 'default';
  const permit = unusablePermit(
    {
      toolUseId: 'toolu_1',
      tool: tool.name,
      agent: 'main',
      decision: 'allow',
      decidedBy: 'test',
      reason: 'test',
      trace: [],
      input,
      mode,
    },
    input,
  );
  return tool.run(input, contextOf(options), permit);
}

function contextOf(options: CallOptions): ToolContext {
  return {
    agent: { ...MAIN_AGENT, id: options.agentId ?? 'main' },
    sessionId: options.sessionId ?? 'session-1',
    toolUseId: 'toolu_1',
    signal: options.signal ?? new AbortController().signal,
    workspace: { cwd: '/', roots: ['/'], setCwd: () => {} },
    readState: { note: () => {}, get: () => undefined },
    mode: options.mode ?? 'default',
    setMode: options.setMode ?? (() => {}),
    spillDirectory: () => '/',
    progress: () => {},
  };
}
