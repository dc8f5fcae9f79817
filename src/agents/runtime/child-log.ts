import type { LoopEvent, ModelAnswer } from '../../loop/types.js';
import {
  type AssistantBlock,
  addUsage,
  textOf,
  type Usage,
  ZERO_USAGE,
} from '../../protocol/content.js';
import type { TaskUsage } from '../../protocol/session-events.js';
import { blockLine, resultLine } from '../core/output-lines.js';
import { refWithLimits } from '../limits/recorded-limits.js';
import type { AgentHost } from './agent-host.js';
import type { AgentAccount } from './report.js';
import type { AgentRunPlan } from './run-plan.js';

/** The mark at the head of an agent's transcript. */
export const AGENT_MARK = 'agent_started';

type LogOrder = Pick<
  AgentRunPlan,
  'ref' | 'definition' | 'description' | 'output' | 'choice' | 'above' | 'once'
>;

/** Counts and tells what an agent does. */
export class ChildLog {
  readonly #world: Pick<AgentHost, 'clock' | 'emit'>;
  readonly #order: LogOrder;
  readonly #started: number;
  #turns = 0;
  #toolUses = 0;
  #usage: Usage = ZERO_USAGE;
  #lastTokens = 0;
  #lastText = '';
  /** Mostly there is one. */
  #models: readonly string[] = [];

  constructor(world: Pick<AgentHost, 'clock' | 'emit'>, order: LogOrder) {
    this.#world = world;
    this.#order = order;
    this.#started = world.clock.monotonic();
  }

  /** What is needed to go on with it. */
  head() {
    const { ref, definition, description, choice, above, once } = this.#order;
    return {
      type: AGENT_MARK,
      agent: refWithLimits(ref, definition),
      description,
      model: choice.model,
      above,
      ...(once ? { once: true } : {}),
    };
  }

  answer({ usage, model, message }: ModelAnswer): void {
    this.#turns++;
    this.#usage = addUsage(this.#usage, usage);
    this.#lastTokens = tokensOf(usage);
    if (!this.#models.includes(model)) this.#models = [...this.#models, model];
    const text = textOf(message.content);
    if (text.trim() !== '') this.#lastText = text;
  }

  event(event: LoopEvent): void {
    const { ref, output } = this.#order;
    switch (event.type) {
      case 'answer':
        for (const block of event.answer.message.content) this.#tellOf(block);
        break;
      case 'tool_result':
        output.log?.append(resultLine(event.result.block));
        break;
      case 'input':
      case 'retry':
        break;
      default:
        return;
    }
    this.#world.emit({ type: 'child', agent: ref, event });
  }

  usage(): TaskUsage {
    return {
      totalTokens: this.#lastTokens,
      toolUses: this.#toolUses,
      durationMs: Math.round(this.#world.clock.monotonic() - this.#started),
    };
  }

  lastText(): string {
    return this.#lastText;
  }

  account(costUsd: number | undefined): AgentAccount {
    return {
      agent: this.#order.ref,
      turns: this.#turns,
      toolUses: this.#toolUses,
      usage: this.#usage,
      costUsd,
      models: this.#models,
      seconds: (this.#world.clock.monotonic() - this.#started) / 1000,
      lastTokens: this.#lastTokens,
    };
  }

  #tellOf(block: AssistantBlock): void {
    const { ref, description, output } = this.#order;
    const line = output.log === undefined ? undefined : blockLine(block);
    if (line !== undefined) output.log?.append(line);
    if (block.type !== 'tool_use') return;
    this.#toolUses++;
    this.#world.emit({
      type: 'task_progress',
      agent: ref,
      description,
      usage: this.usage(),
      lastTool: block.name,
    });
  }
}

export function tokensOf(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens
  );
}
