import type { InputMessage } from '../harness.js';

/** A prompt that waits for its turn. */
export interface QueuedPrompt {
  readonly message: InputMessage;
  /** The id was chosen by the host, who may want to hear what becomes of it. */
  readonly named: boolean;
  /** Where the host says it comes from; the result of its turn repeats it. */
  readonly origin?: Readonly<Record<string, unknown>>;
  /** What is done with it in place of a turn; then it stands alone. */
  readonly order?: PromptOrder;
  /** `later`: not folded into a running turn. `now`: before all others. */
  readonly priority: 'now' | 'next' | 'later';
}

/** `append`: it is only added to the conversation. The others are commands of the runtime itself. */
export type PromptOrder = 'clear' | 'context' | 'cost' | 'compact' | 'append';

/** The prompts that no turn has taken yet, in the order in which they will be. */
export interface PromptQueue {
  push(prompt: QueuedPrompt): void;
  /** Everything that waits. */
  takeAll(): readonly QueuedPrompt[];
  /** What the next turn begins with: an order alone, or all up to the next order. */
  takeTurn(): readonly QueuedPrompt[];
  /** The order that is next. */
  readonly nextOrder: PromptOrder | undefined;
  /** What may join a turn that is already running. */
  takeForRunning(): readonly QueuedPrompt[];
  /** Takes one back. False: it is not there, or a turn has it already. */
  cancel(uuid: string): boolean;
  ids(): readonly string[];
  readonly size: number;
}

export function createPromptQueue(): PromptQueue {
  return new Waiting();
}

class Waiting implements PromptQueue {
  #prompts: QueuedPrompt[] = [];

  push(prompt: QueuedPrompt): void {
    if (prompt.priority === 'now') this.#prompts.unshift(prompt);
    else this.#prompts.push(prompt);
  }

  takeAll(): readonly QueuedPrompt[] {
    return this.#prompts.splice(0);
  }

  takeTurn(): readonly QueuedPrompt[] {
    return this.#prompts.splice(0, this.nextOrder === undefined ? this.#beforeOrder() : 1);
  }

  get nextOrder(): PromptOrder | undefined {
    return this.#prompts[0]?.order;
  }

  takeForRunning(): readonly QueuedPrompt[] {
    // Asked after every round of a turn, almost always in vain.
    if (this.#prompts.length === 0) return NONE;
    const joined = this.#beforeOrder();
    return this.#take((prompt, index) => index < joined && prompt.priority !== 'later');
  }

  cancel(uuid: string): boolean {
    return this.#take(({ message }) => message.uuid === uuid).length > 0;
  }

  ids(): readonly string[] {
    return this.#prompts.map(({ message }) => message.uuid);
  }

  get size(): number {
    return this.#prompts.length;
  }

  /** How many stand before the first order. */
  #beforeOrder(): number {
    const at = this.#prompts.findIndex(({ order }) => order !== undefined);
    return at === -1 ? this.#prompts.length : at;
  }

  #take(holds: (prompt: QueuedPrompt, index: number) => boolean): readonly QueuedPrompt[] {
    const taken = this.#prompts.filter(holds);
    if (taken.length > 0) this.#prompts = this.#prompts.filter((one) => !taken.includes(one));
    return taken;
  }
}

const NONE: readonly QueuedPrompt[] = [];

/** Where the first prompt of a turn comes from, as its host said it. */
export function originField(prompts: readonly QueuedPrompt[]): Readonly<Record<string, unknown>> {
  if (prompts.length === 0) return { origin: { kind: 'task-notification' } };
  const origin = prompts.find((prompt) => prompt.origin !== undefined)?.origin;
  return origin === undefined ? {} : { origin };
}
