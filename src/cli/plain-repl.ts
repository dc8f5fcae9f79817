import type { CommandChoice, CommandOutput, SessionEvent } from '../client/events.js';
import type { SessionClient } from '../client/session-client.js';
import { PortcullisError } from '../errors.js';
import type { SessionInfo } from '../harness.js';
import { printable } from '../util/printable.js';
import { ellipsis } from '../util/truncate.js';
import type { Dialogs } from './dialog.js';
import type { PlainRenderer } from './render.js';
import type { TerminalInput } from './terminal-input.js';

export interface PlainReplParts {
  readonly client: SessionClient;
  readonly input: TerminalInput;
  readonly dialogs: Dialogs;
  readonly renderer: PlainRenderer;
  readonly isTerminal: boolean;
  /** The session continues an earlier conversation, whose end is shown. */
  readonly isResumed?: boolean;
}

/** A second Ctrl+C this soon after the first one leaves. */
const TWICE_MS = 3_000;
/** Entries of an earlier conversation that are shown when it is continued. */
const SHOWN_HISTORY = 4;
const SHOWN_CHARACTERS = 600;

/** A plain, line-based client of a session: prints what happens, sends what is typed, answers questions. */
export class PlainRepl {
  readonly #parts: PlainReplParts;
  /** Prompts and commands under way. */
  #pending = 0;
  #isTurnRunning = false;
  #isOpen = false;
  #isResuming: boolean;
  /** No more lines come. */
  #isEnding = false;
  #hasLeft = false;
  #lastInterrupt = Number.NEGATIVE_INFINITY;
  /** Whether a turn has run in this conversation. */
  hasRun = false;
  /** Resolves once the person has left or the session is closed. */
  readonly left: Promise<'left' | 'interrupted'>;
  #leave: (how: 'left' | 'interrupted') => void = () => undefined;
  /** Lines of a pipe run one after the other. */
  #last: Promise<void> = Promise.resolve();
  readonly #finished = new Map<string, () => void>();

  constructor(parts: PlainReplParts) {
    this.#parts = parts;
    this.#isResuming = parts.isResumed === true;
    this.left = new Promise((resolve) => {
      this.#leave = (how) => {
        this.#hasLeft = true;
        resolve(how);
      };
    });
    parts.client.subscribe(({ event }) => this.#show(event));
  }

  /** The session is open and the person may type. */
  begin(prompt: string | undefined): void {
    this.#isOpen = true;
    if (prompt !== undefined) this.take(prompt);
    this.#settle();
  }

  /** A line of the person, or several that were pasted or continued. */
  take(line: string): void {
    const text = line.trim();
    const work = text.startsWith('/') ? () => this.#command(text) : () => this.#prompt(text);
    if (text === '') this.#settle();
    else if (this.#parts.isTerminal) void this.#track(work);
    else this.#last = this.#last.then(() => this.#track(work));
  }

  /** No more lines come: what is under way is finished first. */
  end(): void {
    void this.#last.then(() => {
      if (this.#pending === 0 && !this.#isTurnRunning) this.#leave('left');
      else this.#isEnding = true;
    });
  }

  /**
   * Ctrl+C: interrupts the turn, refuses an open question, or at the prompt clears what is typed. The
   * second one leaves.
   */
  interrupt(): void {
    const { client, input } = this.#parts;
    const isSecond = performance.now() - this.#lastInterrupt < TWICE_MS;
    this.#lastInterrupt = performance.now();
    if (input.isAtPrompt) {
      if (isSecond) this.#leave('interrupted');
      else input.clear('Press Ctrl+C again to quit.');
      return;
    }
    void client.send('interrupt', { cancelQueued: true }).then(({ interrupted }) => {
      if (interrupted) input.print('Interrupted. Press Ctrl+C again to quit.\n');
      else if (!input.cancelQuestion() && isSecond) this.#leave('interrupted');
    });
  }

  async #track(work: () => Promise<void>): Promise<void> {
    this.#pending++;
    this.#parts.input.hidePrompt();
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof PortcullisError)) throw thrown;
      this.#print(`! ${thrown.message}${thrown.remedy === undefined ? '' : ` · ${thrown.remedy}`}`);
    } finally {
      this.#pending--;
      this.#settle();
    }
  }

  async #prompt(text: string): Promise<void> {
    const { client, isTerminal } = this.#parts;
    const id = crypto.randomUUID();
    const done = new Promise<void>((resolve) => this.#finished.set(id, resolve));
    // A line of a pipe is a turn of its own; what a person types meanwhile steers the running turn.
    const priority = isTerminal ? 'next' : 'later';
    await client.send('prompt', { content: [{ type: 'text', text }], id, priority });
    await done;
  }

  async #command(line: string): Promise<void> {
    const { client, input } = this.#parts;
    let next: string | undefined = line;
    while (next !== undefined) {
      const output: CommandOutput = await client.send('command', { line: next });
      if (output.text !== '') this.#print(`${output.failed === true ? '! ' : ''}${output.text}`);
      if (output.draft !== undefined) input.offer(printable(output.draft));
      if (output.exit === true) this.#leave('left');
      next = await this.#choose(output.choices ?? []);
    }
  }

  /** The line of the choice that the person makes. */
  async #choose(choices: readonly CommandChoice[]): Promise<string | undefined> {
    const { input, isTerminal } = this.#parts;
    if (choices.length === 0) return undefined;
    const rows = choices.map(({ label, description = '', current }, at) => {
      const about = description === '' ? '' : `  (${printable(description)})`;
      return `${current === true ? '*' : ' '}${String(at + 1).padStart(3)}  ${printable(label)}${about}`;
    });
    if (!isTerminal) {
      this.#print(rows.join('\n'));
      return undefined;
    }
    const question = [...rows, `Number [1-${rows.length}, Enter to cancel] `].join('\n');
    const line = ((await input.ask(question)) ?? '').trim();
    if (/^\d{1,4}$/.test(line)) return choices[Number(line) - 1]?.line;
    // Another command instead of a number; anything else is kept for the prompt.
    if (line.startsWith('/')) return line;
    input.offer(line);
    return undefined;
  }

  #show(event: SessionEvent): void {
    const { client, input, renderer, dialogs, isTerminal } = this.#parts;
    if (event.type === 'turn_started') {
      this.#isTurnRunning = true;
      this.hasRun = true;
      input.hidePrompt();
    }
    input.print(renderer.render(event));
    switch (event.type) {
      case 'opened':
        this.#greet(event.info);
        break;
      case 'replacing':
        this.#isResuming = event.trigger === 'resume';
        break;
      case 'question': {
        const { question } = event;
        if (isTerminal) void dialogs.show(question, (given) => client.answer(question.id, given));
        break;
      }
      case 'question_closed':
        dialogs.withdraw(event.id);
        break;
      case 'prompt':
        if (event.state === 'completed' || event.state === 'cancelled') {
          this.#finished.get(event.id)?.();
          this.#finished.delete(event.id);
        }
        break;
      case 'turn_finished':
        this.#isTurnRunning = false;
        this.#settle();
        break;
      case 'closed':
        this.#leave('left');
    }
  }

  #greet({ model, cwd, mode }: SessionInfo): void {
    if (!this.#isOpen) {
      this.#print(`Portcullis · ${model} · ${cwd} · mode ${mode}\n/help for help`);
    }
    if (this.#isResuming) void this.#track(() => this.#showHistory());
    this.#isResuming = false;
  }

  async #showHistory(): Promise<void> {
    const entries = await this.#parts.client.send('history', { limit: SHOWN_HISTORY });
    for (const { role, text } of entries) {
      const shown = ellipsis(text, SHOWN_CHARACTERS);
      if (text !== '') this.#print(`${role === 'user' ? '> ' : ''}${shown}`);
    }
  }

  /** Shows the prompt once nothing is under way. */
  #settle(): void {
    if (this.#pending > 0 || this.#isTurnRunning || !this.#isOpen || this.#hasLeft) return;
    if (this.#isEnding) this.#leave('left');
    else this.#parts.input.showPrompt();
  }

  #print(text: string): void {
    this.#parts.input.print(`${printable(text)}\n`);
  }
}
