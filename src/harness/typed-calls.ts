import type { SessionParts } from '../agents/session.js';
import type { SessionConfig } from '../agents/session-config.js';
import { isRunByAgent } from '../env/run-by-agent.js';
import { PortcullisError } from '../errors.js';
import { type ToolUseBlock, textOf } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import { quoteMarks } from '../util/quote-marks.js';
import type { Ground } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenHooks } from './hooks.js';
import type { OpenInstructions } from './instructions.js';
import { outsideCall } from './outside-calls.js';
import type { RulesInForce } from './rules-in-force.js';
import type { SessionEvents } from './session-events.js';

export interface TypedCallParts {
  readonly hands: Hands;
  readonly hooks: Pick<OpenHooks, 'scene'>;
  readonly instructions: Pick<OpenInstructions, 'book' | 'countIn'>;
  readonly events: Pick<SessionEvents, 'moved'>;
  readonly rules: Pick<RulesInForce, 'refresh'>;
}

/** A person waits for it and can interrupt it. */
const LONGEST_MS = 600_000;

/**
 * Runs a command that a person typed as a call of Bash: the gate, hooks, the sandbox, receipts and the journal see it
 * like any other. Only the question that no rule allows it is not asked, because the person has just typed it.
 */
export function typedShell(
  config: SessionConfig,
  ground: Ground,
  { hands, hooks, instructions, events, rules }: TypedCallParts,
): SessionParts['shell'] {
  return async ({ uuid, toolUseId, command }, signal) => {
    await rules.refresh();
    const tool = hands.builtins.pool.resolve('Bash');
    // fail-closed: a session whose agent has no shell gives none to its person either.
    if (tool === undefined) throw new PortcullisError('usage', 'this session has no Bash tool');
    const input = { command, timeout: LONGEST_MS };
    const made = await outsideCall(config, ground, {
      hands,
      instructions,
      shownIn: instructions.book,
      tool,
      id: toolUseId,
      input,
      signal,
      unattended: false,
      // fail-closed: an agent that types into a conversation of its own is asked about like any other.
      isTyped: !isRunByAgent(ground.env),
    });
    await events.moved(signal);
    const { result } = made;
    const call: ToolUseBlock = { type: 'tool_use', id: toolUseId, name: tool.name, input };
    const after = await hands.events.afterBatch([{ call, result }], hooks.scene(signal));
    const text = shellText(String(made.input.command), result);
    const said = { uuid, content: [{ type: 'text' as const, text }], verbatim: true };
    return { result, inputs: [said, ...after.inputs] };
  };
}

/** The command and its output as the model reads them with the next prompt. */
function shellText(command: string, { block }: ToolCallResult): string {
  const { content, is_error: failed } = block;
  const words = quoteMarks(typeof content === 'string' ? content : textOf(content));
  const [output, errors] = failed === true ? ['', words] : [words, ''];
  return `<bash-input>${quoteMarks(command)}</bash-input>\n<bash-stdout>${output}</bash-stdout><bash-stderr>${errors}</bash-stderr>`;
}
