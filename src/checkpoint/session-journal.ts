import { messageOf } from '../errors.js';
import { redactSure } from '../lib/text/redact.js';
import type { Rule } from '../permissions/rules/rule.js';
import type { Clock } from '../platform/clock.js';
import type { FileSystem } from '../platform/fs/fs.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { Receipt } from '../protocol/permissions.js';
import type { EffectiveSettings } from '../settings/types.js';
import type { BackgroundShell } from '../tools/bash/shells.js';
import type { CallWatch, StartingCall } from '../tools/invocation.js';
import type { AnyTool, ToolContext, ToolOutput } from '../tools/tool.js';
import type { Checkpoints } from './checkpoints.js';
import { assumeHarmless, enforceAssumption, type HarmlessAssumption } from './effects.js';
import { checkpointLimits, takesBack, whyNotJournalled } from './settings.js';
import type { Author, OpenWindow } from './types.js';

export interface CheckpointParts {
  readonly cwd: string;
  readonly fs: Pick<FileSystem, 'realPath'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'now'>;
  /** The present values; settings may change. */
  settings(): Pick<EffectiveSettings, 'values'>;
  readonly sessionId: string;
  /** The session this one is a copy of. */
  readonly parentSessionId?: string | undefined;
  /** False when the host does not want a change journal. */
  readonly asked: boolean | undefined;
  /** Shows a note to people. */
  tell(text: string): void;
  startedShell(output: ToolOutput): BackgroundShell | undefined;
  /** Records and publishes an amended receipt. */
  amend(receipt: Receipt): void;
  /** Whether an agent has no write tools. */
  onlyReads(agent: AgentRef): boolean;
  /** The deny rules about effects for an agent. */
  deniedEffects(agent: AgentRef): readonly Rule[];
  /** Adds a note to the model's next request. */
  remind(text: string): void;
}

/** Enough for a request to be sent before the index takes CPU time. */
const AFTER_REQUEST_MS = 30;

/** The change journal of a session around all writes; opened on first use. */
export class SessionJournal {
  /** Why it is off, for people. */
  readonly off: string | undefined;
  readonly #parts: CheckpointParts;
  /** Windows of background commands by shell id. */
  readonly #pending = new Map<string, OpenWindow>();
  /** Ids of calls that must not change anything. */
  readonly #held = new Set<string>();
  #opened: Promise<Checkpoints> | undefined;
  /** Messages before the journal was opened; each becomes a rewind point. */
  #said: { readonly messageId: string; readonly title: string; readonly at: number }[] = [];
  #isClosed = false;
  #hasFailed = false;
  #firstLook: NodeJS.Timeout | undefined;
  /** The first scan was postponed, so the next possible writer starts it. */
  #isPutOff = false;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
    this.off = whyNotJournalled(parts.settings().values, parts.env, parts);
  }

  /** Undefined when the journal is off. */
  journal(): Promise<Checkpoints> | undefined {
    if (this.off !== undefined || this.#isClosed) return this.#opened;
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Called before a call runs. */
  async watch(starting: StartingCall, context: ToolContext): Promise<CallWatch | undefined> {
    const { call, tool, input, verdict } = starting;
    if (this.off !== undefined || !mayWrite(tool)) return undefined;
    const { agent, workspace, mode } = context;
    const { paths } = tool.subject(input, workspace);
    const written = paths.flatMap(({ path, access }) => (access === 'write' ? [path] : []));
    const window = await this.#begin(authorOf(call.id, tool, agent), written);
    const onlyReads = this.#parts.onlyReads(agent);
    const denied = this.#parts.deniedEffects(agent);
    const assumed = assumeHarmless(tool, verdict, { agent, mode, onlyReads, denied });
    if (assumed !== undefined) this.#held.add(call.id);
    // Without a window the journal failed, which was reported.
    return {
      ended: async (output) =>
        window === undefined ? [] : await this.#ended(output, window, assumed),
    };
  }

  /** Called before a hook runs; returns the function for its end. */
  async hookRuns(name: string, { id, type, path }: AgentRef): Promise<() => void> {
    // Changes before the first scan become part of its base.
    if (this.#opened === undefined && !this.#isPutOff) return () => undefined;
    const agent = { id, type, path };
    const window = await this.#begin({ kind: 'hook', name: redactSure(name), agent }, []);
    return () => window?.end();
  }

  /** Called for each message of the person. */
  turn(messageId: string, prompt: string): void {
    if (this.off !== undefined || this.#isClosed) return;
    const title = redactSure(prompt);
    const at = this.#parts.clock.now();
    if (this.#opened === undefined) this.#said.push({ messageId, title, at });
    else {
      void this.#opened
        .then((journal) => journal.mark(messageId, title, at))
        .catch((thrown: unknown) => this.#failed(thrown));
    }
  }

  /** Called when a request is sent: the first scan runs while the model works. */
  requested(): void {
    if (this.off !== undefined || this.#isClosed) return;
    if (this.#opened !== undefined || this.#said.length === 0) return;
    this.#firstLook ??= setTimeout(() => {
      this.journal()?.catch((thrown: unknown) => this.#failed(thrown));
    }, AFTER_REQUEST_MS).unref();
  }

  /** Called when the model answers: the first writer starts a pending scan. */
  answered(): void {
    if (this.#firstLook === undefined) return;
    clearTimeout(this.#firstLook);
    this.#firstLook = undefined;
    this.#isPutOff = this.#opened === undefined;
  }

  /** Called when a background command ends, which closes its window. */
  shellFinished({ id }: Pick<BackgroundShell, 'id'>): void {
    this.#pending.get(id)?.end();
    this.#pending.delete(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const window of this.#pending.values()) window.end();
    await this.#opened
      ?.then((journal) => journal.close())
      .catch((thrown: unknown) => this.#failed(thrown));
  }

  async #open(): Promise<Checkpoints> {
    const { sessionId, parentSessionId, tell } = this.#parts;
    const { openWorkspaceJournal } = await import('./open.js');
    const limits = checkpointLimits(this.#parts.settings().values);
    const session = { sessionId, parentSessionId, notice: tell };
    const journal = await openWorkspaceJournal(this.#parts, limits, session);
    // The points come before the first call, which belongs to the message.
    for (const { messageId, title, at } of this.#said.splice(0)) journal.mark(messageId, title, at);
    return journal;
  }

  async #begin(author: Author, paths: readonly string[]): Promise<OpenWindow | undefined> {
    try {
      return await (await this.journal())?.begin(author, paths);
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  async #ended(
    output: ToolOutput,
    window: OpenWindow,
    assumed: HarmlessAssumption | undefined,
  ): Promise<readonly string[]> {
    const shell = this.#parts.startedShell(output);
    if (shell !== undefined && shell.status === 'running') {
      this.#pending.set(shell.id, window);
      window.moveToBackground();
      return [];
    }
    window.end();
    if (assumed === undefined) return [];
    const judged = this.#judge(window, assumed).catch((thrown: unknown) => this.#failed(thrown));
    // A rollback completes before the model continues; a mere note may come later.
    if (takesBack(this.#parts.settings().values)) {
      const text = await judged;
      return text === undefined ? [] : [text];
    }
    void judged.then((text) => text === undefined || this.#parts.remind(text));
    return [];
  }

  /** Compares a call's changes with its assumption. */
  async #judge(window: OpenWindow, assumed: HarmlessAssumption): Promise<string | undefined> {
    const journal = await this.journal();
    if (journal === undefined) return undefined;
    const rollback = takesBack(this.#parts.settings().values);
    const isHeld = (id: string): boolean => this.#held.has(id);
    const violation = await enforceAssumption(assumed, await window.changes, {
      journal,
      rollback,
      isHeld,
    });
    if (violation === undefined) return undefined;
    this.#parts.amend(violation.amended);
    this.#parts.tell(violation.text);
    return violation.text;
  }

  /** fail-closed: a failed journal is reported, because rewind depends on it. */
  #failed(thrown: unknown): undefined {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#parts.tell(`changes are not journalled, rewind will miss them: ${messageOf(thrown)}`);
  }
}

/** fail-closed: every MCP tool may write, whatever its server claims. */
function mayWrite(tool: AnyTool): boolean {
  return tool.kind === 'edit' || tool.kind === 'execute' || tool.origin !== undefined;
}

function authorOf(toolUseId: string, tool: AnyTool, { id, type, path }: AgentRef): Author {
  return { kind: 'call', toolUseId, tool: tool.name, agent: { id, type, path } };
}
