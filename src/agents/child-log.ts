import type { LoopEvent, ModelAnswer } from '../loop/types.js';
import { textOf, type Usage, ZERO_USAGE } from '../protocol/content.js';
import type { TaskUsage } from '../protocol/session-events.js';
import type { ChildOrder } from './child-order.js';
import type { ChildWorld } from './child-world.js';
import { markedRef } from './held.js';
import { blockLine, resultLine } from './output-lines.js';
import type { AgentAccount } from './report.js';

/** The mark at the head of an agent's transcript. */
export const AGENT_MARK = 'agent_started';

/** Counts and tells what an agent does. */
export function createChildLog(
  world: Pick<ChildWorld, 'clock' | 'emit'>,
  order: Pick<
    ChildOrder,
    'ref' | 'definition' | 'description' | 'output' | 'choice' | 'above' | 'once'
  >,
) {
  const { ref, description } = order;
  const output = order.output.log;
  const started = world.clock.monotonic();
  let turns = 0;
  let toolUses = 0;
  let usage: Usage = ZERO_USAGE;
  let lastTokens = 0;
  let lastText = '';
  const models = new Set<string>();
  const taskUsage = (): TaskUsage => ({
    totalTokens: lastTokens,
    toolUses,
    durationMs: Math.round(world.clock.monotonic() - started),
  });
  return {
    /** What is needed to go on with it. */
    head: () => ({
      type: AGENT_MARK,
      agent: markedRef(ref, order.definition),
      description,
      model: order.choice.model,
      above: order.above,
      ...(order.once ? { once: true } : {}),
    }),
    answer(answer: ModelAnswer): void {
      turns++;
      usage = plus(usage, answer.usage);
      lastTokens = tokensOf(answer.usage);
      models.add(answer.model);
      const text = textOf(answer.message.content);
      if (text.trim() !== '') lastText = text;
    },
    event(event: LoopEvent): void {
      switch (event.type) {
        case 'answer':
          for (const block of event.answer.message.content) {
            const line = output === undefined ? undefined : blockLine(block);
            if (line !== undefined) output?.append(line);
            if (block.type !== 'tool_use') continue;
            toolUses++;
            const lastTool = block.name;
            world.emit({
              type: 'task_progress',
              agent: ref,
              description,
              usage: taskUsage(),
              lastTool,
            });
          }
          break;
        case 'tool_result':
          output?.append(resultLine(event.result.block));
          break;
        case 'input':
        case 'retry':
          break;
        default:
          return;
      }
      world.emit({ type: 'child', agent: ref, event });
    },
    usage: taskUsage,
    lastText: () => lastText,
    account: (costUsd: number | undefined): AgentAccount => ({
      agent: ref,
      turns,
      toolUses,
      usage,
      costUsd,
      models: [...models],
      seconds: (world.clock.monotonic() - started) / 1000,
      lastTokens,
    }),
  };
}

export function tokensOf(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens
  );
}

function plus(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
  };
}
