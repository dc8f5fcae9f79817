/** Lets everything else that waits have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Longest stretch that long work may keep everybody else waiting. */
const SLICE_MS = 4;

/** Divides long work into short stretches. */
export class Turns {
  #until = performance.now() + SLICE_MS;

  /** Whether the stretch is used up. */
  isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Returns at once while the stretch lasts. */
  async pause(): Promise<void> {
    if (!this.isOver()) return;
    await nextTurn();
    this.#until = performance.now() + SLICE_MS;
  }
}
