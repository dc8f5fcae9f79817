import { whyNotStored } from '../journal/states.js';
import type { NodeState } from '../types.js';

/** More than these are not named. */
const MOST_NAMED = 5;

/** Files that stand in the tree and whose bytes are not in the store. */
export class UnkeptFiles {
  readonly #why = new Map<string, string>();

  note(path: string, state: NodeState | undefined): void {
    const why = state === undefined ? undefined : whyNotStored(state);
    if (why === undefined) this.#why.delete(path);
    else this.#why.set(path, why);
  }

  /** For a person. The same for the same files, so that a point need not be amended twice. */
  texts(): readonly string[] {
    const texts = [...this.#why]
      .slice(0, MOST_NAMED)
      .map(([path, why]) => `the bytes of ${JSON.stringify(path)} are not kept: ${why}`);
    if (this.#why.size > MOST_NAMED) texts.push('the bytes of more files are not kept');
    return texts;
  }
}
