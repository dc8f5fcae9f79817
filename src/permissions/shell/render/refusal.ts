/** What kept a text from being rendered. */
type RenderRefusalCode =
  /** The parser reports an error, or was not run: the text is too long or holds control characters. */
  | 'syntax'
  /** Syntax whose meaning depends on more than the text, or that no rendering is known for. */
  | 'construct'
  /** Quotes or escapes in a place where writing them anew may change what they mean. */
  | 'quoting'
  /** Text that the parser and bash may read differently. */
  | 'ambiguous'
  /** It takes more steps or levels than a judgement may. */
  | 'size'
  /** Rendering the result again gives another text. */
  | 'unstable';

export interface RenderRefusal {
  readonly code: RenderRefusalCode;
  /** Completes "it …". */
  readonly reason: string;
}

export type Rendering =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly refusal: RenderRefusal };

export class RenderError extends Error {
  readonly refusal: RenderRefusal;

  constructor(code: RenderRefusalCode, reason: string) {
    super(reason);
    this.name = 'RenderError';
    this.refusal = { code, reason };
  }
}

/** fail-closed: what cannot be written out faithfully is not written at all. */
export function refuse(code: RenderRefusalCode, reason: string): never {
  throw new RenderError(code, reason);
}
