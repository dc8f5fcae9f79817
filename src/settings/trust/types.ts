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
  readonly line?: number | undefined;
  /** From the project's root to the directory whose `.claude` it is in, `''` for the root. */
  readonly level: string;
  /** Changes with anything that changes what would happen; not with order or formatting. */
  readonly digest: string;
  /** False: its content could not be taken in, so trust in it cannot be kept for another run. */
  readonly pinned: boolean;
}

/** A declaration before it is bound to its place; `value` is what its digest is made of. */
export interface Draft {
  readonly kind: DeclarationKind;
  readonly name: string;
  readonly text: string;
  /** Where in the file it stands; also part of the digest, without numbers of list items. */
  readonly way: readonly (string | number)[];
  readonly value: unknown;
  readonly line?: number | undefined;
  /** Command text whose scripts under `.claude` belong to the declaration. */
  readonly runs?: readonly string[];
  readonly pinned?: boolean;
}

export type TrustVerdict =
  /** The project declares nothing that needs trust. */
  | 'nothing'
  | 'trusted'
  /** Nobody ever accepted this folder. */
  | 'never'
  /** It was accepted, with other declarations. */
  | 'changed';

export interface PendingDeclaration {
  readonly declaration: Declaration;
  readonly was: 'new' | 'changed';
}

/** What is in a project's files, or in some of them. */
export interface SeenDeclarations {
  /** Real path of the repository's root, or of the start directory outside of one. */
  readonly root: string;
  readonly declarations: readonly Declaration[];
  /** What the scripts were that commands stand for. Absent: nothing is declared. */
  readonly scripts?: SeenScripts;
  /** There is nothing that could declare anything, known without a look into any file. */
  readonly isBare?: true;
}

export interface TrustCheck extends SeenDeclarations {
  readonly verdict: TrustVerdict;
  /** What nobody has accepted. Empty when trusted. */
  readonly pending: readonly PendingDeclaration[];
}

/** A document of the project in the text in which it is used. */
export interface UsedDocument {
  /** Absolute; links in it are resolved. */
  readonly file: string;
  /** As it was read, head and all. */
  readonly text: string;
}

/** `documents`: skills, commands and agents. `settings`: settings and servers. */
export type TrustPart = 'settings' | 'documents';
