import { err, ok, type Result } from '../../lib/result.js';
import type { ModelEvent, ModelFailure, ModelRequest } from '../../model/client.js';
import type { Message, UserBlock, UserMessage } from '../../protocol/content.js';
import instruction from './compact.md';
import { estimateMessages } from './tokens.js';

export interface CompactOptions {
  readonly messages: readonly Message[];
  readonly callModel: (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;
  /** The request that is due: its system prompt and tools stay, so that the prompt cache still serves. */
  readonly request: ModelRequest;
  /** What the user or a hook wants kept in mind while summarising. */
  readonly instructions?: string;
  /** Goes into the new history word for word, after the summary. */
  readonly preserve?: string;
  readonly signal: AbortSignal;
  /** How full the context was, where that is known better than by estimate. */
  readonly usedTokens?: number;
}

export interface Compaction {
  readonly summaryText: string;
  /** The history from now on. The first message carries the summary. */
  readonly newMessages: readonly Message[];
  readonly preTokens: number;
  readonly postTokens: number;
}

/** The history stays unchanged in every case. */
export type CompactFailure =
  | { readonly kind: 'nothing_to_compact' }
  | { readonly kind: 'empty_summary' }
  | { readonly kind: 'model_failure'; readonly failure: ModelFailure };

/** How many of the last answers stay as they are, with the results of their calls, and what they may take. */
const KEEP_RECENT = 2;
const KEEP_TOKENS = 20_000;
const RETRIES_WHEN_TOO_LONG = 2;

/** Asks the model for a summary of the history and builds the history that takes its place. */
export async function compact(
  options: CompactOptions,
): Promise<Result<Compaction, CompactFailure>> {
  const { messages } = options;
  if (!messages.some((message) => message.role === 'assistant')) {
    return err({ kind: 'nothing_to_compact' });
  }
  const said = await askForSummary(options);
  if (!said.ok) return said;
  const summaryText = unwrap(said.value);
  if (summaryText === '') return err({ kind: 'empty_summary' });

  const newMessages = shortened(options, summaryText);
  const before = estimateMessages(messages);
  const preTokens = options.usedTokens ?? before;
  // What is not history (system prompt, tools) stays in the context and in the count.
  const postTokens = Math.max(0, preTokens - before) + estimateMessages(newMessages);
  return ok({ summaryText, newMessages, preTokens, postTokens });
}

async function askForSummary(options: CompactOptions): Promise<Result<string, CompactFailure>> {
  let messages = options.messages;
  for (let retries = 0; ; retries++) {
    const said = await readText(options, withInstruction(messages, options.instructions));
    if (said.ok) return said;
    const isTooLong = said.error.kind === 'prompt_too_long';
    const shorter = isTooLong ? withoutOldest(messages) : undefined;
    if (shorter === undefined || retries === RETRIES_WHEN_TOO_LONG) {
      return err({ kind: 'model_failure', failure: said.error });
    }
    messages = shorter;
  }
}

async function readText(
  options: CompactOptions,
  messages: readonly Message[],
): Promise<Result<string, ModelFailure>> {
  const { toolChoice: _, ...request } = options.request;
  let text = '';
  for await (const event of options.callModel({ ...request, messages }, options.signal)) {
    switch (event.type) {
      case 'message_start':
      case 'retry':
      case 'fallback':
        text = '';
        break;
      case 'content_block_delta':
        if (event.delta.type === 'text_delta') text += event.delta.text;
        break;
      case 'failure':
        return err(event.failure);
      default:
        break;
    }
  }
  return ok(text);
}

function withInstruction(messages: readonly Message[], focus: string | undefined): Message[] {
  const wish = focus?.trim() ?? '';
  const text =
    wish === '' ? instruction.trim() : `${instruction.trim()}\n\nMind this too:\n${wish}`;
  return appendUser(messages, [{ type: 'text', text }]);
}

/** The inside of the summary tags; all of it where there are none; the rest where it was cut off. */
function unwrap(text: string): string {
  const start = text.indexOf('<summary>');
  if (start === -1) return text.trim();
  const end = text.lastIndexOf('</summary>');
  return text.slice(start + '<summary>'.length, end > start ? end : undefined).trim();
}

function shortened(options: CompactOptions, summary: string): readonly Message[] {
  const parts = [
    `<${SUMMARY_TAG}>\nThe conversation before this point was too long and was replaced by this summary of it:\n\n${summary}\n</${SUMMARY_TAG}>`,
    options.preserve?.trim() ?? '',
  ];
  const content: UserBlock[] = parts
    .filter((text) => text !== '')
    .map((text) => ({ type: 'text', text }));
  const kept = recent(options)
    .map(withoutThinking)
    .filter((message) => message.content.length > 0);
  return kept[0]?.role === 'user'
    ? [{ role: 'user', content: [...content, ...kept[0].content] }, ...kept.slice(1)]
    : [{ role: 'user', content }, ...kept];
}

/**
 * The last answers with the results of their calls, as many as wanted and as fit. A cut is made only
 * before an answer, so no call is parted from its result. What the user said last is kept in any case.
 */
function recent(options: CompactOptions): readonly Message[] {
  const { messages } = options;
  let start = messages.length;
  // The first answer always goes: keeping all of them would summarise nothing.
  for (const index of answerStarts(messages).slice(1).slice(-KEEP_RECENT).toReversed()) {
    if (estimateMessages(messages.slice(index)) > KEEP_TOKENS) break;
    start = index;
  }
  return start < messages.length ? messages.slice(start) : pendingPrompt(messages.at(-1));
}

/** A thinking block is bound to the very messages before it; with those gone, providers refuse it. */
function withoutThinking(message: Message): Message {
  if (message.role === 'user') return message;
  const content = message.content.filter(
    (block) => block.type !== 'thinking' && block.type !== 'redacted_thinking',
  );
  return content.length === message.content.length ? message : { role: 'assistant', content };
}

function pendingPrompt(last: Message | undefined): readonly UserMessage[] {
  if (last?.role !== 'user') return [];
  const said = last.content.filter((block) => block.type !== 'tool_result');
  return said.length === 0 ? [] : [{ role: 'user', content: said }];
}

/** Leaves out the older half, by estimate. Undefined when there is nothing left to leave out. */
function withoutOldest(messages: readonly Message[]): readonly Message[] | undefined {
  const half = estimateMessages(messages) / 2;
  const starts = answerStarts(messages).filter((index) => index > 1);
  const cut = starts.find((index) => estimateMessages(messages.slice(index)) <= half);
  const start = cut ?? starts.at(-1);
  if (start === undefined) return undefined;
  const note = '[The conversation before this point was left out: it was too long to summarise.]';
  return [{ role: 'user', content: [{ type: 'text', text: note }] }, ...messages.slice(start)];
}

/** Where an answer begins. Answers that follow each other count as one. */
function answerStarts(messages: readonly Message[]): number[] {
  return messages.flatMap((message, index) =>
    message.role === 'assistant' && messages[index - 1]?.role !== 'assistant' ? index : [],
  );
}

function appendUser(messages: readonly Message[], content: readonly UserBlock[]): Message[] {
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { role: 'user', content: [...last.content, ...content] }]
    : [...messages, { role: 'user', content }];
}

/** Marks the summary for the model, and for code that looks for it in a history. */
export const SUMMARY_TAG = 'conversation-summary';
