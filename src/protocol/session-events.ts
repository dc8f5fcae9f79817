import type { AgentRef } from './agent-ref.js';
import type { PermissionDenial, PermissionMode, Receipt } from './permissions.js';

/** What a session tells its host besides what the loop itself emits. */
export type SessionNews =
  | { readonly type: 'state'; readonly state: 'running' | 'idle' | 'requires_action' }
  | { readonly type: 'decision'; readonly receipt: Receipt }
  | {
      readonly type: 'denied';
      readonly denial: PermissionDenial;
      readonly message: string;
      /** Whose call it was; absent: the main agent's. */
      readonly agent?: AgentRef;
    }
  | { readonly type: 'compacting' }
  | {
      readonly type: 'compacted';
      readonly trigger: 'manual' | 'auto';
      readonly preTokens: number;
      readonly postTokens: number;
      readonly durationMs: number;
      readonly summary: string;
      readonly uuid: string;
      readonly summaryUuid: string;
    }
  | { readonly type: 'compaction_failed'; readonly reason: string }
  | {
      readonly type: 'notice';
      readonly level: 'info' | 'notice' | 'warning';
      readonly text: string;
      /** What kind of notice, for programs. */
      readonly tag?: string;
      /** The hook that it is about. */
      readonly hookId?: string;
    }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  /** Settings files changed, and what they say now is in force. */
  | { readonly type: 'config_changed'; readonly files: readonly string[] }
  /** A hook of a settings file has begun. */
  | ({ readonly type: 'hook_started' } & HookRun)
  | ({
      readonly type: 'hook_finished';
      readonly stdout: string;
      readonly stderr: string;
      readonly exitCode?: number;
      readonly outcome: 'success' | 'error' | 'cancelled';
    } & HookRun)
  | { readonly type: 'writes_lost'; readonly code: string; readonly lost: number }
  /** Lines of a transcript have been written, for hosts that keep a copy. */
  | { readonly type: 'transcript'; readonly path: string; readonly lines: readonly unknown[] }
  | {
      readonly type: 'progress';
      readonly toolUseId: string;
      readonly toolName: string;
      readonly text: string;
    }
  | {
      readonly type: 'task_started';
      readonly taskId: string;
      readonly toolUseId: string;
      readonly description: string;
      /** Set for an agent; a command otherwise. */
      readonly agent?: AgentRef;
      /** What the agent is asked to do. */
      readonly prompt?: string;
    }
  /** An agent has made one more call. */
  | {
      readonly type: 'task_progress';
      readonly agent: AgentRef;
      readonly description: string;
      readonly usage: TaskUsage;
      readonly lastTool: string;
    }
  | {
      readonly type: 'task_updated';
      readonly taskId: string;
      readonly status: 'completed' | 'failed' | 'killed';
      /** Milliseconds since 1970. */
      readonly endTime: number;
      readonly error?: string;
    }
  /** A question of a background agent came into the inbox, or is settled. */
  | {
      readonly type: 'inbox';
      readonly state: 'asked' | 'answered' | 'expired' | 'withdrawn';
      readonly question: PendingQuestion;
      /** Who answered, where it was not the host. */
      readonly by?: string;
    }
  /** All background work there is now. */
  | { readonly type: 'background_tasks'; readonly tasks: readonly BackgroundTask[] }
  | {
      readonly type: 'task_finished';
      readonly taskId: string;
      readonly toolUseId: string;
      readonly status: 'completed' | 'failed' | 'stopped';
      /** How an agent ended, where that was not with its work done. */
      readonly end?: TaskEnd;
      readonly outputFile: string;
      readonly summary: string;
      readonly usage?: TaskUsage;
    };

interface HookRun {
  readonly hookId: string;
  /** `Event`, or `Event:matcher`. */
  readonly name: string;
  readonly event: string;
}

/** What `status` has no words for: `completed` may mean that an agent was cut off. */
export interface TaskEnd {
  readonly kind: 'failed' | 'cut-off' | 'refused' | 'cancelled';
  /** By which limit it was cut off, or by whom it was cancelled. */
  readonly by?: string;
  readonly reason: string;
}

export interface TaskUsage {
  /** Of the last request and its answer. */
  readonly totalTokens: number;
  readonly toolUses: number;
  readonly durationMs: number;
}

/** What one agent has used by itself, and what its budgets still allow. */
export interface AgentSpent {
  /** All tokens of its calls, those read from a cache included. */
  readonly tokens: number;
  /** Dollars; null: the price of one of its models is not known. */
  readonly costUsd: number | null;
  /** What is left of the tightest budget, of the agent or of one above it, in each unit that is limited. */
  readonly left: Partial<
    Readonly<Record<'turns' | 'tokens' | 'usd' | 'seconds' | 'fanOut', number | undefined>>
  >;
  /** Of the nearest budget, for model calls that are under way. Absent: there is no budget. */
  readonly reserved?: { readonly tokens: number; readonly usd: number } | undefined;
}

/** What a background agent waits for. */
export interface PendingQuestion {
  /** For `portcullis inbox answer`. */
  readonly id: string;
  readonly agent: Pick<AgentRef, 'id' | 'path' | 'type' | 'name'>;
  readonly toolUseId: string;
  readonly tool: string;
  readonly summary: string;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface BackgroundTask {
  readonly taskId: string;
  readonly taskType: 'local_agent' | 'local_bash';
  readonly description: string;
  readonly agentType?: string;
}

/** Facts about a session that its first message carries. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: string;
  readonly mode: PermissionMode;
  readonly tools: readonly string[];
  readonly keySource: string;
  readonly outputStyle: string;
  readonly additionalDirectories: readonly string[];
  readonly memoryPaths: readonly string[];
  readonly transcriptPath: string;
  readonly mcpServers: readonly {
    readonly name: string;
    readonly status: string;
    readonly source?: string;
  }[];
  readonly plugins: readonly {
    readonly name: string;
    readonly path: string;
    readonly version?: string;
  }[];
  /** The models that a host can offer to choose from. */
  readonly models: readonly ModelOffer[];
  /** Whose API is spoken. */
  readonly provider: string;
}

export interface ModelOffer {
  /** What `set_model` takes. */
  readonly value: string;
  readonly displayName: string;
  readonly description: string;
  readonly resolvedModel: string;
}
