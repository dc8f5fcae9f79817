import type { SeenScripts } from './scripts.js';

/** The kinds of declarations, as shown to people. */
export type DeclarationKind =
  | 'hook'
  | 'helper'
  | 'status line'
  | 'MCP server'
  | 'MCP approval'
  | 'skill shell'
  | 'skill grant'
  | 'agent grant'
  | 'allow rule'
  | 'directory'
  | 'mode'
  | 'variable'
  | 'plugin'
  | 'sandbox'
  | 'setting'
  | 'unreadable';

/** An entry in a project's files that would run or grant something. */
export interface Declaration {
  readonly kind: DeclarationKind;
  /** Its name within the kind: `PreToolUse on Bash`, `apiKeyHelper`. */
  readonly name: string;
  /** The complete text that would run or be granted. */
  readonly text: string;
  readonly file: string;
  readonly line?: number;
  /** The path from the root to the directory with its `.claude`; `''` for the root. */
  readonly level: string;
  /** Changes with the effect, not with order or formatting. */
  readonly digest: string;
  /** False when its content was not read completely, so trust cannot be stored. */
  readonly pinned: boolean;
}

/** A declaration without its file; `value` is the input of its digest. */
export interface TrustItem extends Pick<Declaration, 'kind' | 'name' | 'text' | 'line'> {
  /** Its path in the file; the digest omits list indices. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** Command texts whose scripts below `.claude` belong to the declaration. */
  readonly runs?: readonly string[];
  readonly pinned?: boolean;
}

type TrustVerdict =
  /** Nothing in the project needs trust. */
  | 'nothing'
  | 'trusted'
  /** The folder was never accepted. */
  | 'never'
  /** The folder was accepted with other declarations. */
  | 'changed';

export interface PendingDeclaration {
  readonly declaration: Declaration;
  readonly was: 'new' | 'changed';
}

/** A project's declarations and their acceptance. */
export interface TrustCheck {
  /** The real path of the repository's root, or of the start directory outside a repository. */
  readonly root: string;
  readonly declarations: readonly Declaration[];
  /** The digests of the scripts that commands refer to. */
  readonly scripts: SeenScripts;
  /** No level has a `.claude` or `.mcp.json`. */
  readonly isEmptyProject: boolean;
  readonly verdict: TrustVerdict;
  /** The unaccepted declarations. */
  readonly pending: readonly PendingDeclaration[];
}

/** A project document and the text in use. */
export interface UsedDocument {
  /** Absolute and resolved. */
  readonly file: string;
  /** Including front matter. */
  readonly text: string;
}
