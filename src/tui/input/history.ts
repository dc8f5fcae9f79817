/** Where prompts of earlier sessions are kept. */
export interface HistoryStore {
  load(): readonly string[];
  append(prompt: string): void;
}

/** The prompts that Up, Down and Ctrl+R go through, newest last. */
export class PromptHistory {
  readonly #store: HistoryStore | undefined;
  #entries: string[];
  #at: number;
  #draft = '';

  constructor(store?: HistoryStore) {
    this.#store = store;
    this.#entries = [...(store?.load() ?? [])];
    this.#at = this.#entries.length;
  }

  add(prompt: string): void {
    if (prompt.trim() !== '' && prompt !== this.#entries.at(-1)) {
      this.#entries.push(prompt);
      this.#store?.append(prompt);
    }
    this.reset();
  }

  reset(): void {
    this.#at = this.#entries.length;
    this.#draft = '';
  }

  /** The prompt before or after the one shown; undefined at either end. */
  move(by: -1 | 1, current: string): string | undefined {
    const next = this.#at + by;
    if (next < 0 || next > this.#entries.length) return undefined;
    if (this.#at === this.#entries.length) this.#draft = current;
    this.#at = next;
    return this.#entries[next] ?? this.#draft;
  }

  /** The newest prompt that contains the text, `skip` matches back. */
  search(text: string, skip = 0): string | undefined {
    const wanted = text.toLowerCase();
    const found = new Set<string>();
    for (let index = this.#entries.length - 1; index >= 0; index--) {
      const entry = this.#entries[index] ?? '';
      if (!entry.toLowerCase().includes(wanted)) continue;
      found.add(entry);
      if (found.size > skip) return entry;
    }
    return undefined;
  }
}
