import type { ListKind } from '../server.js';
import { type PlainKind, type Unusable, unusableText } from './list-problems.js';
import type { SafeError } from './safe-error.js';
import type { SafeWords } from './safe-error-of.js';

/** Of one kind: a server whose list is wrong in another way each time is told of no more. */
const MOST_TOLD = 5;

/** Resources and prompts of one server that cannot be used: told once, and kept for whoever looks at it. */
export class LeftOut {
  readonly #words: SafeWords;
  readonly #tell: (text: string) => void;
  readonly #now = new Map<PlainKind, string>();
  readonly #told = { resources: new Set<string>(), prompts: new Set<string>() };

  constructor(words: SafeWords, tell: (text: string) => void) {
    this.#words = words;
    this.#tell = tell;
  }

  /** What is not offered of a list that has come. */
  listed(kind: ListKind, unusable: readonly Unusable[]): void {
    if (kind !== 'tools') this.#note(kind, unusableText(kind, this.#words.server, unusable));
  }

  /** The list itself could not be had from a server that is there. */
  failed(kind: ListKind, error: SafeError): void {
    if (kind === 'tools' || !OF_THE_LIST.has(error.code)) return;
    this.#note(kind, `no ${kind} are offered: ${error.message}`);
  }

  texts(): readonly string[] {
    return [...this.#now.values()];
  }

  #note(kind: PlainKind, text: string | undefined): void {
    if (text === undefined) {
      this.#now.delete(kind);
      return;
    }
    this.#now.set(kind, text);
    const told = this.#told[kind];
    if (told.has(text) || told.size >= MOST_TOLD) return;
    told.add(text);
    this.#tell(text);
  }
}

/** Other failures are those of the connection, which is told of for itself. */
const OF_THE_LIST: ReadonlySet<SafeError['code']> = new Set([
  'protocol',
  'server-error',
  'call-timeout',
]);
