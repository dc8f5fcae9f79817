const HINT_MS = 2_000;

const TOGGLES = {
  todos: ['Tasks are shown.', 'Tasks are hidden.'],
  thinking: ['Thinking is shown.', 'Thinking is folded.'],
  receipts: ['Calls show who allowed them, and why.', 'Calls no longer show who allowed them.'],
} as const;

type Toggle = keyof typeof TOGGLES;

/** What the person has chosen to see, and a hint that replaces the status line for a moment. */
export class DisplayOptions {
  hint: string | undefined;
  readonly #shown = new Set<Toggle>(['todos']);
  readonly #onChange: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  shows(what: Toggle): boolean {
    return this.#shown.has(what);
  }

  toggle(what: Toggle): void {
    const isShown = !this.#shown.delete(what);
    if (isShown) this.#shown.add(what);
    this.flash(TOGGLES[what][isShown ? 0 : 1]);
  }

  flash(hint: string): void {
    this.hint = hint;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.hint = undefined;
      this.#onChange();
    }, HINT_MS);
    this.#onChange();
  }

  /** The hint, for a terminal that writes it once. */
  takeHint(): string | undefined {
    const { hint } = this;
    this.hint = undefined;
    return hint;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
