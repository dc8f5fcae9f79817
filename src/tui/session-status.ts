import type { SessionClient, SessionSnapshot } from '../client/session-client.js';
import { messageOf } from '../errors.js';

export interface StatusOptions {
  /** Runs the user's status line command with facts about the session. */
  statusLine?(facts: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  refreshSeconds?(): number | undefined;
  readonly version: string;
  /** There is something new to show. */
  onChange(): void;
}

const DELAY_MS = 50;

/** The numbers of the status line, read again after events that may have changed them. */
export class SessionStatus {
  snapshot: SessionSnapshot | undefined;
  /** What the user's own command printed last. */
  custom: string | undefined;
  readonly #client: SessionClient;
  readonly #options: StatusOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  /** The command runs; what happened since is shown by its next run. */
  #isRunning = false;
  #isStale = false;
  #isClosed = false;

  constructor(client: SessionClient, options: StatusOptions) {
    this.#client = client;
    this.#options = options;
  }

  refresh(): void {
    this.#timer ??= setTimeout(() => void this.#read(), DELAY_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
    this.#isClosed = true;
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    // A session that is being replaced has nothing to tell; the next event asks again.
    const snapshot = await this.#client.snapshot().catch(() => undefined);
    if (snapshot === undefined) return;
    this.snapshot = snapshot;
    this.#options.onChange();
    await this.#runCommand(snapshot);
  }

  async #runCommand(snapshot: SessionSnapshot): Promise<void> {
    const { statusLine, version, refreshSeconds } = this.#options;
    if (statusLine === undefined || snapshot.info === undefined) return;
    this.#isStale = this.#isRunning;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.custom = await statusLine(statusFacts(snapshot, version)).catch(
      (thrown: unknown) => `The statusLine command failed: ${messageOf(thrown)}`,
    );
    this.#isRunning = false;
    if (this.#isClosed) return;
    this.#options.onChange();
    if (this.#isStale) this.refresh();
    clearTimeout(this.#again);
    const seconds = refreshSeconds?.();
    if (seconds !== undefined) this.#again = setTimeout(() => this.refresh(), seconds * 1_000);
  }
}

/** What status line commands read, in the field names that they know. */
function statusFacts(
  { info, usage }: SessionSnapshot,
  version: string,
): Readonly<Record<string, unknown>> {
  const { contextTokens, contextWindow } = usage;
  const offer = info?.models.find(({ resolvedModel }) => resolvedModel === info.model);
  const share =
    contextTokens === undefined || contextWindow === undefined
      ? null
      : Math.round((100 * contextTokens) / contextWindow);
  return {
    hook_event_name: 'Status',
    session_id: info?.sessionId,
    transcript_path: info?.transcriptPath,
    cwd: info?.cwd,
    model: { id: info?.model, display_name: offer?.displayName ?? info?.model },
    workspace: { current_dir: info?.cwd, project_dir: info?.cwd },
    version,
    output_style: { name: info?.outputStyle },
    cost: { total_cost_usd: usage.costUsd },
    context_window: {
      context_window_size: contextWindow,
      current_usage: contextTokens === undefined ? null : { input_tokens: contextTokens },
      used_percentage: share,
    },
    exceeds_200k_tokens: (contextTokens ?? 0) > 200_000,
  };
}
