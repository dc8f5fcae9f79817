/**
 * Portcullis as a library. The surface is small on purpose: what is exported here is kept stable.
 */

export {
  type AgentSession,
  type AskAnswer,
  type AskRequest,
  type InputMessage,
  type LoopEvent,
  openSession,
  type RunResult,
  type SessionConfig,
  type SessionInfo,
  type SessionNews,
  type StopReason,
} from './app.js';
export type { Console, ConsoleOptions } from './console/serve.js';
export { type ErrorCode, PortcullisError } from './errors.js';
export type { AgentRef } from './protocol/agent-ref.js';
export type { Receipt, TraceStep } from './protocol/permissions.js';
export { PortcullisClient } from './sdk/client.js';
export { serveConsole } from './sdk/console.js';
export { EXIT_REASONS, HOOK_EVENTS, SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from './sdk/constants.js';
export { AbortError, ResultError } from './sdk/errors.js';
export { query, startup } from './sdk/query.js';
export { FileSessionStore, InMemorySessionStore } from './sdk/session-stores.js';
export {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  listSessions,
  listSubagents,
  renameSession,
  tagSession,
} from './sdk/sessions.js';
export {
  type CreateSdkMcpServerOptions,
  createSdkMcpServer,
  type ToolExtras,
  tool,
} from './sdk/tool.js';
export type * from './sdk/types/index.js';
export { VERSION } from './version.js';
