import type { InputMessage } from '../harness.js';

/** A prompt that waits for its turn. */
export interface QueuedPrompt {
  readonly message: InputMessage;
  /** The id was chosen by the host, who may want to hear what becomes of it. */
  readonly named: boolean;
  /** `later`: not folded into a running turn. `now`: before all others. */
  readonly priority: 'now' | 'next' | 'later';
}

/** The prompts that no turn has taken yet, in the order in which they will be. */
export interface PromptQueue {
  push(prompt: QueuedPrompt): void;
  /** Everything, for a new turn. */
  takeAll(): readonly QueuedPrompt[];
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
  return {
    push(prompt) {
      if (prompt.priority === 'now') waiting.unshift(prompt);
      else waiting.push(prompt);
    },
    takeAll: () => take(() => true),
    takeForRunning: () => take(({ priority }) => priority !== 'later'),
    cancel: (uuid) => take(({ message }) => message.uuid === uuid).length > 0,
    ids: () => waiting.map(({ message }) => message.uuid),
    get size() {
      return waiting.length;
    },
  };
}
