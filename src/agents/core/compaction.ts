import { SUMMARY_TAG } from '../../context/compaction/compact.js';
import {
  createTokenMeter,
  estimateFixed,
  type TokenMeter,
} from '../../context/compaction/tokens.js';
import {
  autoCompactThreshold,
  type CompactEnvironment,
  compactThreshold,
  createCompactionBreaker,
  mayCompact,
} from '../../context/compaction/trigger.js';
import { isInstructionsReminder } from '../../context/instructions/reminder.js';
import { hasEnvironmentReminder, reminder } from '../../context/prompt/reminders.js';
import type { beforeCompact } from '../../hooks/events/compact.js';
import type { InputMessage } from '../../loop/types.js';
import type { ModelClient, ModelRequest } from '../../model/client.js';
import type { Clock } from '../../platform/clock.js';
import type { Message, Usage } from '../../protocol/content.js';
import { textOf } from '../../protocol/content.js';
import type { SessionNews } from '../../protocol/session-events.js';

/** The trigger of a summary and the person's instructions for it. */
export interface CompactionOrder {
  readonly trigger: 'auto' | 'manual';
  readonly instructions: string | undefined;
}

export interface CompactionParts {
  readonly client: ModelClient;
  readonly clock: Clock;
  /** Read again each time, because settings may turn automatic summaries on or off. */
  env(): CompactEnvironment;
  /** The window of the model in use. */
  window(): { readonly contextWindow: number; readonly maxOutput: number };
  recordBoundary(compaction: {
    trigger: 'auto' | 'manual';
    preTokens: number;
    messages: readonly Message[];
  }): { readonly uuid: string; readonly summaryUuid: string };
  readonly hooks: CompactionHooks;
  emit(event: SessionNews): void;
}

/** The hooks around a summary. */
export interface CompactionHooks {
  before(compaction: CompactionOrder, signal: AbortSignal): ReturnType<typeof beforeCompact>;
  /** Called when the summary is made; hooks may add context for the model. */
  after(
    compaction: { readonly trigger: 'auto' | 'manual'; readonly summary: string },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}

/** Decides when to shorten an agent's history, and does it. */
export class Compaction {
  /** Set once shortening has stopped helping. */
  exhausted: string | undefined;
  /** Why a hook blocked the last summary. */
  held: string | undefined;
  readonly #parts: CompactionParts;
  readonly #breaker = createCompactionBreaker();
  #meter: TokenMeter | undefined;
  #turn = 0;
  #failures = 0;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /** Whether the next request would come too close to the model's window. */
  isDue(request: ModelRequest): boolean {
    this.#turn++;
    // A summary costs as much as a turn, so repeated failures leave the history to the model's own limit.
    if (this.#failures >= MAX_FAILURES) return false;
    return this.#meterFor(request).used(request.messages) >= autoCompactThreshold(this.#limits());
  }

  /** Takes over the provider's token count for a history, which is exact. */
  noteUsage(usage: Usage, messages: readonly Message[]): void {
    this.#meter?.reported(usage, messages);
  }

  /** Estimated tokens of these messages. */
  usedTokens(messages: readonly Message[]): number {
    return this.#meter?.used(messages) ?? 0;
  }

  /** The new history, or undefined when it could not be shortened. */
  async run(
    { trigger, request, instructions }: CompactionOrder & { readonly request: ModelRequest },
    signal: AbortSignal,
  ): Promise<readonly Message[] | undefined> {
    const parts = this.#parts;
    this.held = undefined;
    if (!mayCompact(trigger, parts.env())) return undefined;
    const hooked = await parts.hooks.before({ trigger, instructions }, signal);
    if (hooked.blocked !== undefined) {
      this.held = hooked.blocked;
      parts.emit({ type: 'compaction_failed', reason: this.held });
      return undefined;
    }
    const wanted = [instructions, ...hooked.instructions].filter((text) => text !== undefined);
    const started = parts.clock.monotonic();
    parts.emit({ type: 'compacting' });
    // Imported lazily, because summaries are rare.
    const { compact } = await import('../../context/compaction/compact.js');
    const done = await compact({
      messages: request.messages,
      request,
      callModel: (summary, abort) => parts.client.stream(summary, abort),
      signal,
      usedTokens: this.#meterFor(request).used(request.messages),
      preserve: [
        openingOf(request.messages.find(hasEnvironmentReminder) ?? request.messages[0]),
        ...hooked.preserve,
      ]
        .filter((text) => text !== '')
        .join('\n'),
      ...(wanted.length === 0 ? {} : { instructions: wanted.join('\n') }),
    });
    if (!done.ok) {
      const { error } = done;
      if (error.kind !== 'nothing_to_compact' && !signal.aborted) this.#failures++;
      parts.emit({
        type: 'compaction_failed',
        reason: error.kind === 'model_failure' ? error.failure.message : REASONS[error.kind],
      });
      return undefined;
    }
    this.#failures = 0;
    const { preTokens } = done.value;
    const summary = textOf(done.value.newMessages[0]?.content ?? '');
    const contexts = await parts.hooks.after({ trigger, summary }, signal);
    const asked = wanted.length === 0 ? [] : [reminder(`${ASKED} ${wanted.join('\n')}`)];
    const newMessages = withContexts(done.value.newMessages, [...asked, ...contexts]);
    const postTokens = this.#meterFor(request).used(newMessages);
    const recorded = parts.recordBoundary({ trigger, preTokens, messages: newMessages });
    parts.emit({
      type: 'compacted',
      trigger,
      preTokens,
      postTokens,
      durationMs: Math.round(parts.clock.monotonic() - started),
      summary,
      ...recorded,
    });
    const threshold = compactThreshold(this.#limits());
    const verdict = this.#breaker.compacted({ turn: this.#turn, postTokens, threshold });
    if (verdict === 'rapid_refill' && trigger === 'auto')
      this.exhausted = 'the conversation fills the context again right after it was summarised';
    return newMessages;
  }

  #limits(): { window: number; maxOutput: number; env: CompactEnvironment } {
    const { contextWindow, maxOutput } = this.#parts.window();
    return { window: contextWindow, maxOutput, env: this.#parts.env() };
  }

  #meterFor(request: ModelRequest): TokenMeter {
    this.#meter ??= createTokenMeter(estimateFixed(request));
    return this.#meter;
  }
}

const ASKED = 'The summary above was made with these words in mind:';

/** Adds the context that hooks gave to the summary message. */
function withContexts(
  messages: readonly Message[],
  contexts: readonly string[],
): readonly Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'user' || contexts.length === 0) return messages;
  const blocks = contexts.map((text) => ({ type: 'text' as const, text }));
  return [{ role: 'user', content: [...first.content, ...blocks] }, ...rest];
}

/** Failed summaries in a row after which no automatic one is tried. */
const MAX_FAILURES = 3;

/**
 * Reminders that precede the first prompt (facts, listings) are kept; those added to the prompt belong
 * to it alone.
 */
function openingOf(first: Message | undefined): string {
  const texts: string[] = [];
  for (const block of first?.role === 'user' ? first.content : []) {
    const text = block.type === 'text' ? block.text : '';
    // The opening follows the previous summary.
    if (texts.length === 0 && text.startsWith(`<${SUMMARY_TAG}>`)) continue;
    if (!text.startsWith('<system-reminder>')) break;
    // Instruction files are shown again with their current content.
    if (!isInstructionsReminder(text)) texts.push(text);
  }
  return texts.join('\n');
}

const REASONS = {
  nothing_to_compact: 'there is nothing to summarise yet',
  empty_summary: 'the model gave an empty summary',
};

/** The focus of a prompt `/compact [focus]`; undefined for other prompts. */
export function compactOrder(prompts: readonly InputMessage[]): string | undefined {
  const [only, ...others] = prompts;
  if (only === undefined || others.length > 0) return undefined;
  if (only.meta === true || only.verbatim === true) return undefined;
  const order = /^\/compact(?:\s+([\s\S]*))?$/.exec(textOf(only.content).trim());
  return order === null ? undefined : (order[1] ?? '');
}
