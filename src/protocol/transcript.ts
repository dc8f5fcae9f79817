import type { AssistantBlock, ModelStopReason, Usage, UserBlock } from './content.js';
import type { PermissionMode } from './permissions.js';

/**
 * One line of a transcript, in the ecosystem's format: a tree linked by `uuid` and `parentUuid`.
 * Lines of kinds that we do not know are kept in the file and skipped when reading.
 */
export interface EntryBase {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly sessionId: string;
  readonly timestamp: string;
  readonly cwd?: string;
  readonly version?: string;
  readonly gitBranch?: string;
  readonly entrypoint?: string;
  readonly isSidechain?: boolean;
  readonly userType?: 'external';
  readonly agentId?: string;
  readonly isMeta?: boolean;
  /** The entry of another session that this one is a copy of. */
  readonly forkedFrom?: { readonly sessionId: string; readonly messageUuid: string };
}

export interface UserEntry extends EntryBase {
  readonly type: 'user';
  readonly message: { readonly role: 'user'; readonly content: string | readonly UserBlock[] };
  /** Structured output of the tool whose result this is; over 256 KiB a reference to a file. */
  readonly toolUseResult?: unknown;
  readonly permissionMode?: PermissionMode;
  readonly isCompactSummary?: boolean;
  readonly promptId?: string;
}

/** One content block of an assistant message; blocks of one message share `message.id`. */
export interface AssistantEntry extends EntryBase {
  readonly type: 'assistant';
  readonly message: {
    readonly id: string;
    readonly type: 'message';
    readonly role: 'assistant';
    readonly model: string;
    readonly content: readonly AssistantBlock[];
    readonly stop_reason: ModelStopReason | null;
    readonly stop_sequence: string | null;
    readonly usage: Usage;
  };
  readonly requestId?: string;
  /** What the model really wrote where its tool input was not valid JSON. */
  readonly malformedInput?: string;
}

export interface SystemEntry extends EntryBase {
  readonly type: 'system';
  readonly subtype: 'compact_boundary' | 'local_command' | 'informational';
  readonly content?: string;
  /** Before a compact boundary: where the chain went on, for people; readers do not follow it. */
  readonly logicalParentUuid?: string | null;
  readonly compactMetadata?: { readonly trigger: 'manual' | 'auto'; readonly preTokens: number };
}

export interface AttachmentEntry extends EntryBase {
  readonly type: 'attachment';
  readonly attachment: { readonly type: string; readonly [key: string]: unknown };
}

export type TranscriptEntry = UserEntry | AssistantEntry | SystemEntry | AttachmentEntry;

/** Lines without a place in the tree. */
export type MetaLine =
  | { readonly type: 'custom-title'; readonly customTitle: string; readonly sessionId: string }
  | { readonly type: 'last-prompt'; readonly lastPrompt: string; readonly sessionId: string }
  /** The agent that the main conversation runs as. */
  | { readonly type: 'agent-setting'; readonly agentSetting: string; readonly sessionId: string }
  | { readonly type: 'summary'; readonly summary: string; readonly leafUuid: string }
  | { readonly type: 'tag'; readonly tag: string; readonly sessionId: string };
