import type { SessionEvent } from '../client/events.js';
import type { InputMessage, LoopEvent } from '../harness.js';
import { type ToolUseBlock, textOf } from '../protocol/content.js';
import { printable } from '../util/printable.js';
import { ellipsis } from '../util/truncate.js';

export interface RenderOptions {
  readonly colour: boolean;
  /** The longest line of a tool call or result, now. */
  width(): number;
  /** Whether text is shown as it comes; otherwise with the whole answer, as hooks want it shown. */
  streams(): boolean;
}

const SHOWN_LINES = 4;
const ASKS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

/** Turns the events of a session into text for a plain terminal. */
export class PlainRenderer {
  readonly #options: RenderOptions;
  /** The blocks of the answer that were shown as they came. */
  #streamed = new Set<number>();
  #isMidLine = false;

  constructor(options: RenderOptions) {
    this.#options = options;
  }

  /** What the event adds to the screen; empty: nothing. */
  render(event: SessionEvent): string {
    if (event.type === 'stream') return this.#delta(event.event);
    const text = this.#line(event);
    if (text === '') return '';
    const whole = `${this.#isMidLine ? '\n' : ''}${text}\n`;
    this.#isMidLine = false;
    return whole;
  }

  #delta(event: Extract<LoopEvent, { type: 'stream' }>['event']): string {
    switch (event.type) {
      case 'message_start':
        this.#streamed = new Set();
        return '';
      case 'content_block_delta': {
        if (event.delta.type !== 'text_delta' || !this.#options.streams()) return '';
        this.#streamed.add(event.index);
        const text = printable(event.delta.text);
        if (text !== '') this.#isMidLine = !text.endsWith('\n');
        return text;
      }
      case 'content_block_stop':
        return this.#endLine();
      default:
        return '';
    }
  }

  #endLine(): string {
    const end = this.#isMidLine ? '\n' : '';
    this.#isMidLine = false;
    return end;
  }

  #line(event: Exclude<SessionEvent, { type: 'stream' }>): string {
    switch (event.type) {
      case 'answer':
        return this.#answer(event);
      case 'tool_result':
        return this.#result(event);
      case 'retry': {
        const { failure } = event.event;
        // What was shown of the failed answer is not part of the next one.
        this.#streamed = new Set();
        return this.#paint('33', `! ${this.#cut(failure.message)}; ${retryText(event.event)}`);
      }
      case 'notice':
        // The end of the turn says it.
        if (event.tag === 'prompt_blocked') return '';
        return this.#paint(event.level === 'warning' ? '33' : '2', `! ${printable(event.text)}`);
      case 'compacting':
        return this.#dim('Summarising the conversation …');
      case 'compacted':
        return this.#dim(
          `Conversation summarised: ${event.preTokens} → ${event.postTokens} tokens`,
        );
      case 'compaction_failed':
        return this.#paint(
          '33',
          `! The conversation could not be summarised: ${this.#cut(event.reason)}`,
        );
      case 'writes_lost':
        return this.#paint(
          '31',
          `! The transcript cannot be written (${event.code}): ${event.lost} lines are kept in memory only.`,
        );
      case 'task_started': {
        const { agent } = event;
        const name =
          agent === undefined ? event.taskId : `${this.#cut(agent.type)} (${event.taskId})`;
        const where = agent?.background === false ? 'works' : 'runs in the background';
        return this.#dim(`  ${name} ${where}: ${this.#cut(event.description)}`);
      }
      case 'task_finished':
        return this.#dim(`  ${event.taskId} ${event.status}: ${this.#cut(event.summary)}`);
      case 'child':
        return this.#child(event);
      case 'config_changed':
        return this.#dim(`Settings changed: ${printable(event.files.join(', '))}`);
      case 'mode':
        return this.#dim(`mode: ${event.mode}`);
      case 'input':
        return arrivalText(event.message);
      case 'turn_finished':
        return event.turn.problem === '' ? '' : `! ${printable(event.turn.problem)}`;
      default:
        return '';
    }
  }

  #answer({ answer, display }: Extract<SessionEvent, { type: 'answer' }>): string {
    const lines = answer.message.content.map((block, index) => {
      if (block.type === 'tool_use') return this.#call(block);
      if (block.type !== 'text' || this.#streamed.has(index)) return '';
      return printable(display?.[index] ?? block.text);
    });
    this.#streamed = new Set();
    return lines.filter((text) => text !== '').join('\n');
  }

  #call({ name, input }: ToolUseBlock): string {
    // The question itself shows what these ask.
    const subject = ASKS.has(name) ? '' : this.#cut(subjectOf(input), name.length + 3);
    return `${this.#paint('36', `→ ${this.#cut(name)}`)} ${this.#dim(subject)}`.trimEnd();
  }

  #result({ call, result }: Extract<SessionEvent, { type: 'tool_result' }>): string {
    const { content, is_error } = result.block;
    const text = typeof content === 'string' ? content : textOf(content) || '(not text)';
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const head = `  ${is_error === true ? '✗' : '✓'} ${this.#cut(call.name)}`;
    const shown = lines.slice(0, SHOWN_LINES).map((line) => `    ${this.#cut(line, 4)}`);
    if (lines.length > shown.length) shown.push(`    … ${lines.length - shown.length} more lines`);
    const whole =
      lines.length === 1
        ? `${head}: ${this.#cut(text, head.length + 2)}`
        : [head, ...shown].join('\n');
    return is_error === true ? this.#paint('31', whole) : this.#dim(whole);
  }

  #child({ agent, event }: Extract<SessionEvent, { type: 'child' }>): string {
    if (event.type !== 'answer') return '';
    const name = this.#cut(agent.path.split('/').at(-1) ?? agent.type);
    return event.answer.message.content
      .flatMap((block) =>
        block.type === 'tool_use'
          ? [this.#dim(`  ${name} → ${this.#cut(block.name)} ${this.#cut(subjectOf(block.input))}`)]
          : [],
      )
      .join('\n');
  }

  #paint(code: string, text: string): string {
    return this.#options.colour ? `\u001b[${code}m${text}\u001b[0m` : text;
  }

  #dim(text: string): string {
    return this.#paint('2', text);
  }

  #cut(text: string, taken = 0): string {
    const width = Math.max(20, this.#options.width() - taken);
    return ellipsis(printable(text).replace(/\s+/g, ' ').trim(), width);
  }
}

/** What follows a failed request of the model. The first time with what to do about it. */
export function retryText(event: Extract<LoopEvent, { type: 'retry' }>['event']): string {
  if (event.type === 'fallback') return printable(`going on with ${event.to}`);
  const { attempt, maxRetries, delayMs, failure } = event;
  const remedy = attempt === 1 && failure.remedy !== undefined ? ` · ${failure.remedy}` : '';
  const wait = `trying again in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxRetries})`;
  return printable(`${wait}${remedy}`);
}

/** Messages of teammates, a line each. */
function arrivalText({ content }: Pick<InputMessage, 'content'>): string {
  return [...textOf(content).matchAll(TEAM_MESSAGE)]
    .map(([, from = '', kind, said = '']) => {
      const what = kind === undefined ? '' : ` (${kind})`;
      return `← ${printable(from)}${what}: ${ellipsis(printable(said), 160)}`;
    })
    .join('\n');
}

const TEAM_MESSAGE =
  /<teammate-message id="m[\da-f]+" from="([\w-]+)"(?: kind="(\w+)")?[^>\n]*>\n([^\n]*)/g;

const SUBJECT_FIELDS = [
  'command',
  'file_path',
  'notebook_path',
  'pattern',
  'url',
  'subject',
  'task_id',
];

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  const main = SUBJECT_FIELDS.find((key) => typeof input[key] === 'string');
  return main === undefined ? JSON.stringify(input) : String(input[main]);
}
