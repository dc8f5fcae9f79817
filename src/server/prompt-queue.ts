import type { InputMessage } from '../harness.js';

/** A prompt that waits for its turn. */
export interface QueuedPrompt {
  readonly message: InputMessage;
  /** The id was chosen by the host, who may want to hear what becomes of it. */
  readonly named: boolean;
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
  let waiting: QueuedPrompt[] = [];
  const take = (holds: (prompt: QueuedPrompt) => boolean): readonly QueuedPrompt[] => {
    const taken = waiting.filter(holds);
    waiting = waiting.filter((prompt) => !holds(prompt));
    return taken;
  };
  const beforeOrder = (): ReadonlySet<QueuedPrompt> => {
    const at = waiting.findIndex(({ order }) => order !== undefined);
    return new Set(at === -1 ? waiting : waiting.slice(0, at));
  };
  return {
    push(prompt) {
      if (prompt.priority === 'now') waiting.unshift(prompt);
      else waiting.push(prompt);
    },
    takeAll: () => take(() => true),
    takeTurn() {
      const [first] = waiting;
      if (first?.order !== undefined) return take((prompt) => prompt === first);
      const joined = beforeOrder();
      return take((prompt) => joined.has(prompt));
    },
    get nextOrder() {
      return waiting[0]?.order;
    },
    takeForRunning() {
      const joined = beforeOrder();
      return take((prompt) => joined.has(prompt) && prompt.priority !== 'later');
    },
    cancel: (uuid) => take(({ message }) => message.uuid === uuid).length > 0,
    ids: () => waiting.map(({ message }) => message.uuid),
    get size() {
      return waiting.length;
    },
  };
}
