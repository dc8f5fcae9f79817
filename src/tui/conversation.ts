import type { SessionEvent, ToolCallState, ToolCallView } from '../client/events.js';
import type { HistoryEntry } from '../client/session-client.js';
import { isRecord } from '../lib/own.js';
import { textOf } from '../protocol/content.js';
import { type Entry, type EntryOptions, renderEntry } from './entries.js';
import type { Line } from './screen/line.js';
import { MarkdownStream } from './views/markdown-stream.js';
import { runningCard, type ToolCard } from './views/tool-card.js';

export interface Todo {
  readonly text: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface QueuedText {
  readonly id: string;
  readonly text: string;
}

type AgentEvent = Extract<SessionEvent, { type: 'child' }>['event'];
type StreamEvent = Extract<SessionEvent, { type: 'stream' }>['event'];

/** Rows of text that is still being written; more of it waits until its block is finished. */
const OPEN_ROWS = 14;

/**
 * The conversation of one session as the terminal shows it, derived from events: finished entries, which are
 * handed out once to be written, and what is still going on.
 */
export class Conversation {
  readonly entries: Entry[] = [];
  readonly cards = new Map<string, ToolCard>();
  todos: readonly Todo[] = [];
  queue: readonly QueuedText[] = [];
  /** How prompts are shown whose pastes stand for long texts, by id. */
  readonly shownAs = new Map<string, string>();
  /** Characters of the answer that is being written. */
  streamed = 0;
  #outbox: ((options: EntryOptions) => Line[])[] = [];
  #stream: { readonly markdown: MarkdownStream; text: string; begun: boolean } | undefined;
  #thinking: { text: string; readonly since: number } | undefined;
  /** Blocks of the current answer that were shown as they came. */
  #shownBlocks = new Set<number>();
  #tasks = new Map<string, Todo>();
  readonly #receipts = new Map<string, string>();
  readonly #now: () => number;
  readonly #echoes: boolean;

  /** `echoes`: what was typed stays on the screen as it was typed. */
  constructor({ now, echoes = false }: { now(): number; readonly echoes?: boolean | undefined }) {
    this.#now = now;
    this.#echoes = echoes;
  }

  /** Finished rows since the last call. */
  take(options: EntryOptions): Line[] {
    const rows = this.#outbox.splice(0).flatMap((render) => render(options));
    return [...rows, ...this.#takeStream(options.columns)];
  }

  /** What is being written and done now; a call that a question shows is left out. */
  live({ columns, now, showThinking }: EntryOptions, asked: ReadonlySet<string>): Line[] {
    const rows: Line[] = [];
    if (this.#stream !== undefined) {
      const open = this.#stream.markdown.open(columns).slice(-OPEN_ROWS);
      rows.push(...(this.#stream.begun || open.length === 0 ? open : [[], ...open]));
    }
    if (this.#thinking !== undefined && showThinking === true) {
      const entry = {
        kind: 'thinking',
        text: this.#thinking.text,
        durationMs: now - this.#thinking.since,
      } as const;
      rows.push(...renderEntry(entry, { columns, now, showThinking }));
    }
    const running = [...this.cards.values()].filter(
      ({ call, state }) =>
        call.agent.depth === 0 && !(state === 'pending' && asked.has(call.toolUseId)),
    );
    const cards = running.map((card) => runningCard(card, { columns, now }));
    if (cards.length > 0) rows.push([]);
    return [...rows, ...cards.flat()];
  }

  get isThinking(): boolean {
    return this.#thinking !== undefined;
  }

  get isWriting(): boolean {
    return this.#stream !== undefined;
  }

  add(entry: Entry): void {
    this.entries.push(entry);
    this.#outbox.push((options) => renderEntry(entry, options));
  }

  notice(text: string, level: 'info' | 'warning' | 'error' = 'info'): void {
    this.add({ kind: 'notice', level, text });
  }

  /** The conversation that the session continues, unless something new was said already. */
  addHistory(entries: readonly HistoryEntry[]): void {
    if (this.entries.some(({ kind }) => kind === 'prompt')) return;
    for (const { role, text, tools } of entries) {
      const kind = role === 'user' ? 'prompt' : 'text';
      if (text.trim() !== '') this.add({ kind, text });
      if (tools !== undefined) this.notice(`used ${tools.join(', ')}`);
    }
  }

  /** Forgets what belongs to a session that another one replaced. */
  reset(): void {
    this.endTurn();
    this.todos = [];
    this.#tasks.clear();
    this.entries.length = 0;
  }

  /** What the turn left unfinished will not be finished. */
  endTurn(): void {
    this.#endText();
    this.#endThinking();
    for (const card of [...this.cards.values()].filter(({ call }) => call.agent.depth === 0)) {
      this.#finishCard(card, card.state === 'denied' ? 'denied' : 'failed');
    }
  }

  follow(event: SessionEvent): void {
    switch (event.type) {
      case 'prompt':
        this.#followPrompt(event);
        return;
      case 'tool':
        this.#followTool(event.call, event.state);
        return;
      case 'decision': {
        const { toolUseId, decidedBy, reason } = event.receipt;
        this.#receipts.set(toolUseId, `${decidedBy}: ${reason}`);
        return;
      }
      case 'turn_finished':
        this.endTurn();
        if (event.turn.problem !== '') this.notice(event.turn.problem, 'warning');
        return;
      case 'command_output':
        this.add({ kind: 'command', line: event.line, output: event.output });
        return;
      case 'shell':
        if (event.result !== undefined) this.#followResult(event.call.toolUseId, event.result);
        return;
      case 'stream':
      case 'answer':
      case 'tool_result':
        this.#followAgent(event);
        return;
      case 'child':
        if (event.event.type === 'tool_result') {
          this.cards.delete(event.event.call.id);
          this.#receipts.delete(event.event.call.id);
        }
        return;
      default:
        return;
    }
  }

  #followPrompt(event: Extract<SessionEvent, { type: 'prompt' }>): void {
    if (event.state === 'queued') {
      const text = textOf(event.content ?? []);
      this.queue = [...this.queue, { id: event.id, text: text === '' ? '[image]' : text }];
      return;
    }
    const queued = this.queue.find(({ id }) => id === event.id);
    this.queue = this.queue.filter(({ id }) => id !== event.id);
    if (event.state !== 'started' || queued === undefined) return;
    const entry = { kind: 'prompt', text: this.shownAs.get(event.id) ?? queued.text } as const;
    if (this.#echoes) this.entries.push(entry);
    else this.add(entry);
    this.shownAs.delete(event.id);
  }

  #followAgent(event: AgentEvent): void {
    if (event.type === 'stream') this.#followStream(event.event);
    if (event.type === 'answer') {
      event.answer.message.content.forEach((block, index) => {
        if (this.#shownBlocks.has(index) || block.type !== 'text') return;
        this.add({ kind: 'text', text: event.display?.[index] ?? block.text });
      });
      this.#endText();
      this.#endThinking();
      this.#shownBlocks.clear();
    }
    if (event.type === 'tool_result') this.#followResult(event.call.id, event.result);
  }

  #followResult(id: string, result: NonNullable<ToolCard['result']>): void {
    const card = this.cards.get(id);
    if (card === undefined) return;
    card.result = result;
    const { state } = card;
    const isFailed = result.block.is_error === true;
    this.#finishCard(card, state === 'denied' ? state : isFailed ? 'failed' : 'done');
  }

  #followStream(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        // The provider failed in the middle of an answer and begins again.
        if (this.#stream !== undefined || this.#thinking !== undefined) {
          this.#endText();
          this.#endThinking();
          this.notice('The answer broke off and begins again.', 'warning');
        }
        this.#shownBlocks.clear();
        this.streamed = 0;
        return;
      case 'content_block_start':
        if (event.content_block.type === 'text') this.#endThinking();
        if (event.content_block.type === 'thinking')
          this.#thinking = { text: '', since: this.#now() };
        return;
      case 'content_block_delta': {
        const { delta } = event;
        if (delta.type === 'text_delta') {
          this.#shownBlocks.add(event.index);
          this.#stream ??= { markdown: new MarkdownStream(), text: '', begun: false };
          this.#stream.markdown.push(delta.text);
          this.#stream.text += delta.text;
          this.streamed += delta.text.length;
        } else if (delta.type === 'thinking_delta') {
          this.#thinking ??= { text: '', since: this.#now() };
          this.#thinking.text += delta.thinking;
          this.streamed += delta.thinking.length;
        } else if (delta.type === 'input_json_delta') {
          this.streamed += delta.partial_json.length;
        }
        return;
      }
      case 'content_block_stop':
        this.#endText();
        this.#endThinking();
        return;
      default:
        return;
    }
  }

  #followTool(call: ToolCallView, state: ToolCallState): void {
    const known = this.cards.get(call.toolUseId);
    const card: ToolCard = known ?? { call, startedAt: this.#now(), state: 'pending', output: '' };
    if (known === undefined) {
      // A call that is over was shown with its result.
      if (state.kind === 'done' || state.kind === 'failed') return;
      this.cards.set(call.toolUseId, card);
      this.#followTodos(call);
    }
    if (state.kind === 'output') card.output = `${card.output}${state.text}\n`.slice(-8000);
    else if (state.kind === 'denied') {
      card.state = 'denied';
      card.reason = state.reason;
    } else if (state.kind === 'running') {
      if (card.state === 'pending') card.startedAt = this.#now();
      card.state = 'running';
    }
    if (call.agent.depth > 0 && (state.kind === 'done' || state.kind === 'failed'))
      this.cards.delete(call.toolUseId);
  }

  #followTodos({ tool, input }: ToolCallView): void {
    if (!isRecord(input)) return;
    if (tool === 'TodoWrite' && Array.isArray(input.todos)) {
      this.todos = input.todos.filter(isRecord).map(({ content, status }) => todo(content, status));
    } else if (tool === 'TaskCreate') {
      this.#tasks.set(String(this.#tasks.size + 1), todo(input.subject, 'pending'));
      this.todos = [...this.#tasks.values()];
    } else if (tool === 'TaskUpdate') {
      const id = String(input.taskId);
      const known = this.#tasks.get(id);
      if (known === undefined) return;
      if (input.status === 'deleted') this.#tasks.delete(id);
      else this.#tasks.set(id, todo(input.subject ?? known.text, input.status ?? known.status));
      this.todos = [...this.#tasks.values()];
    }
  }

  #finishCard(card: ToolCard, state: 'done' | 'failed' | 'denied'): void {
    card.state = state;
    card.endedAt = this.#now();
    card.receipt = this.#receipts.get(card.call.toolUseId);
    this.#receipts.delete(card.call.toolUseId);
    this.cards.delete(card.call.toolUseId);
    this.add({ kind: 'tool', card });
  }

  #takeStream(columns: number): Line[] {
    const stream = this.#stream;
    if (stream === undefined) return [];
    const rows = stream.markdown.take(columns);
    if (rows.length === 0 || stream.begun) return rows;
    stream.begun = true;
    return [[], ...rows];
  }

  #endText(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = undefined;
    if (stream.text.trim() === '') return;
    this.entries.push({ kind: 'text', text: stream.text });
    this.#outbox.push(({ columns }) => {
      const rows = stream.markdown.finish(columns);
      return stream.begun || rows.length === 0 ? rows : [[], ...rows];
    });
  }

  #endThinking(): void {
    const thinking = this.#thinking;
    if (thinking === undefined) return;
    this.#thinking = undefined;
    if (thinking.text === '') return;
    this.add({ kind: 'thinking', text: thinking.text, durationMs: this.#now() - thinking.since });
  }
}

function todo(text: unknown, status: unknown): Todo {
  const known = status === 'in_progress' || status === 'completed' ? status : 'pending';
  return { text: String(text), status: known };
}
