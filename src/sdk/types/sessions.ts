/** Names a transcript: of a session, or with `subpath` of one of its agents. */
export type SessionKey = {
  projectKey: string;
  sessionId: string;
  subpath?: string;
};

/** One line of a transcript. */
export type SessionStoreEntry = {
  type: string;
  uuid?: string;
  timestamp?: string;
  [k: string]: unknown;
};

export type SessionSummaryEntry = {
  sessionId: string;
  mtime: number;
  data: Record<string, unknown>;
};

/** Keeps transcripts somewhere else than in files. `append` and `load` are all that is needed. */
export type SessionStore = {
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  /** Null: there is none. */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>>;
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>;
  delete?(key: SessionKey): Promise<void>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>;
};

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
