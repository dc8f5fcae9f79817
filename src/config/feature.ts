import type { GateExtension } from '../permissions/gate/open.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ConfigProblem, EffectiveSettings } from '../settings/types.js';
import type { AnyTool } from '../tools/tool.js';

/** What a feature brings to a session. It gets what it needs when it is opened; `openParts` in app.ts lists them. */
export interface Feature {
  /** Its part in the gate: guards, resolvers, rules. */
  readonly extension?: GateExtension;
  readonly tools?: readonly AnyTool[];
  /** Why other settings cannot hold. Every feature is asked before any takes them over. */
  check?(next: EffectiveSettings): readonly ConfigProblem[];
  /** Other settings hold from now on. */
  replace?(next: EffectiveSettings): void;
  /** An agent has ended: what is kept for it is let go. */
  release?(agent: AgentRef): void;
}
