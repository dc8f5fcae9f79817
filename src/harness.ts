import { createAgent } from './agents/agent.js';
import { createBackgroundInput } from './agents/background-input.js';
import { createCallLedger } from './agents/call-ledger.js';
import { createCompaction } from './agents/compaction.js';
import { type AgentSession, createSession, type SessionRun } from './agents/session.js';
import { createLimits } from './budget/limits.js';
export type { LoopEvent };
