import type { SessionJournal } from '../../checkpoint/session-journal.js';
import type { Feature } from '../../config/feature.js';
import type { Log } from '../../config/session-environment.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { InputMessage, ModelAnswer } from '../../loop/types.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { OpenSandboxing } from '../../sandbox/session/session-sandbox.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import type { OpenAgents } from '../session-agents.js';
import type { ModelLayer } from './model-layer.js';
import type { ToolRuntime } from './tool-runtime.js';

/** Facts about the prompt that is being answered. */
export interface CurrentRun {
  run:
    | {
        readonly promptId: string | undefined;
        takeInput(): Promise<readonly InputMessage[]>;
        onAnswer(answer: ModelAnswer): void;
      }
    | undefined;
}

/** The parts of an open session. */
export interface Parts {
  readonly model: ModelLayer;
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly toolRuntime: ToolRuntime;
  readonly instructions: OpenInstructions;
  readonly skills: OpenSkills;
  readonly mcp: OpenServersOfSession | undefined;
  readonly agents: OpenAgents;
  readonly processes: ProcessSupervisor;
  readonly checkpoints: SessionJournal;
  readonly sandbox: OpenSandboxing;
  readonly current: CurrentRun;
  /** All parts that take part in the gate, the tools, live settings or the end of agents. */
  readonly features: readonly Feature[];
  /** Closes all parts, the last opened first; a failing step does not stop the others. */
  close(): Promise<void>;
}
