/**
 * Portcullis as a library. The surface is small on purpose: what is exported here is kept stable.
 */
export { type ErrorCode, PortcullisError } from './errors.js';
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
} from './harness.js';
export type { PermissionMode, Receipt } from './protocol/permissions.js';
export { VERSION } from './version.js';
