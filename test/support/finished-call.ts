import type { FinishedCall } from '../../src/hooks/events/post-tool-use.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { presentBash } from '../../src/tools/bash/bash-result.js';
import type { AnyTool, ToolOutput } from '../../src/tools/tool.js';

/** For what a test never calls. */
export const unused = (): never => {
  throw new Error('not used here');
};

/** A tool that nobody runs. */
export function idleTool(name: string, more: Partial<AnyTool> = {}): AnyTool {
  return {
    name,
    kind: 'execute',
    definition: { name, description: '', input_schema: { type: 'object' } },
    validate: async () => [],
    subject: unused,
    concurrencySafe: () => false,
    run: unused,
    ...more,
  };
}

/** Shows results as the Bash tool does. */
export const bash = idleTool('Bash', { present: presentBash });
export const mcp = idleTool('mcp__srv__look');

export const OUTPUT: ToolOutput = {
  content: 'SECRET\nShell cwd was reset',
  structured: { stdout: 'SECRET', stderr: '', interrupted: false },
};

export type Finished = Partial<Omit<FinishedCall, 'call'>> & { readonly tool?: AnyTool };

/** A call of Bash that has printed a secret, or what the test makes of it. */
export function finished({ tool: called = bash, ...more }: Finished = {}): FinishedCall {
  return {
    call: {
      toolUseId: 'toolu_1',
      tool: called,
      input: { command: 'cat key' },
      agent: MAIN_AGENT,
      workspace: { cwd: '/there', roots: ['/there'], setCwd: unused },
    },
    mode: 'default',
    output: OUTPUT,
    ms: 12.4,
    signal: new AbortController().signal,
    ...more,
  };
}
