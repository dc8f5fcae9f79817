import { createInterface } from 'node:readline';
import type { SessionEvent } from '../client/events.js';
import type { SessionClient } from '../client/session-client.js';
import { messageOf } from '../errors.js';
import type { PipeListener } from '../tui/index.js';

/** The lines of a pipe: each is a prompt or a command, and they run one after the other. */
export class PipedPrompts {
  readonly #client: SessionClient;
  readonly #listener: PipeListener;
  /** Prompts that are not answered yet, those of skills too. */
  readonly #open = new Set<string>();
  readonly #finished = new Map<string, () => void>();
  #last: Promise<void>;
  #isTurnRunning = false;
  #isOver = false;

  constructor(client: SessionClient, listener: PipeListener) {
    this.#client = client;
    this.#listener = listener;
    this.#last = new Promise((resolve) => {
      const follow = (event: SessionEvent): void => {
        if (event.type === 'opened') resolve();
        else this.#follow(event);
      };
      client.subscribe(({ event }) => follow(event), { after: 0 });
    });
  }

  read(input: NodeJS.ReadableStream, prompt: string | undefined): void {
    if (prompt !== undefined) this.#add(prompt);
    const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    reader.on('line', (line) => this.#add(line));
    reader.on('close', () => {
      void this.#last.then(() => {
        this.#isOver = true;
        this.#settle();
      });
    });
  }

  #add(text: string): void {
    const line = text.trim();
    if (line !== '') this.#last = this.#last.then(() => this.#run(line));
  }

  #follow(event: SessionEvent): void {
    if (event.type === 'turn_started') this.#isTurnRunning = true;
    else if (event.type === 'turn_finished') this.#isTurnRunning = false;
    else if (event.type !== 'prompt') return;
    else if (event.state === 'queued') this.#open.add(event.id);
    else if (event.state !== 'started') {
      this.#open.delete(event.id);
      this.#finished.get(event.id)?.();
    }
    this.#settle();
  }

  #settle(): void {
    if (this.#isOver && !this.#isTurnRunning && this.#open.size === 0) this.#listener.onEnd();
  }

  async #run(line: string): Promise<void> {
    try {
      if (line.startsWith('/')) {
        this.#listener.onOutput(line, await this.#client.send('command', { line }));
        return;
      }
      const id = crypto.randomUUID();
      const finished = new Promise<void>((resolve) => this.#finished.set(id, resolve));
      const content = [{ type: 'text', text: line }] as const;
      await this.#client.send('prompt', { content, id, priority: 'later' });
      await finished;
    } catch (thrown) {
      this.#listener.onProblem(messageOf(thrown));
    }
  }
}
