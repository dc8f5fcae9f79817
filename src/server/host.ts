import type { Asker, HostCallbacks, LoopEvent, SdkBridge, SessionNews } from '../harness.js';
import type { AskElicitation } from '../protocol/elicitation.js';

/** The other end of the wire, as a session sees it. */
export interface Host {
  readonly asker: Asker;
  readonly callbacks: HostCallbacks;
  readonly elicit: AskElicitation;
  /** The way to servers in the host's process. */
  mcpBridge(server: string): SdkBridge;
  /** Those of them that it named when it initialised, as entries. */
  mcpEntries(): Readonly<Record<string, unknown>>;
  emit(event: LoopEvent | SessionNews): void;
  /** Undefined: it keeps up. Otherwise resolves when it has read what was told. */
  ready(): Promise<void> | undefined;
}
