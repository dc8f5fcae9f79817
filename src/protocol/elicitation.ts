/** A question of an MCP server to a person at a terminal, or to a host. */
export interface ElicitQuestion {
  readonly server: string;
  /** As the server wrote it, cut; views have to escape it. */
  readonly message: string;
  readonly mode: 'form' | 'url';
  /** Of a form. */
  readonly fields: readonly ElicitField[];
  /** For the person, before anything else. */
  readonly warnings: readonly string[];
  /** In full, never shortened: a person decides by it. Nothing opens it. */
  readonly url?: string;
  /** Who answers at that address, as the network knows it. */
  readonly host?: string;
  readonly elicitationId?: string;
  /** Of a form, as the server sent it. */
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
}

export interface ElicitReply {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Undefined: there is no one to answer. */
export type AskElicitation = (
  question: ElicitQuestion,
  signal: AbortSignal,
) => Promise<ElicitReply | undefined>;

interface CommonField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
  /** Looks like a field for a password, key or token, which a form must not ask for. */
  readonly secret: boolean;
}

export interface Choice {
  readonly value: string;
  readonly title: string;
}

export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';

export type ElicitField =
  | (CommonField & {
      readonly kind: 'text';
      readonly minLength: number;
      readonly maxLength: number;
      readonly format?: TextFormat;
      readonly pattern?: string;
      readonly fallback?: string;
    })
  | (CommonField & {
      readonly kind: 'number' | 'integer';
      readonly minimum: number;
      readonly maximum: number;
      readonly fallback?: number;
    })
  | (CommonField & { readonly kind: 'boolean'; readonly fallback?: boolean })
  | (CommonField & {
      readonly kind: 'choice';
      readonly choices: readonly Choice[];
      readonly fallback?: string;
    })
  | (CommonField & {
      readonly kind: 'choices';
      readonly choices: readonly Choice[];
      readonly minItems: number;
      readonly maxItems: number;
      readonly fallback?: readonly string[];
    });
