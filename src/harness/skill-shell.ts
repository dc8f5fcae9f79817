import type { GateVerdict } from '../permissions/types.js';
import { textOf } from '../protocol/content.js';
import type { RunShell } from '../skills/shell.js';
import type { InvokeDeps } from '../tools/invocation.js';
import { createInvoke } from '../tools/invoke.js';
import { createPool } from '../tools/pool.js';
import type { AnyTool, Workspace } from '../tools/tool.js';
import { isRecord } from '../util/own.js';

export interface SkillShellParts {
  /** The session's gate and what stands around its calls. */
  readonly around: Pick<
    InvokeDeps,
    'gate' | 'review' | 'onRefused' | 'watch' | 'bound' | 'monotonic' | 'uuid'
  >;
  tools(): readonly AnyTool[];
  readonly workspace: Workspace;
  contextFor(agent: InvokeDeps['agent']): InvokeDeps['contextFor'];
  readonly onVerdict: InvokeDeps['onVerdict'];
}

type Refused = Extract<GateVerdict, { kind: 'refused' }>;

/** For whoever wanted the skill: it is the skill that did not start, and no call of his was refused. */
function whyNot({ receipt, suggestion, unanswered }: Refused): string {
  if (unanswered !== true) return receipt.reason;
  return suggestion === undefined
    ? `nobody is asked about the commands of skills (${receipt.reason})`
    : `nothing allows it beforehand; the rule ${suggestion} would`;
}

/** Commands in the text of skills go the one way in, and nobody is asked about them. */
export function skillShell(parts: SkillShellParts): RunShell {
  return async ({ text, agent }, signal) => {
    const bash = parts.tools().find(({ name }) => name === 'Bash');
    // fail-closed: a shell that was taken away is not lent to skills.
    if (bash === undefined) return { kind: 'refused', reason: 'there is no Bash tool here' };
    let refused: string | undefined;
    const invoke = createInvoke({
      ...parts.around,
      pool: createPool([bash]),
      agent,
      workspace: parts.workspace,
      unattended: true,
      contextFor: parts.contextFor(agent),
      onVerdict(call, tool, verdict) {
        parts.onVerdict(call, tool, verdict);
        if (verdict.kind === 'refused') refused = whyNot(verdict);
      },
      onInvalidInput: () => undefined,
      onRan: () => {},
    });
    const id = `skill_${parts.around.uuid()}`;
    const call = { type: 'tool_use' as const, id, name: bash.name, input: { command: text } };
    const { block, structured } = await invoke(call, undefined, signal);
    if (refused !== undefined) return { kind: 'refused', reason: refused };
    const shown = typeof block.content === 'string' ? block.content : textOf(block.content);
    const output = isRecord(structured) ? structured.stdout : undefined;
    return {
      kind: 'ran',
      text: typeof output === 'string' ? output : shown,
      isError: block.is_error === true,
    };
  };
}
