import type { Envelope, Json, Receipt } from './types.js';

/** One entry of a transcript. */
export interface Item {
  readonly id: string;
  readonly kind: 'user' | 'text' | 'thinking' | 'tool' | 'notice' | 'turn';
  readonly time: string;
  /** Path of the agent; empty for the main agent. */
  readonly agent: string;
  readonly text: string;
  readonly level?: string | undefined;
  readonly tool?: ToolItem | undefined;
}

export interface ToolItem {
  readonly name: string;
  readonly input: unknown;
  readonly state: 'pending' | 'running' | 'asks' | 'denied' | 'done' | 'failed';
  readonly output: string;
  readonly receipt?: Receipt | undefined;
}

/** Builds a transcript from events; an event that is delivered twice has no effect. */
export class Transcript {
  readonly items: Item[] = [];
  /** The sequence number of the last event. */
  seq = 0;
  readonly #places = new Map<string, number>();
  readonly #drafts = new Map<string, string>();
  #notices = 0;

  /** Adds recorded entries, which precede the live events. */
  takeRecorded(events: readonly { readonly time: string; readonly event: Json }[]): void {
    for (const { time, event } of events) this.#take(event, time, '');
  }

  take({ seq, time, event }: Envelope): void {
    if (seq <= this.seq) return;
    this.seq = seq;
    this.#take(event, time, '');
  }

  #take(event: Json, time: string, agent: string): void {
    switch (event.type) {
      case 'child':
        this.#take(event.event as Json, time, String((event.agent as Json).path));
        return;
      case 'prompt':
        this.#prompt(event, time);
        return;
      case 'stream':
        this.#delta(event.event as Json, time, agent);
        return;
      case 'retry':
        this.#endDrafts(agent);
        this.#notice(time, agent, 'The model is asked again after a failure.', 'warning');
        return;
      case 'answer':
        this.#answer(event, time, agent);
        return;
      case 'tool':
      case 'decision':
      case 'tool_result':
      case 'question':
      case 'question_closed':
        this.#tool(event);
        return;
      case 'turn_finished':
        this.#turn(event.turn as Json, time);
        return;
      case 'shell':
        this.#shell(event, time);
        return;
      default: {
        const [text, level] = noticeOf(event);
        if (text !== undefined) this.#notice(time, agent, text, level);
      }
    }
  }

  #prompt({ id, state, content }: Json, time: string): void {
    const place = this.#places.get(`user ${id}`);
    if (state === 'cancelled' && place !== undefined) this.#change(place, { level: 'cancelled' });
    if (place === undefined && content !== undefined) {
      this.#put(`user ${id}`, { kind: 'user', time, agent: '', text: textOf(content) });
    }
  }

  #delta(event: Json, time: string, agent: string): void {
    const { type, index } = event;
    const id = `draft ${agent} ${index}`;
    if (type === 'message_start') this.#endDrafts(agent);
    if (type !== 'content_block_delta') return;
    const delta = event.delta as Json;
    const text = String(delta.text ?? delta.thinking ?? '');
    if (text === '') return;
    const kind = delta.type === 'thinking_delta' ? 'thinking' : 'text';
    const place = this.#places.get(id);
    if (place === undefined) {
      this.#drafts.set(id, agent);
      this.#put(id, { kind, time, agent, text });
    } else this.#change(place, { text: (this.items[place]?.text ?? '') + text });
  }

  /** Removes streamed parts: the whole answer replaces them. */
  #endDrafts(agent: string): void {
    for (const [id, of] of this.#drafts) {
      const place = this.#places.get(id);
      if (of !== agent || place === undefined) continue;
      this.#change(place, { text: '' });
      this.#places.delete(id);
      this.#drafts.delete(id);
    }
  }

  #answer({ answer, display }: Json, time: string, agent: string): void {
    this.#endDrafts(agent);
    const { message, blockIds } = answer as { message: Json; blockIds: readonly string[] };
    const blocks = (message.content as readonly Json[] | undefined) ?? [];
    for (const [index, block] of blocks.entries()) {
      const shown = (display as Json | undefined)?.[index];
      const text = String(shown ?? block.text ?? block.thinking ?? '');
      if (block.type === 'tool_use') {
        const tool: ToolItem = {
          name: String(block.name),
          input: block.input,
          state: 'pending',
          output: '',
        };
        this.#put(`tool ${block.id}`, { kind: 'tool', time, agent, text: '', tool });
      } else if (text !== '') {
        const kind = block.type === 'thinking' ? 'thinking' : 'text';
        this.#put(`answer ${blockIds[index]}`, { kind, time, agent, text });
      }
    }
  }

  #tool(event: Json): void {
    const change = (id: unknown, tool: Partial<ToolItem>): void => {
      const place = this.#places.get(`tool ${id}`);
      const before = place === undefined ? undefined : this.items[place]?.tool;
      if (place !== undefined && before) this.#change(place, { tool: { ...before, ...tool } });
    };
    const outputOf = (id: unknown): string =>
      this.items[this.#places.get(`tool ${id}`) ?? -1]?.tool?.output ?? '';
    if (event.type === 'decision') {
      const receipt = event.receipt as Receipt;
      change(receipt.toolUseId, { receipt });
    } else if (event.type === 'question') {
      const call = (event.question as Json).call as Json | undefined;
      if (call !== undefined) change(call.toolUseId, { state: 'asks' });
    } else if (event.type === 'tool') {
      const { toolUseId } = event.call as Json;
      const state = event.state as Json;
      if (state.kind === 'output')
        change(toolUseId, { output: `${outputOf(toolUseId)}${state.text}` });
      else change(toolUseId, { state: state.kind as ToolItem['state'] });
    } else if (event.type === 'tool_result') {
      const { id } = event.call as Json;
      const { block } = event.result as { readonly block: Json };
      const before = this.items[this.#places.get(`tool ${id}`) ?? -1]?.tool?.state;
      const state = block.is_error === true ? (before === 'denied' ? 'denied' : 'failed') : 'done';
      change(id, { output: textOf(block.content), state });
    }
  }

  #turn(turn: Json, time: string): void {
    const run = turn.run as { readonly durationMs?: number } | undefined;
    const seconds =
      run?.durationMs === undefined ? '' : ` after ${(run.durationMs / 1000).toFixed(1)} s`;
    const problem = String(turn.problem ?? '');
    const text = problem === '' ? `Turn ended${seconds}` : problem;
    const level = problem === '' ? undefined : 'warning';
    this.#put(`turn ${this.seq} ${time}`, { kind: 'turn', time, agent: '', text, level });
  }

  #shell({ call, result }: Json, time: string): void {
    const { toolUseId, input } = call as Json;
    const tool: ToolItem = { name: 'You ran', input, state: 'running', output: '' };
    if (result === undefined)
      this.#put(`tool ${toolUseId}`, { kind: 'tool', time, agent: '', text: '', tool });
    else this.#tool({ type: 'tool_result', call: { id: toolUseId }, result });
  }

  #notice(time: string, agent: string, text: string, level = 'info'): void {
    this.#notices++;
    this.#put(`notice ${time} ${this.#notices}`, { kind: 'notice', time, agent, text, level });
  }

  #put(id: string, item: Omit<Item, 'id'>): void {
    if (this.#places.has(id)) return;
    this.#places.set(id, this.items.length);
    this.items.push({ id, ...item });
  }

  #change(place: number, change: Partial<Item>): void {
    const before = this.items[place];
    if (before !== undefined) this.items[place] = { ...before, ...change };
  }
}

/** The text and level of a notice for an event that is not part of the conversation. */
function noticeOf(event: Json): readonly [text?: string, level?: string] {
  switch (event.type) {
    case 'notice':
      return [String(event.text), String(event.level)];
    case 'mode':
      return [`Mode: ${event.mode}`];
    case 'command_output':
      return [`${event.line}\n${(event.output as Json).text}`];
    case 'task_started':
      return [`Started in the background: ${event.description}`];
    case 'task_finished':
      return [`Ended (${event.status}): ${event.summary}`];
    case 'compacted':
      return ['The conversation was summarised here.'];
    case 'hook_finished':
      return event.outcome === 'error'
        ? [`Hook ${event.name} failed: ${event.stderr}`, 'warning']
        : [];
    case 'writes_lost':
      return [`The transcript cannot be written: ${event.code}`, 'warning'];
    case 'closed':
      return ['The session has ended.'];
    default:
      return [];
  }
}

/** The text of content blocks; other blocks are shown by their type. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: Json) => (block.type === 'text' ? String(block.text) : `[${String(block.type)}]`))
    .join('\n');
}

/** The most telling field of a call's input. */
export function callSummary(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const { command, file_path: file, url, pattern, description, prompt, path } = input as Json;
  const found = [command, file, url, pattern, path, description, prompt].find(
    (one) => typeof one === 'string',
  );
  return typeof found === 'string' ? found : JSON.stringify(input);
}
