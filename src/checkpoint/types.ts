import type { AgentRef } from '../protocol/agent-ref.js';

/** The SHA-256 of a stored content in hexadecimal. */
export type BlobId = string;

/** Why a file's content is not stored. */
export type NotStoredReason =
  | 'too-large'
  | 'over-cap'
  | 'unreadable'
  | 'changed-while-read'
  | 'not-yet';

/** The state of a path. */
export type NodeState =
  | {
      readonly kind: 'file';
      readonly size: number;
      readonly mode: number;
      /** Undefined when the content is not stored; see `unstored`. */
      readonly blob?: BlobId;
      readonly unstored?: NotStoredReason;
    }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  /** A socket, pipe or device, which is never restored. */
  | { readonly kind: 'special' };

/** The difference of one path between two scans; an absent state means that nothing existed. */
export interface TreeChange {
  /** Relative to the workspace's root, with `/`, always inside it. */
  readonly path: string;
  readonly before?: NodeState;
  readonly after?: NodeState;
  /** The best known time in epoch milliseconds: the change time of the path, or of the directory it vanished from. */
  readonly at: number;
}

/** The result of one scan. */
export interface Look {
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly changes: readonly TreeChange[];
  /** Why the scan is incomplete, for people. */
  readonly gaps: readonly string[];
}

/** How completely the tree is tracked. */
export interface TrackerState {
  readonly kind: 'indexing' | 'ready' | 'partial' | 'off';
  readonly files: number;
  /** Why tracking is partial or off, for people. */
  readonly gaps: readonly string[];
}

/** The possible author of a change. */
export type Author =
  /** No tool ran: the person, an editor or another program. */
  | { readonly kind: 'user' }
  | {
      readonly kind: 'call';
      readonly toolUseId: string;
      readonly tool: string;
      readonly agent: Pick<AgentRef, 'id' | 'type' | 'path'>;
      /** The command continues after its call returned. */
      readonly background?: true;
    }
  | {
      readonly kind: 'hook';
      readonly name: string;
      readonly agent: Pick<AgentRef, 'id' | 'type' | 'path'>;
    }
  /** An earlier rewind or redo. */
  | { readonly kind: 'rewind'; readonly id: string };

/** A recorded change. */
export interface Change extends TreeChange {
  /** The only path that vanished with the same content. */
  readonly renamedFrom?: string | undefined;
  /** Increases by one with each change of a session. */
  readonly seq: number;
  /** The uuid of the person's last message before the change; undefined before the first. */
  readonly messageId?: string;
  /** Several authors ran at the same time and each may have made the change. */
  readonly authors: readonly Author[];
}

/** A period in which an author may write. */
export interface OpenWindow {
  /** Ends the window without waiting for the final scan. */
  end(): void;
  /** Marks the author as running in the background after its call returned. */
  moveToBackground(): void;
  /** Resolves with the window's changes after the final scan. Never rejects. */
  readonly changes: Promise<readonly Change[]>;
}

export interface CheckpointNote {
  readonly messageId: string;
  readonly at: number;
  /** The first line of the message, shortened. */
  readonly title: string;
  /** Whether everything can be restored to this point; `gaps` says why not. */
  readonly complete: boolean;
  readonly gaps: readonly string[];
}

/** The point to return to, or the author whose changes to undo. */
export type RewindTarget =
  /** The state before this message's turn. */
  | { readonly kind: 'message'; readonly messageId: string }
  /** The state before this call; with `only`, just the call's own changes are undone. */
  | { readonly kind: 'call'; readonly toolUseId: string; readonly only?: true }
  /** The changes of one agent (id or path) and its descendants, where no other author changed the file since. */
  | { readonly kind: 'agent'; readonly agent: string; readonly since?: string };

/** One path of a preview. */
export interface RewindItem {
  readonly path: string;
  readonly action: 'create' | 'overwrite' | 'delete' | 'mode';
  /** The number of its newest change. */
  readonly seq: number;
  readonly authors: readonly Author[];
}

export interface RewindPlan {
  readonly id: string;
  readonly target: RewindTarget;
  readonly restored: readonly RewindItem[];
  /** Paths that another author changed since; kept unless overridden. */
  readonly conflicts: readonly (RewindItem & { readonly why: string })[];
  /**
   * What cannot be restored, and why: outside the workspace, too large, ignored, not recorded, a process, the
   * network.
   */
  readonly impossible: readonly { readonly what: string; readonly why: string }[];
  /** Lines over all restored text files. */
  readonly insertions: number;
  readonly deletions: number;
  /** Background work that may still write. */
  readonly stillRunning: readonly Author[];
}

export interface RewindOptions {
  /** Also overwrites conflicts. Default false: later edits are kept. */
  readonly overwriteConflicts?: boolean;
}

export type RewindResult =
  | {
      readonly kind: 'done';
      readonly plan: RewindPlan;
      readonly failed: readonly { readonly path: string; readonly why: string }[];
    }
  | { readonly kind: 'refused'; readonly why: string };

export interface ChangeFilter {
  readonly messageId?: string;
  readonly toolUseId?: string;
  /** An id or path; includes descendants. */
  readonly agent?: string;
}
