import type { StreamEvent } from './client.js';
import type { Reply, ScriptedBlock } from './script-format.js';

type FullReply = Exclude<Reply, string>;

/** The blocks that a reply says, in order. */
export function blocksOf(reply: FullReply): Exclude<ScriptedBlock, string>[] {
  const blocks: ScriptedBlock[] = [];
  if (reply.thinking !== undefined) blocks.push({ thinking: reply.thinking });
  if (reply.text !== undefined) blocks.push({ text: reply.text });
  if (reply.tool !== undefined) {
    const { tool, input, id, rawInput } = reply;
    blocks.push({ tool, input, id, rawInput });
  }
  blocks.push(...(reply.blocks ?? []));
  return blocks.map((block) => (typeof block === 'string' ? { text: block } : block));
}

export function toolIdOf(
  block: { readonly id?: string | undefined },
  serial: number,
  index: number,
): string {
  return block.id ?? `toolu_script_${serial}_${index}`;
}

/** What the model would write as the input of a call. */
export function inputTextOf(block: {
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly rawInput?: string | undefined;
}): string {
  return block.rawInput ?? JSON.stringify(block.input ?? {});
}

export function stopReasonOf(reply: FullReply): string {
  if (reply.stopReason !== undefined) return reply.stopReason;
  return blocksOf(reply).some((block) => 'tool' in block) ? 'tool_use' : 'end_turn';
}

/** A reply as the events of the Messages API. */
export function eventsOf(
  reply: FullReply,
  options: { readonly serial: number; readonly model: string },
): StreamEvent[] {
  const { serial, model } = options;
  const usage = { input_tokens: 10, output_tokens: 5, ...reply.usage };
  const events: StreamEvent[] = [
    {
      type: 'message_start',
      message: { id: `msg_script_${serial}`, model, usage: { ...usage, output_tokens: 1 } },
    },
  ];
  for (const [index, block] of blocksOf(reply).entries()) {
    events.push(...blockEvents(block, { serial, index }));
  }
  events.push(
    {
      type: 'message_delta',
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  );
  return events;
}

function blockEvents(
  block: Exclude<ScriptedBlock, string>,
  options: { readonly serial: number; readonly index: number },
): StreamEvent[] {
  const { serial, index } = options;
  const stop: StreamEvent = { type: 'content_block_stop', index };
  if ('tool' in block) {
    const id = toolIdOf(block, serial, index);
    const start = { type: 'tool_use', id, name: block.tool, input: {} };
    const pieces = halves(inputTextOf(block));
    return [
      { type: 'content_block_start', index, content_block: start },
      ...pieces.map((partial_json): StreamEvent => {
        return {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json },
        };
      }),
      stop,
    ];
  }
  if ('thinking' in block) {
    const start = { type: 'thinking', thinking: '', signature: '' };
    const { thinking } = block;
    const signature = block.signature ?? 'c2NyaXB0ZWQ=';
    return [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } },
      { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } },
      stop,
    ];
  }
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...halves(block.text).map((text): StreamEvent => {
      return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
    }),
    stop,
  ];
}

/** Two pieces, as a real stream never sends a text in one. */
function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  const cut = /[\ud800-\udbff]/.test(text[middle - 1] ?? '') ? middle + 1 : middle;
  return [text.slice(0, cut), text.slice(cut)].filter((piece) => piece !== '');
}
