import type { GateExtension } from '../permissions/gate/open.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ConfigProblem, EffectiveSettings } from '../settings/types.js';
import type { AnyTool } from '../tools/tool.js';

/** What a feature adds to a session; `openParts` in app.ts opens each with its dependencies. */
export interface Feature {
  /** Its part in the gate: guards, resolvers, rules. */
  readonly extension?: GateExtension;
  readonly tools?: readonly AnyTool[];
  /** Why changed settings cannot be applied; every feature is asked before any applies them. */
  check?(next: EffectiveSettings): readonly ConfigProblem[];
  /** Applies changed settings. */
  replace?(next: EffectiveSettings): void;
  /** Frees what is kept for an agent that has ended. */
  release?(agent: AgentRef): void;
}
