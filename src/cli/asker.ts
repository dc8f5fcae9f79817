import type { WriteStream } from 'node:tty';
import type { AnyAnswer, Question } from '../client/questions.js';
import { QuestionQueue } from '../tui/dialogs/question-queue.js';
import { readText } from '../tui/index.js';
import { KeyReader } from '../tui/input/key-reader.js';
import type { InputEvent } from '../tui/input/keys.js';
import { openDevice } from '../tui/node-device.js';
import { Window } from '../tui/window.js';

/** Puts questions to the person at the terminal outside of a conversation: as lines, one at a time. */
export class Asker {
  readonly #output: WriteStream;
  readonly #queue = new QuestionQueue({
    readText,
    now: () => performance.now(),
    appendOnly: true,
  });
  readonly #answers = new Map<string, (answer: AnyAnswer) => void>();
  readonly #keys = new KeyReader({
    onEvent: (event) => this.#handle(event),
    onIdle: () => this.#draw(),
  });
  /** Open while something is asked: otherwise keys such as Ctrl+C keep their usual meaning. */
  #window: Window | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(output: WriteStream) {
    this.#output = output;
  }

  /** Resolves to the answer; a question that is withdrawn has none. */
  async ask(question: Question): Promise<AnyAnswer> {
    return await new Promise((resolve) => {
      this.#answers.set(question.id, resolve);
      this.#queue.add(question);
      if (this.#window === undefined) {
        const device = openDevice(process.stdin, this.#output);
        device.onInput((data) => this.#keys.feed(data));
        const kind = (process.env.TERM ?? 'dumb') === 'dumb' ? 'dumb' : 'lines';
        this.#window = new Window(device, { colour: false, kind });
      }
      this.#draw();
    });
  }

  /** The question is over: it has expired, or its call was interrupted. */
  withdraw(id: string): void {
    this.#answers.delete(id);
    this.#queue.remove(id);
    this.#draw();
  }

  #handle(event: InputEvent): void {
    if (event.type === 'paste') this.#queue.paste(event.text);
    if (event.type !== 'key') return;
    const { key } = event;
    if (key.id === 'enter' && this.#queue.settlesIn === 0)
      this.#window?.commit(this.#queue.view(0, 0)?.lines ?? []);
    const asked = this.#queue.press(key.id === 'ctrl+c' ? { id: 'escape', text: '' } : key);
    if (asked?.answer === undefined) return;
    this.#answers.get(asked.id)?.(asked.answer);
    this.withdraw(asked.id);
  }

  #draw(): void {
    const window = this.#window;
    clearTimeout(this.#timer);
    window?.commit(this.#queue.print(window.size.columns));
    window?.draw(() => {
      const answer = this.#queue.view(0, 0);
      return answer !== undefined && this.#queue.settlesIn === 0 ? answer : { lines: [] };
    });
    const next = this.#queue.redrawIn();
    if (next !== undefined) this.#timer = setTimeout(() => this.#draw(), next);
    if (this.#queue.size > 0) return;
    this.#keys.close();
    window?.close();
    this.#window = undefined;
  }
}
