import type { AgentRef } from '../protocol/agent-ref.js';

/** Name of a content in the store: the SHA-256 of its bytes, in hexadecimal. */
export type BlobId = string;

/** Why the bytes of a file are not in the store. */
export type Unstored = 'too-large' | 'over-cap' | 'unreadable' | 'changed-while-read' | 'not-yet';

/** What stands at a path. */
export type NodeState =
  | {
      readonly kind: 'file';
      readonly size: number;
      /** Permission bits only. */
      readonly mode: number;
      /** Undefined: the bytes are not in the store; `unstored` says why. */
      readonly blob?: BlobId;
      readonly unstored?: Unstored;
    }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  /** A socket, a pipe, a device: named, never restored. */
  | { readonly kind: 'special' };

/** How one path differs between two looks at the tree. Absent: nothing stood or stands there. */
export interface TreeChange {
  /** From the root of the workspace, with `/`; never leaves it. */
  readonly path: string;
  readonly before?: NodeState;
  readonly after?: NodeState;
  /**
   * When it happened as far as the file system tells, in milliseconds since the epoch: the change time
   * of what stands there now, or of the directory that it has gone from.
   */
  readonly at: number;
}

/** What one look at the tree has found. */
export interface Look {
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly changes: readonly TreeChange[];
  /** Why this look does not show everything, in words for a person. */
  readonly gaps: readonly string[];
}

/** How far the tree is known. */
export interface TrackerState {
  readonly kind: 'indexing' | 'ready' | 'partial' | 'off';
  readonly files: number;
  /** Why it is partial or off, in words for a person. */
  readonly gaps: readonly string[];
}

/** Who may have made a change. */
export type Author =
  /** While no tool ran: the person, an editor, another program. */
  | { readonly kind: 'user' }
  | {
      readonly kind: 'call';
      readonly toolUseId: string;
      readonly tool: string;
      readonly agent: Pick<AgentRef, 'id' | 'type' | 'path'>;
      /** It goes on after its call has been answered. */
      readonly background?: true;
    }
  | {
      readonly kind: 'hook';
      readonly name: string;
      readonly agent: Pick<AgentRef, 'id' | 'type' | 'path'>;
    }
  /** An earlier rewind or redo. */
  | { readonly kind: 'rewind'; readonly id: string };

/** One change, as the journal keeps it. */
export interface Change extends TreeChange {
  /** The only path that went with the same bytes. */
  readonly renamedFrom?: string | undefined;
  /** Rises by one with each change of a session. */
  readonly seq: number;
  /** The turn it belongs to: uuid of the person's message before it. Undefined: before the first. */
  readonly messageId?: string;
  /** More than one: they ran at once, and each may have been it. */
  readonly authors: readonly Author[];
}

/** A span of time in which somebody may write. */
export interface OpenWindow {
  /** Ends it. The look that follows is not waited for. */
  end(): void;
  /** Its call has been answered, and it goes on in the background: its author says so from now on. */
  goesOn(): void;
  /** What it changed, once the look after its end has been taken. Never rejects. */
  readonly changes: Promise<readonly Change[]>;
}

export interface CheckpointNote {
  readonly messageId: string;
  readonly at: number;
  /** First line of what the person said, shortened. */
  readonly title: string;
  /** Whether everything can be brought back to this point; if not, why: said when it is made. */
  readonly complete: boolean;
  readonly gaps: readonly string[];
}

/** Where to go back to, or whose work to take back. */
export type RewindTarget =
  /** The state before the turn of this message. */
  | { readonly kind: 'message'; readonly messageId: string }
  /** The state before this call; with `only`, nothing but what this call itself has changed. */
  | { readonly kind: 'call'; readonly toolUseId: string; readonly only?: true }
  /** Only what this agent did (its id or its path; children included), wherever others left it alone. */
  | { readonly kind: 'agent'; readonly agent: string; readonly since?: string };

/** One path in a preview. */
export interface RewindItem {
  readonly path: string;
  readonly action: 'create' | 'overwrite' | 'delete' | 'mode';
  /** The journal's entry for it, newest. */
  readonly seq: number;
  readonly authors: readonly Author[];
}

export interface RewindPlan {
  readonly id: string;
  readonly target: RewindTarget;
  /** Will be put back. */
  readonly restored: readonly RewindItem[];
  /** Somebody else (the person, another agent) changed them since; kept unless the caller overrides. */
  readonly conflicts: readonly (RewindItem & { readonly why: string })[];
  /** Cannot be put back, and why: outside the workspace, too large, ignored, not journalled, a process, the network. */
  readonly impossible: readonly { readonly what: string; readonly why: string }[];
  /** Lines over all restored text files, for hosts that show them. */
  readonly insertions: number;
  readonly deletions: number;
  /** Background work that still runs and may write again. */
  readonly stillRunning: readonly Author[];
}

export interface RewindOptions {
  /** Also overwrite what conflicts. Default false: the person's later edits are kept. */
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
  /** Id or path; children included. */
  readonly agent?: string;
}
