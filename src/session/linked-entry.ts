import type { EntryBase, TranscriptEntry } from '../protocol/transcript.js';
import { countOfLearned, maySurelyHold } from '../util/redact.js';

/** What every entry says that one agent records in one directory. */
export type CommonFields = Pick<
  EntryBase,
  | 'isSidechain'
  | 'agentId'
  | 'userType'
  | 'cwd'
  | 'sessionId'
  | 'version'
  | 'gitBranch'
  | 'entrypoint'
>;

/** The fields of an entry behind those that all have in common, in the order of the format. */
export type OwnFields<Entry extends TranscriptEntry = TranscriptEntry> =
  Entry extends TranscriptEntry ? Omit<Entry, 'parentUuid' | keyof CommonFields> : never;

/** The fields that entries have in common, with their text: it is made, and searched for secrets, once. */
export class Envelope {
  readonly fields: CommonFields;
  /** The fields as JSON, without the braces. */
  readonly text: string;
  /** The name of the entry that was searched last and holds nothing: the next one hangs on it as a rule. */
  cleanUuid: string | null = null;
  #mayHold = true;
  #searchedFor = -1;

  constructor(fields: CommonFields) {
    this.fields = fields;
    this.text = JSON.stringify(fields).slice(1, -1);
  }

  /** As `maySurelyHold` of the text: it is searched again when there are more secrets to search for. */
  mayHold(): boolean {
    const learned = countOfLearned();
    if (learned !== this.#searchedFor) {
      this.#searchedFor = learned;
      this.cleanUuid = null;
      this.#mayHold = maySurelyHold(this.text);
    }
    return this.#mayHold;
  }
}

/** An entry on its way into a store. */
export class LinkedEntry {
  readonly type: TranscriptEntry['type'];
  readonly own: OwnFields;
  readonly #parentUuid: string | null;
  readonly #envelope: Envelope;

  constructor(parentUuid: string | null, envelope: Envelope, own: OwnFields) {
    this.type = own.type;
    this.own = own;
    this.#parentUuid = parentUuid;
    this.#envelope = envelope;
  }

  /** For whoever keeps or shows entries, not lines. */
  whole(): TranscriptEntry {
    const parentUuid = this.#parentUuid;
    return { parentUuid, ...this.#envelope.fields, ...this.own } as TranscriptEntry;
  }

  /** The whole as compact JSON. Undefined: it may hold a secret, or holds what is not JSON, and is to be looked at part by part. */
  cleanJson(): string | undefined {
    try {
      const envelope = this.#envelope;
      const parentUuid = this.#parentUuid;
      const parent = JSON.stringify(parentUuid);
      const own = JSON.stringify(this.own);
      // What is taken out is a part of one string, and each string of the entry stands in one of these texts.
      if (envelope.mayHold() || maySurelyHold(own)) return undefined;
      if (parentUuid !== envelope.cleanUuid && maySurelyHold(parent)) return undefined;
      envelope.cleanUuid = this.own.uuid;
      return `{"parentUuid":${parent},${envelope.text},${own.slice(1)}`;
    } catch {
      // Cycles, big integers, more than a string can hold: the store knows what to write instead.
      return undefined;
    }
  }
}

/** As an object, however it was given. */
export function plainLine<Line extends object>(line: Line | LinkedEntry): Line | TranscriptEntry {
  return line instanceof LinkedEntry ? line.whole() : line;
}
