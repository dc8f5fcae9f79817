/** Lets everything else that waits have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

let turn = 0;
let isCounted = false;

/** A number of its own for each turn of the event loop, for what is to be done once in each. */
export function turnOfTheLoop(): number {
  if (!isCounted) {
    isCounted = true;
    // Before the loop waits for anything, so that no turn outlasts a pause.
    setImmediate(() => {
      isCounted = false;
      turn++;
    });
  }
  return turn;
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
