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
import { type Assumed, assumedHarmless, holdTo } from './effects.js';
import { checkpointLimits, takesBack, whyNotJournalled } from './settings.js';
import type { Author, OpenWindow } from './types.js';

export interface CheckpointParts {
  readonly cwd: string;
  readonly fs: Pick<FileSystem, 'realPath'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'now'>;
  /** Asked for the current values: settings may change. */
  settings(): Pick<EffectiveSettings, 'values'>;
  readonly sessionId: string;
  /** The session that this one is a copy of. */
  readonly parentSessionId?: string | undefined;
  /** False: the host does not want changes journalled. */
  readonly asked: boolean | undefined;
  /** Tells people. */
  tell(text: string): void;
  startedShell(output: ToolOutput): BackgroundShell | undefined;
  /** Writes an amended receipt down and tells of it. */
  amend(receipt: Receipt): void;
  /** Whether an agent has no tool that writes files. */
  onlyReads(agent: AgentRef): boolean;
  /** Deny rules about effects that hold for an agent. */
  deniedEffects(agent: AgentRef): readonly Rule[];
  /** For the model, with the next request. */
  remind(text: string): void;
}

/** Long enough for a request to be on its way, which is not held up by an index. */
const AFTER_REQUEST_MS = 30;

/** The change journal of a session, around whatever may write. Opened when it is first needed. */
export class SessionJournal {
  /** Why it is off, in words for a person. */
  readonly off: string | undefined;
  readonly #parts: CheckpointParts;
  /** Windows of background commands, by shell. */
  readonly #pending = new Map<string, OpenWindow>();
  /** Calls that are held to changing nothing, by their ids. */
  readonly #held = new Set<string>();
  #opened: Promise<Checkpoints> | undefined;
  /** What the person has said before it was opened: each is a point to come back to. */
  #said: { readonly messageId: string; readonly title: string; readonly at: number }[] = [];
  #isClosed = false;
  #hasFailed = false;
  #firstLook: NodeJS.Timeout | undefined;
  /** The model answered before the look was taken, so the next one who may write takes it. */
  #isPutOff = false;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
    this.off = whyNotJournalled(parts.settings().values, parts.env, parts);
  }

  /** Undefined: it is off. */
  journal(): Promise<Checkpoints> | undefined {
    if (this.off !== undefined || this.#isClosed) return this.#opened;
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** A call is about to run. */
  async watch(starting: StartingCall, context: ToolContext): Promise<CallWatch | undefined> {
    const { call, tool, input, verdict } = starting;
    if (this.off !== undefined || !mayWrite(tool)) return undefined;
    const { agent, workspace, mode } = context;
    const { paths } = tool.subject(input, workspace);
    const written = paths.flatMap(({ path, access }) => (access === 'write' ? [path] : []));
    const window = await this.#begin(authorOf(call.id, tool, agent), written);
    const onlyReads = this.#parts.onlyReads(agent);
    const denied = this.#parts.deniedEffects(agent);
    const assumed = assumedHarmless(tool, verdict, { agent, mode, onlyReads, denied });
    if (assumed !== undefined) this.#held.add(call.id);
    // Without a window there is no journal, which was told.
    return {
      ended: async (output) =>
        window === undefined ? [] : await this.#ended(output, window, assumed),
    };
  }

  /** A hook is going to run; returns its end. */
  async hookRuns(name: string, { id, type, path }: AgentRef): Promise<() => void> {
    // What runs before the first look is part of what that look finds.
    if (this.#opened === undefined && !this.#isPutOff) return () => undefined;
    const agent = { id, type, path };
    const window = await this.#begin({ kind: 'hook', name: redactSure(name), agent }, []);
    return () => window?.end();
  }

  /** The person has said something. */
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

  /** A request has gone out: while the model works there is time for the first look. */
  requested(): void {
    if (this.off !== undefined || this.#isClosed) return;
    if (this.#opened !== undefined || this.#said.length === 0) return;
    this.#firstLook ??= setTimeout(() => {
      this.journal()?.catch((thrown: unknown) => this.#failed(thrown));
    }, AFTER_REQUEST_MS).unref();
  }

  /** The model has answered: from now on whoever is the first to need the look takes it. */
  answered(): void {
    if (this.#firstLook === undefined) return;
    clearTimeout(this.#firstLook);
    this.#firstLook = undefined;
    this.#isPutOff = this.#opened === undefined;
  }

  /** A background command has ended, and with it what it may write. */
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
    // Before the first call begins, however soon that is: it belongs to what the person said.
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
    assumed: Assumed | undefined,
  ): Promise<readonly string[]> {
    const shell = this.#parts.startedShell(output);
    if (shell !== undefined && shell.status === 'running') {
      this.#pending.set(shell.id, window);
      window.goesOn();
      return [];
    }
    window.end();
    if (assumed === undefined) return [];
    const judged = this.#judge(window, assumed).catch((thrown: unknown) => this.#failed(thrown));
    // What is to be undone is undone before the model goes on; what is only told is told later.
    if (takesBack(this.#parts.settings().values)) {
      const text = await judged;
      return text === undefined ? [] : [text];
    }
    void judged.then((text) => text === undefined || this.#parts.remind(text));
    return [];
  }

  /** Compares what a call did with what it was let through for. */
  async #judge(window: OpenWindow, assumed: Assumed): Promise<string | undefined> {
    const journal = await this.journal();
    if (journal === undefined) return undefined;
    const rollback = takesBack(this.#parts.settings().values);
    const isHeld = (id: string): boolean => this.#held.has(id);
    const violation = await holdTo(assumed, await window.changes, { journal, rollback, isHeld });
    if (violation === undefined) return undefined;
    this.#parts.amend(violation.amended);
    this.#parts.tell(violation.text);
    return violation.text;
  }

  /** fail-closed for the promise to undo: a journal that cannot be kept is told, not forgotten. */
  #failed(thrown: unknown): undefined {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#parts.tell(`changes are not journalled, rewind will miss them: ${messageOf(thrown)}`);
  }
}

/** fail-closed: what a server says of its tools does not count; each of them may write. */
function mayWrite(tool: AnyTool): boolean {
  return tool.kind === 'edit' || tool.kind === 'execute' || tool.origin !== undefined;
}

function authorOf(toolUseId: string, tool: AnyTool, { id, type, path }: AgentRef): Author {
  return { kind: 'call', toolUseId, tool: tool.name, agent: { id, type, path } };
}
