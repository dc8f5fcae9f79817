import type { SessionStore } from '../../protocol/session-store.js';

export type * from '../../protocol/session-store.js';

export type SDKSessionInfo = {
  sessionId: string;
  summary: string;
  lastModified: number;
  fileSize?: number;
  customTitle?: string;
  firstPrompt?: string;
  gitBranch?: string;
  cwd?: string;
  tag?: string;
  createdAt?: number;
  archived?: boolean;
};

export type SessionMessage = {
  type: 'user' | 'assistant' | 'system';
  uuid: string;
  session_id: string;
  message: unknown;
  parent_tool_use_id: string | null;
  parent_agent_id: string | null;
};

export type SessionMutationOptions = {
  /** The project. Absent: every project is searched. */
  dir?: string;
  sessionStore?: SessionStore;
};

export type ListSessionsOptions = {
  dir?: string;
  limit?: number;
  offset?: number;
  includeWorktrees?: boolean;
  includeProgrammatic?: boolean;
  sessionStore?: SessionStore;
};

export type GetSessionInfoOptions = { dir?: string; sessionStore?: SessionStore };

export type GetSessionMessagesOptions = {
  dir?: string;
  limit?: number;
  offset?: number;
  includeSystemMessages?: boolean;
  sessionStore?: SessionStore;
};

export type GetSubagentMessagesOptions = {
  dir?: string;
  limit?: number;
  offset?: number;
  sessionStore?: SessionStore;
};

export type ListSubagentsOptions = { dir?: string; sessionStore?: SessionStore };

export type ForkSessionOptions = SessionMutationOptions & {
  /** Only up to this message, inclusive. */
  upToMessageId?: string;
  title?: string;
};

export type ForkSessionResult = { sessionId: string };

export type ImportSessionToStoreOptions = {
  dir?: string;
  includeSubagents?: boolean;
  batchSize?: number;
};
