import type { RuleText, SettingsFile, SourcedRule, Way } from '../types.js';

/** A list of rules in a settings file. */
export interface RuleListPlace {
  readonly owner: SettingsFile;
  readonly way: Way;
}

/**
 * A permission rule as an item of such a list. A class: there may be hundreds, all but their texts is
 * the list's, and the lines of most are never told.
 */
export class ListedRule implements SourcedRule {
  readonly value: RuleText;
  readonly #list: RuleListPlace;
  readonly #index: number;

  constructor(value: RuleText, list: RuleListPlace, index: number) {
    this.value = value;
    this.#list = list;
    this.#index = index;
  }

  get source(): SettingsFile['source'] {
    return this.#list.owner.source;
  }

  get trusted(): boolean {
    return this.#list.owner.trusted;
  }

  get file(): string | undefined {
    return this.#list.owner.file;
  }

  get line(): number | undefined {
    return this.#list.owner.lineOf([...this.#list.way, this.#index]);
  }
}
