import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import {
  type AssistantBlock,
  type ModelStopReason,
  type ToolUseBlock,
  type Usage,
  ZERO_USAGE,
} from '../../protocol/content.js';
import type { MalformedInput } from '../../protocol/tool-call.js';
import type { BlockDelta, ModelEvent } from '../client.js';

/** An answer as far as the stream tells it. */
export interface AccumulatedMessage {
  readonly id: string;
  readonly model: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: ModelStopReason | null;
  readonly usage: Usage;
  /** By tool use id. */
  readonly malformed: ReadonlyMap<string, MalformedInput>;
  readonly requestId: string | undefined;
}

/**
 * Builds an answer from the events of a model client. Push every event; `answer()` after
 * `message_stop`. What arrived before a `retry`, `fallback` or new `message_start` is forgotten.
 */
export class MessageAccumulator {
  id = '';
  model = '';
  /** The counts reported so far. */
  usage: Usage = ZERO_USAGE;
  #requestId: string | undefined;
  #stopReason: ModelStopReason | null = null;
  readonly #open = new Map<number, OpenBlock>();
  readonly #done = new Map<number, DoneBlock>();
  readonly #ids = new Set<string>();

  /** The block that this event completed, if any. Empty text blocks are left out of the answer. */
  push(event: ModelEvent): AssistantBlock | undefined {
    switch (event.type) {
      case 'retry':
      case 'fallback':
        this.#reset();
        return undefined;
      case 'message_start':
        this.#reset();
        this.id = event.message.id;
        this.model = event.message.model;
        this.#requestId = event.requestId;
        this.usage = mergeUsage(ZERO_USAGE, event.message.usage);
        return undefined;
      case 'content_block_start':
        this.#open.set(event.index, openBlock(event.content_block));
        return undefined;
      case 'content_block_delta':
        this.#delta(event.index, event.delta);
        return undefined;
      case 'content_block_stop':
        return this.#close(event.index, { cut: false });
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        if (event.usage !== undefined) this.usage = mergeUsage(this.usage, event.usage);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The answer, with blocks that were never closed taken for cut off. */
  answer(): AccumulatedMessage {
    for (const index of this.#open.keys()) this.#close(index, { cut: true });
    const content: AssistantBlock[] = [];
    const malformed = new Map<string, MalformedInput>();
    for (const [, done] of [...this.#done].sort(([a], [b]) => a - b)) {
      content.push(done.block);
      const broken = this.#verdict(done, content.length === this.#done.size);
      if (broken !== undefined && done.block.type === 'tool_use')
        malformed.set(done.block.id, broken);
    }
    return {
      id: this.id,
      model: this.model,
      content,
      stopReason: this.#stopReason,
      usage: this.usage,
      malformed,
      requestId: this.#requestId,
    };
  }

  /** The stop reason arrives after the blocks, so why an input is broken is known only now. */
  #verdict(done: DoneBlock, last: boolean): MalformedInput | undefined {
    const limit = this.#stopReason === 'max_tokens' && last;
    if (done.malformed !== undefined) {
      return limit ? { ...done.malformed, cause: 'output_limit' } : done.malformed;
    }
    // fail-closed: the limit fell on a call of which no input came yet; {} is not what was meant.
    if (limit && done.inputMissing) return { raw: '', cause: 'output_limit' };
    return undefined;
  }

  #reset(): void {
    this.id = '';
    this.model = '';
    this.#requestId = undefined;
    this.usage = ZERO_USAGE;
    this.#stopReason = null;
    this.#open.clear();
    this.#done.clear();
    this.#ids.clear();
  }

  #delta(index: number, delta: BlockDelta): void {
    let open = this.#open.get(index);
    if (open === undefined) {
      open = openBlock({ type: IMPLIED[delta.type] });
      this.#open.set(index, open);
    }
    switch (delta.type) {
      case 'text_delta':
        open.text += textIn(delta.text);
        break;
      case 'thinking_delta':
        open.text += textIn(delta.thinking);
        break;
      case 'signature_delta':
        open.signature += textIn(delta.signature);
        break;
      case 'input_json_delta':
        open.json += textIn(delta.partial_json);
        break;
    }
  }

  #close(index: number, options: { readonly cut: boolean }): AssistantBlock | undefined {
    const open = this.#open.get(index);
    if (open === undefined) return undefined;
    this.#open.delete(index);
    const done = this.#finish(open, index, options);
    if (done !== undefined) this.#done.set(index, done);
    return done?.block;
  }

  #finish(
    open: OpenBlock,
    index: number,
    options: { readonly cut: boolean },
  ): DoneBlock | undefined {
    switch (open.start.type) {
      case 'text':
        return open.text === '' ? undefined : { block: { type: 'text', text: open.text } };
      case 'thinking':
        return { block: { type: 'thinking', thinking: open.text, signature: open.signature } };
      case 'tool_use':
        return this.#finishTool(open, index, options);
      default:
        // A kind that we do not know is kept as it came, so that it can be sent back.
        return { block: open.start as unknown as AssistantBlock };
    }
  }

  #finishTool(open: OpenBlock, index: number, options: { readonly cut: boolean }): DoneBlock {
    const { input, malformed } = toolInput(open, options);
    const name = typeof open.start.name === 'string' ? open.start.name : '';
    const block: ToolUseBlock = {
      type: 'tool_use',
      id: this.#toolId(open.start.id, index),
      name: name === '' ? 'unnamed_tool' : name,
      input,
    };
    const inputMissing = open.json === '' && Object.keys(input).length === 0;
    return { block, malformed, inputMissing };
  }

  #toolId(given: unknown, index: number): string {
    let id = typeof given === 'string' && given !== '' ? given : `toolu_${this.id}_${index}`;
    // The suffix may itself make an id that was given to another call.
    while (this.#ids.has(id)) id = `${id}_${index}`;
    this.#ids.add(id);
    return id;
  }
}

interface OpenBlock {
  readonly start: { readonly type: string; readonly [key: string]: unknown };
  text: string;
  signature: string;
  json: string;
}

interface DoneBlock {
  readonly block: AssistantBlock;
  readonly malformed?: MalformedInput | undefined;
  readonly inputMissing?: boolean;
}

/** Which block a delta belongs to when its start was never sent. */
const IMPLIED: Readonly<Record<BlockDelta['type'], string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
};

function openBlock(start: OpenBlock['start']): OpenBlock {
  const text = start.type === 'thinking' ? start.thinking : start.text;
  return { start, text: textIn(text), signature: textIn(start.signature), json: '' };
}

/** The types say what a server should send; some send null, and one that lies sends anything. */
function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toolInput(
  open: OpenBlock,
  options: { readonly cut: boolean },
): { readonly input: Record<string, unknown>; readonly malformed?: MalformedInput } {
  const raw = open.json;
  if (raw.trim() === '') {
    if (options.cut) return { input: {}, malformed: { raw, cause: 'cut_stream' } };
    // Some servers send the whole input with the start of the block.
    return { input: isRecord(open.start.input) ? open.start.input : {} };
  }
  const parsed = parseJson(raw);
  if (!parsed.ok) {
    return { input: {}, malformed: { raw, cause: options.cut ? 'cut_stream' : 'invalid_json' } };
  }
  if (!isRecord(parsed.value)) return { input: {}, malformed: { raw, cause: 'not_an_object' } };
  return { input: parsed.value };
}

/**
 * Later counts replace earlier ones: the API reports running totals. fail-closed: what is no count
 * is passed over, or a negative one would give a budget back what was spent.
 */
export function mergeUsage(base: Usage, later: Partial<Usage>): Usage {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(isRecord(later) ? later : {})) {
    if (value === undefined || value === null) continue;
    if (!Object.hasOwn(ZERO_USAGE, name))
      merged[name] = DETAILS.has(name) ? onlyCounts(value) : value;
    else if (isCount(value)) merged[name] = value;
  }
  // Every count is a number: those of the base were, and only numbers replace them.
  return merged as unknown as Usage;
}

/** Counts within counts that are paid for. */
const DETAILS: ReadonlySet<string> = new Set(['cache_creation', 'server_tool_use']);

function onlyCounts(details: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(isRecord(details) ? details : {}).filter(([, value]) => isCount(value)),
  );
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
