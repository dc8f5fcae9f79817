/** What the program knows about a key of the settings, beside its shape. */
export interface KeyFacts {
  /** A fault in it stops the start. Holds for what is inside too, until that says otherwise. */
  readonly restricts?: boolean;
  /** From a project's files it is in force only once the folder is trusted. */
  readonly needsTrust?: true;
  /** The values that hold back, strictest first: they need no trust. */
  readonly strict?: string | boolean | readonly string[];
  /** The restrictive value wins in any source. */
  readonly strictest?: true;
  /** Taken whole from the strongest source that has it. */
  readonly whole?: true;
  /** `managed`: administrators alone. `user`: not from a project's files. */
  readonly scope?: 'managed' | 'user';
  /** `later`: accepted, without effect in this version. `elsewhere`: other programs' look and feel. */
  readonly status?: 'later' | 'elsewhere';
  /** Read at the time of use, with all below it: a change takes effect in an open session. */
  readonly live?: true;
  /** A `later` key that people rely on as a fence: setting it stops the start. */
  readonly unenforced?: true;
}

/** The values of a key that hold back, strictest first. */
export function strictValues({ strict }: KeyFacts): readonly (string | boolean)[] {
  if (strict === undefined) return [];
  return typeof strict === 'object' ? strict : [strict];
}

/** The shape of a setting and the facts about it; generated from the schema. */
export type SettingNode = Shape & {
  readonly facts?: KeyFacts;
  /** What to say of a value that is not of this shape: `is not a UUID`. */
  readonly problem?: string;
};

type Shape =
  | { readonly type: 'any' | 'boolean' }
  | { readonly type: 'string'; readonly pattern?: string }
  | {
      readonly type: 'number' | 'integer';
      readonly least?: number;
      readonly above?: number;
      readonly most?: number;
    }
  | { readonly type: 'choice'; readonly values: readonly (string | boolean | number)[] }
  | { readonly type: 'list'; readonly of: SettingNode }
  | { readonly type: 'map'; readonly of: SettingNode }
  | { readonly type: 'one'; readonly of: readonly SettingNode[] }
  | {
      readonly type: 'object';
      readonly keys: Readonly<Record<string, SettingNode>>;
      readonly required?: readonly string[];
      /** Unknown keys are kept without a word. */
      readonly open?: true;
    };

export type SettingTable = Readonly<Record<string, SettingNode>>;
