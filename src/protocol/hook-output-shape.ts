/** What a field of a hook's output may be; generated from the schema, small enough to walk. */
export type OutputShape =
  | 'text'
  | 'flag'
  /** Not below zero. */
  | 'amount'
  | 'object'
  | 'any'
  | { readonly words: readonly string[] }
  | { readonly list: OutputShape }
  | { readonly one: readonly OutputShape[] }
  | OutputFields;

/** An object with known fields; others are fine. */
export interface OutputFields {
  readonly fields: Readonly<Record<string, OutputShape>>;
  readonly required?: readonly string[];
}

export interface EventOutput {
  /** What stands at the top for this event alone. */
  readonly top?: Readonly<Record<string, OutputShape>>;
  /** What stands inside `hookSpecificOutput`, beside the name of the event. */
  readonly own: OutputFields;
}
