import type { QueuedPrompt, SessionEvent } from './events.js';

/** The prompts that no turn has taken yet, in the order in which they will be. */
export class PromptQueue {
  #prompts: QueuedPrompt[] = [];

  push(prompt: QueuedPrompt): void {
    if (prompt.priority === 'now') this.#prompts.unshift(prompt);
    else this.#prompts.push(prompt);
  }

  get all(): readonly QueuedPrompt[] {
    return this.#prompts;
  }

  get size(): number {
    return this.#prompts.length;
  }

  get first(): QueuedPrompt | undefined {
    return this.#prompts[0];
  }

  /** The next prompt is no part of a turn with others. */
  get startsAlone(): boolean {
    return this.first !== undefined && standsAlone(this.first);
  }

  /** What the next turn begins with: a command or addition alone, else all prompts up to the next one. */
  takeTurn(): readonly QueuedPrompt[] {
    return this.#prompts.splice(0, this.startsAlone ? 1 : this.#untilAlone());
  }

  /** What may join a turn that is already running. */
  takeForRunning(): readonly QueuedPrompt[] {
    const end = this.#untilAlone();
    return this.#take(({ priority }, index) => index < end && priority !== 'later');
  }

  /** False: it is not there, or a turn has it already. */
  cancel(uuid: string): boolean {
    return this.#take(({ message }) => message.uuid === uuid).length > 0;
  }

  #untilAlone(): number {
    const at = this.#prompts.findIndex(standsAlone);
    return at === -1 ? this.#prompts.length : at;
  }

  #take(wanted: (prompt: QueuedPrompt, index: number) => boolean): readonly QueuedPrompt[] {
    const taken = this.#prompts.filter(wanted);
    if (taken.length > 0) this.#prompts = this.#prompts.filter((one) => !taken.includes(one));
    return taken;
  }
}

function standsAlone({ append, command }: QueuedPrompt): boolean {
  return append === true || command !== undefined;
}

/** The prompts of one turn: tells clients when they start and end. */
export class TurnPrompts {
  /** Of the prompts whose clients chose the id and want to hear of their end. */
  ids: readonly string[] = [];
  readonly #emit: (event: SessionEvent) => void;

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  /** Gives back what the session takes of them. */
  start(prompts: readonly QueuedPrompt[]): readonly QueuedPrompt['message'][] {
    return prompts.map(({ message, named }) => {
      if (named) this.ids = [...this.ids, message.uuid];
      this.#emit({ type: 'prompt', id: message.uuid, state: 'started', named });
      return message;
    });
  }

  end(state: 'completed' | 'cancelled'): void {
    const { ids } = this;
    this.ids = [];
    for (const id of ids) this.#emit({ type: 'prompt', id, state, named: true });
  }
}
