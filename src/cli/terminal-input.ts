import type { EventEmitter } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { LineQueue } from './line-queue.js';

/** Puts a question and resolves to the answer. Undefined: no answer, which is a no. */
export type AskLine = (question: string, signal?: AbortSignal) => Promise<string | undefined>;

export interface TerminalInputOptions {
  readonly reader: Interface;
  /** What `reader` reads; emits `keypress`. */
  readonly keys: EventEmitter;
  /** Whether a person types here. A pipe answers nothing. */
  readonly isTerminal: boolean;
  out(text: string): void;
}

/** A person who is typing is not interrupted by a question until the keys have rested this long. */
const REST_MS = 500;
/** Long enough for the event loop to read all that was typed so far. */
const READ_MS = 20;
const PROMPT = '> ';

/**
 * What a person types: prompts, also ahead of time, and answers to questions. Only what is typed after
 * a question appeared answers it; a half-typed line is set aside and returns at the next prompt.
 */
export class TerminalInput {
  readonly lines = new LineQueue();
  readonly #options: TerminalInputOptions;
  #draft = '';
  #lastKey = Number.NEGATIVE_INFINITY;
  #isAtPrompt = false;
  #question: AbortController | undefined;

  constructor(options: TerminalInputOptions) {
    this.#options = options;
    const { reader, keys } = options;
    reader.on('line', (line) => this.lines.push(line));
    reader.on('close', () => this.lines.end());
    keys.on('keypress', () => {
      this.#lastKey = performance.now();
    });
  }

  /** The prompt is shown and the person may type. */
  get isAtPrompt(): boolean {
    return this.#isAtPrompt;
  }

  readonly ask: AskLine = async (question, signal) => {
    const { out, isTerminal } = this.#options;
    if (!isTerminal) {
      // fail-closed: a pipe is no person, and what it holds was written before the question.
      out(`${question}\n`);
      return undefined;
    }
    await this.#setDraftAside();
    if (signal?.aborted === true) return undefined;
    out(question);
    // A question of a turn comes with a signal and ends with the turn.
    if (signal === undefined) this.#question = new AbortController();
    const answer = await this.lines.fresh(signal ?? this.#question?.signal);
    if (signal === undefined) this.#question = undefined;
    if (this.#isAtPrompt) this.#showPrompt();
    return answer;
  };

  /** Leaves a question that was put outside of a turn without an answer. False: there is none. */
  cancelQuestion(): boolean {
    const isAsking = this.#question !== undefined;
    this.#question?.abort();
    return isAsking;
  }

  /** Text that the next prompt begins with. */
  offer(text: string): void {
    this.#draft = text;
  }

  /** Forgets the half-typed line and shows an empty prompt below the message. */
  clear(message: string): void {
    this.#takeHalfLine();
    this.#options.out(`\n${message}\n`);
    this.#showPrompt();
  }

  /** Shows the prompt while `wait` runs. */
  async prompt<T>(wait: () => Promise<T>): Promise<T> {
    this.#showPrompt();
    this.#isAtPrompt = true;
    try {
      return await wait();
    } finally {
      this.#isAtPrompt = false;
    }
  }

  #showPrompt(): void {
    const { out, reader, isTerminal } = this.#options;
    out(PROMPT);
    const draft = this.#draft;
    this.#draft = '';
    if (isTerminal && draft !== '') reader.write(draft);
  }

  /** fail-closed: what was typed before a question appeared must not be part of its answer. */
  async #setDraftAside(): Promise<void> {
    await delay(READ_MS);
    while (this.#options.reader.line !== '' && performance.now() - this.#lastKey < REST_MS) {
      await delay(READ_MS);
    }
    this.#draft += this.#takeHalfLine();
  }

  #takeHalfLine(): string {
    const { reader } = this.#options;
    const { line } = reader;
    Object.assign(reader, { line: '', cursor: 0 });
    return line;
  }
}

/** Asks the person at the terminal a yes-or-no question, for commands that run without a session. */
export async function confirmAtTerminal(
  question: string,
  out: (text: string) => void,
): Promise<boolean> {
  const isTerminal = hasTerminal();
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  const input = new TerminalInput({ reader, keys: process.stdin, isTerminal, out });
  reader.once('SIGINT', () => reader.close());
  const answer = (await input.ask(`${question} [y/n] `)) ?? '';
  reader.close();
  // fail-closed: anything but a clear yes is a no, and so is the end of input.
  return /^(y|yes)$/i.test(answer.trim());
}

/** Whether a person sees what is printed and types what is read. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}
