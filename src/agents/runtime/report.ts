import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Usage } from '../../protocol/content.js';

/** How an agent came to its end. Whatever it was, what it had said and done by then is returned. */
export type AgentEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'cut-off';
      readonly by: 'turns' | 'budget' | 'time' | 'hook' | 'process';
      readonly reason: string;
    }
  /** It could not go on without permissions that nobody gave; `missing` names them. */
  | { readonly kind: 'refused'; readonly reason: string; readonly missing: readonly string[] }
  | {
      readonly kind: 'cancelled';
      readonly by: 'person' | 'parent' | 'session';
      readonly reason: string;
    };

/** What one agent used, without those below it: such rows add up to the total. */
export interface AgentAccount {
  readonly agent: AgentRef;
  readonly turns: number;
  readonly toolUses: number;
  readonly usage: Usage;
  /** Undefined where a price is not known; never zero instead. */
  readonly costUsd: number | undefined;
  readonly models: readonly string[];
  readonly seconds: number;
  /** All tokens of its last request and answer. */
  readonly lastTokens?: number;
}

/** The tree that an agent left behind, when it had one of its own. */
export interface LeftWorktree {
  readonly path: string;
  readonly branch: string;
  readonly kept: boolean;
  /** Changed files, relative to the tree. */
  readonly changed: readonly string[];
}

/** All that is known of an agent once it has ended. */
export interface AgentReport {
  readonly agent: AgentRef;
  readonly description: string;
  readonly end: AgentEnd;
  /** Its last answer, or as much of it as there is. */
  readonly text: string;
  readonly account: AgentAccount;
  readonly worktree?: LeftWorktree;
  /** Files that it wrote outside of its workspace. */
  readonly strays?: readonly string[];
  /** By which SendMessage goes on with it; absent for one-shot agents. */
  readonly resume?: string;
}
