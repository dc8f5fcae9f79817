import {
  compactThreshold,
  createCompactionBreaker,
  mayCompact,
  shouldCompact,
} from '../context/compact-trigger.js';
import { createTokenMeter, estimateFixed, type TokenMeter } from '../context/tokens.js';
import type { Clock } from '../env/clock.js';
import type { ModelClient, ModelRequest } from '../model/client.js';
import type { Message, Usage } from '../protocol/content.js';
import { textOf } from '../protocol/content.js';
import type { SessionNews } from '../protocol/session-events.js';

/** When and how an agent's history is shortened. */
export interface Compaction {
  /** Whether the next request would come too close to the model's window. */
  isDue(request: ModelRequest): boolean;
  /** What the provider counted for a history: better than any estimate. */
  noteUsage(usage: Usage, messages: readonly Message[]): void;
  /** The new history, or undefined when it could not be shortened. */
  run(order: CompactionOrder, signal: AbortSignal): Promise<readonly Message[] | undefined>;
  /** Set once shortening has stopped helping. */
  readonly exhausted: string | undefined;
}

export interface CompactionOrder {
  readonly trigger: 'auto' | 'manual';
  readonly request: ModelRequest;
  readonly instructions: string | undefined;
}

export interface CompactionParts {
  readonly client: ModelClient;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The window of the model in use. */
  window(): { readonly contextWindow: number; readonly maxOutput: number };
  recordBoundary(compaction: {
    trigger: 'auto' | 'manual';
    preTokens: number;
    messages: readonly Message[];
  }): { readonly uuid: string; readonly summaryUuid: string };
  emit(event: SessionNews): void;
}

export function createCompaction(parts: CompactionParts): Compaction {
  let meter: TokenMeter | undefined;
  let turn = 0;
  let exhausted: string | undefined;
  let failures = 0;
  const breaker = createCompactionBreaker();
  const limits = (): { window: number; maxOutput: number; env: CompactionParts['env'] } => {
    const { contextWindow, maxOutput } = parts.window();
    return { window: contextWindow, maxOutput, env: parts.env };
  };
  const meterFor = (request: ModelRequest): TokenMeter => {
    meter ??= createTokenMeter(estimateFixed(request));
    return meter;
  };
  return {
    isDue(request) {
      turn++;
      // A summary costs as much as a turn: what failed again and again is left to the model's own limit.
      if (failures >= MAX_FAILURES) return false;
      return shouldCompact({ ...limits(), usedTokens: meterFor(request).used(request.messages) });
    },
    noteUsage: (usage, messages) => meter?.reported(usage, messages),
    get exhausted() {
      return exhausted;
    },
    async run({ trigger, request, instructions }, signal) {
      if (!mayCompact(trigger, parts.env)) return undefined;
      const started = parts.clock.monotonic();
      parts.emit({ type: 'compacting' });
      // Rarely needed, so its prompt and code are not part of the start.
      const { compact } = await import('../context/compact.js');
      const done = await compact({
        messages: request.messages,
        request,
        callModel: (summary, abort) => parts.client.stream(summary, abort),
        signal,
        usedTokens: meterFor(request).used(request.messages),
        preserve: openingOf(request.messages[0]),
        ...(instructions === undefined ? {} : { instructions }),
      });
      if (!done.ok) {
        const { error } = done;
        if (error.kind !== 'nothing_to_compact' && !signal.aborted) failures++;
        parts.emit({
          type: 'compaction_failed',
          reason: error.kind === 'model_failure' ? error.failure.message : REASONS[error.kind],
        });
        return undefined;
      }
      failures = 0;
      const { newMessages, preTokens, postTokens } = done.value;
      const recorded = parts.recordBoundary({ trigger, preTokens, messages: newMessages });
      parts.emit({
        type: 'compacted',
        trigger,
        preTokens,
        postTokens,
        durationMs: Math.round(parts.clock.monotonic() - started),
        summary: textOf(newMessages[0]?.content ?? ''),
        ...recorded,
      });
      const verdict = breaker.compacted({
        turn,
        postTokens,
        threshold: compactThreshold(limits()),
      });
      if (verdict === 'rapid_refill' && trigger === 'auto') {
        exhausted = 'the conversation fills the context again right after it was summarised';
      }
      return newMessages;
    },
  };
}

/** Failed summaries in a row after which none is made unasked. */
const MAX_FAILURES = 3;

/** What the runtime said before the first prompt (facts, instructions) stays as it was. */
function openingOf(first: Message | undefined): string {
  const texts = (first?.role === 'user' ? first.content : []).flatMap((block) =>
    block.type === 'text' && block.text.startsWith('<system-reminder>') ? [block.text] : [],
  );
  return texts.join('\n');
}

const REASONS = {
  nothing_to_compact: 'there is nothing to summarise yet',
  empty_summary: 'the model gave an empty summary',
};
