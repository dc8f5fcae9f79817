import type { SeenScripts } from './scripts.js';

/** What a declaration is, in the words of the list that people are shown. */
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

/** One thing in a project's files that would run something or let something happen. */
export interface Declaration {
  readonly kind: DeclarationKind;
  /** What it is among its kind: `PreToolUse on Bash`, `apiKeyHelper`. */
  readonly name: string;
  /** What would run or be allowed, whole and as written. */
  readonly text: string;
  /** Absolute. */
  readonly file: string;
  readonly line?: number;
  /** From the project's root to the directory whose `.claude` it is in, `''` for the root. */
  readonly level: string;
  /** Changes with anything that changes what would happen; not with order or formatting. */
  readonly digest: string;
  /** False if its content could not be read whole, so trust in it cannot be stored. */
  readonly pinned: boolean;
}

/** A declaration before it is bound to its file; `value` is what its digest is made of. */
export interface TrustItem extends Pick<Declaration, 'kind' | 'name' | 'text' | 'line'> {
  /** Where in the file it is; part of the digest, without the numbers of list items. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** Command text whose scripts under `.claude` belong to the declaration. */
  readonly runs?: readonly string[];
  readonly pinned?: boolean;
}

export type TrustVerdict =
  /** The project declares nothing that needs trust. */
  | 'nothing'
  | 'trusted'
  /** The folder was never accepted. */
  | 'never'
  /** It was accepted, with other declarations. */
  | 'changed';

export interface PendingDeclaration {
  readonly declaration: Declaration;
  readonly was: 'new' | 'changed';
}

/** What a project's files declare, and what of it is accepted. */
export interface TrustCheck {
  /** Real path of the repository's root, or of the start directory outside of one. */
  readonly root: string;
  readonly declarations: readonly Declaration[];
  /** The contents of the scripts that commands stand for. */
  readonly scripts: SeenScripts;
  /** No level of the project has a `.claude` or `.mcp.json`. */
  readonly isEmptyProject: boolean;
  readonly verdict: TrustVerdict;
  /** What is not accepted. Empty when trusted. */
  readonly pending: readonly PendingDeclaration[];
}

/** A document of the project with the text in which it is used. */
export interface UsedDocument {
  /** Absolute; links in it are resolved. */
  readonly file: string;
  /** As it was read, front matter included. */
  readonly text: string;
}
