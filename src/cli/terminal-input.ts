import type { EventEmitter } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** Puts a question and resolves to the answer. Undefined: no answer, which is a no. */
export type AskLine = (question: string, signal?: AbortSignal) => Promise<string | undefined>;

export interface TerminalInputOptions {
  readonly reader: Interface;
  /** What `reader` reads; emits `keypress`. */
  readonly keys: EventEmitter;
  /** Whether a person types here. A pipe answers nothing. */
  readonly isTerminal: boolean;
  /** The terminal knows no escape sequences. */
  readonly isDumb?: boolean;
  out(text: string): void;
  /** A prompt, whole: several lines where it was pasted or continued. */
  onLine?(text: string): void;
}

/** A person who is typing is not interrupted by a question until the keys have rested this long. */
const REST_MS = 500;
/** Long enough for the event loop to read all that was typed so far. */
const READ_MS = 20;
const PROMPT = '> ';
const CONTINUED = '… ';
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

/**
 * What a person types: prompts, also ahead of time, and answers to questions. Only what is typed after
 * a question appeared answers it; a half-typed line is set aside and returns at the next prompt.
 */
export class TerminalInput {
  readonly #options: TerminalInputOptions;
  /** Lines of a prompt that is not complete yet: pasted, or continued with a backslash. */
  #lines: string[] = [];
  #isPasting = false;
  /** Half a prompt that a question set aside. */
  #draft = '';
  #lastKey = Number.NEGATIVE_INFINITY;
  #isAtPrompt = false;
  #isOver = false;
  /** What is on the screen does not end with a line feed. */
  #isMidLine = false;
  /** Output that waits until the question is answered or the typed line is complete. */
  #waiting = '';
  #lastQuestion: Promise<unknown> = Promise.resolve();
  #question: { answer(line: string | undefined): void } | undefined;

  constructor(options: TerminalInputOptions) {
    this.#options = options;
    const { reader, keys, isTerminal } = options;
    reader.setPrompt('');
    reader.on('line', (line) => this.#takeLine(line));
    reader.on('close', () => {
      this.#isOver = true;
      if (isTerminal && (this.#isAtPrompt || this.#question !== undefined)) options.out('\n');
      if (this.#usesEscapes) options.out(PASTE_OFF);
      this.#question?.answer(undefined);
    });
    // Readline pauses itself when the program comes back from the background.
    reader.on('SIGCONT', () => {
      if (this.#usesEscapes) options.out(PASTE_ON);
      reader.resume();
    });
    if (isTerminal) keys.on('keypress', (_text, key) => this.#takeKey(key));
    if (this.#usesEscapes) options.out(PASTE_ON);
  }

  get #usesEscapes(): boolean {
    return this.#options.isTerminal && this.#options.isDumb !== true;
  }

  /** The prompt is shown and no question is open. */
  get isAtPrompt(): boolean {
    return this.#isAtPrompt && this.#question === undefined;
  }

  /** Nothing of the next prompt has been typed yet. */
  get isEmpty(): boolean {
    return this.#options.reader.line === '' && this.#lines.length === 0;
  }

  /** Shows output above what is being typed; while a question is open, the output waits. */
  print(text: string): void {
    const { isTerminal, reader } = this.#options;
    if (text === '') return;
    const isTyping = isTerminal && (this.#isAtPrompt || reader.line !== '');
    if (this.#question !== undefined) this.#waiting += text;
    else if (isTyping) this.#printAbove(text);
    else this.#write(text);
  }

  /** Questions wait for each other: two at once would share an answer. */
  readonly ask: AskLine = (question, signal) => {
    const asking = this.#lastQuestion.then(() => this.#ask(question, signal));
    this.#lastQuestion = asking;
    return asking;
  };

  async #ask(question: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { isTerminal, reader } = this.#options;
    if (!isTerminal || this.#isOver) {
      // fail-closed: a pipe is no person, and what it holds was written before the question.
      this.print(`${question}\n`);
      return undefined;
    }
    await this.#setDraftAside();
    if (signal?.aborted === true) {
      if (this.#isAtPrompt) this.showPrompt();
      return undefined;
    }
    const lines = question.split('\n');
    const prompt = lines.pop() ?? '';
    this.#write(`${this.#isMidLine ? '\n' : ''}${lines.map((line) => `${line}\n`).join('')}`);
    const answer = await this.#nextLine(prompt, signal);
    reader.setPrompt('');
    this.#write(this.#takeWaiting());
    if (this.#isAtPrompt) this.showPrompt();
    return answer;
  }

  /** Leaves the open question without an answer. False: there is none. */
  cancelQuestion(): boolean {
    const isAsking = this.#question !== undefined;
    this.#question?.answer(undefined);
    return isAsking;
  }

  /** Text that the next prompt begins with. */
  offer(text: string): void {
    this.#draft = text;
  }

  /** Forgets what is typed and shows an empty prompt below the message. */
  clear(message: string): void {
    this.#takeTyped();
    this.#write(`\n${message}\n`);
    this.showPrompt();
  }

  showPrompt(): void {
    const { reader, isTerminal } = this.#options;
    this.#isAtPrompt = true;
    if (!isTerminal || this.#isOver || this.#question !== undefined) return;
    this.#write(`${this.#isMidLine ? '\n' : ''}${this.#takeWaiting()}`);
    const lines = [...this.#lines, ...this.#takeDraft().split('\n')];
    const last = lines.pop() ?? '';
    this.#lines = lines;
    const shown = lines.map((line, at) => `${at === 0 ? PROMPT : CONTINUED}${line}\n`);
    this.#write(shown.join(''));
    reader.setPrompt(lines.length === 0 ? PROMPT : CONTINUED);
    reader.prompt(true);
    if (last !== '') reader.write(last);
  }

  /** A turn runs: what is typed now is shown without a prompt. */
  hidePrompt(): void {
    const { reader, isTerminal } = this.#options;
    if (!this.#isAtPrompt) return;
    this.#isAtPrompt = false;
    if (!isTerminal || this.#question !== undefined) return;
    this.#erase();
    reader.setPrompt('');
    if (reader.line !== '') reader.prompt(true);
  }

  #takeKey(key: { readonly name?: string } | undefined): void {
    this.#lastKey = performance.now();
    if (key?.name !== 'paste-start' && key?.name !== 'paste-end') return;
    this.#isPasting = key.name === 'paste-start';
    // A tab in pasted text is a tab.
    Object.assign(this.#options.reader, { isCompletionEnabled: !this.#isPasting });
  }

  #takeLine(typed: string): void {
    const { reader, isTerminal } = this.#options;
    const isContinued = /(^|[^\\])(\\\\)*\\$/.test(typed);
    this.#isMidLine = false;
    if (this.#isPasting || isContinued) {
      this.#lines.push(isContinued && !this.#isPasting ? typed.slice(0, -1) : typed);
      reader.setPrompt(CONTINUED);
      if (isTerminal) reader.prompt();
      return;
    }
    const text = [...this.#lines, typed].join('\n');
    this.#lines = [];
    reader.setPrompt('');
    if (this.#question === undefined) {
      this.#isAtPrompt = false;
      this.#write(this.#takeWaiting());
      this.#options.onLine?.(text);
    } else this.#question.answer(text);
  }

  #nextLine(prompt: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { reader } = this.#options;
    return new Promise((resolve) => {
      const withdraw = (): void => answer(undefined);
      const answer = (line: string | undefined): void => {
        this.#question = undefined;
        signal?.removeEventListener('abort', withdraw);
        // fail-closed: what was typed for this question answers no other one.
        this.#takeTyped();
        if (line === undefined) this.#write('\n');
        resolve(line);
      };
      this.#question = { answer };
      signal?.addEventListener('abort', withdraw, { once: true });
      reader.setPrompt(prompt);
      reader.prompt();
    });
  }

  /** fail-closed: what was typed before a question appeared must not be part of its answer. */
  async #setDraftAside(): Promise<void> {
    await delay(READ_MS);
    const isTyping = (): boolean => performance.now() - this.#lastKey < REST_MS;
    while (this.#isPasting || (this.#options.reader.line !== '' && isTyping())) {
      await delay(READ_MS);
    }
    if (this.#isAtPrompt || this.#options.reader.line !== '') this.#erase();
    const typed = this.#takeTyped();
    this.#draft = [this.#draft, typed].filter((text) => text !== '').join(' ');
  }

  #takeTyped(): string {
    const { reader } = this.#options;
    const typed = [...this.#lines, reader.line].join('\n');
    this.#lines = [];
    Object.assign(reader, { line: '', cursor: 0 });
    return typed;
  }

  #takeDraft(): string {
    // A line that is being typed stays as it is; the draft waits for the next prompt.
    if (this.#options.reader.line !== '') return '';
    const draft = this.#draft;
    this.#draft = '';
    return draft;
  }

  #takeWaiting(): string {
    const text = this.#waiting;
    this.#waiting = '';
    return text;
  }

  /** Whole lines go above what is typed; the rest waits for its end. */
  #printAbove(text: string): void {
    const all = `${this.#takeWaiting()}${text}`;
    const end = all.lastIndexOf('\n') + 1;
    this.#waiting = all.slice(end);
    if (end === 0) return;
    this.#erase();
    this.#write(all.slice(0, end));
    this.#options.reader.prompt(true);
  }

  #erase(): void {
    const { reader, out } = this.#options;
    const { rows } = reader.getCursorPos();
    // Typing began behind output that did not end its line: that row stays.
    if (this.#options.isDumb === true || this.#isMidLine) out('\n');
    else out(`${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`);
    this.#isMidLine = false;
  }

  #write(text: string): void {
    if (text === '') return;
    this.#options.out(text);
    this.#isMidLine = !text.endsWith('\n');
  }
}

/** The second of two has to come within this time. */
const TOGETHER_MS = 1_000;

/**
 * Calls `then` when Escape is pressed twice. A terminal sends two that come quickly as one key with
 * `meta`, and slower ones as two keys.
 */
export function onDoubleEscape(
  keys: EventEmitter,
  then: () => void,
  now: () => number = Date.now,
): void {
  let last = Number.NEGATIVE_INFINITY;
  keys.on('keypress', (_text: string | undefined, key: Key | undefined) => {
    if (key?.name !== 'escape') {
      last = Number.NEGATIVE_INFINITY;
      return;
    }
    const isSecond = key.meta === true || now() - last <= TOGETHER_MS;
    last = isSecond ? Number.NEGATIVE_INFINITY : now();
    if (isSecond) then();
  });
}

interface Key {
  readonly name?: string;
  readonly meta?: boolean;
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
