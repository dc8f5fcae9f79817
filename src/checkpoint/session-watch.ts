import { messageOf } from '../errors.js';
import { redactSure } from '../lib/redact.js';
import type { Rule } from '../permissions/rules/rule.js';
import type { Clock } from '../platform/clock.js';
import type { FileSystem } from '../platform/fs/fs.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { Receipt } from '../protocol/permissions.js';
import type { EffectiveSettings } from '../settings/types.js';
import type { BackgroundShell } from '../tools/bash/shells.js';
import type { CallWatch, InvokeDeps, StartingCall } from '../tools/invocation.js';
import type { AnyTool, ToolContext, ToolOutput } from '../tools/tool.js';
import { assumedHarmless, holdTo } from './effects.js';
import { checkpointLimits, journalSwitch, takesBack } from './settings.js';
import type { Author, Checkpoints, OpenWindow } from './types.js';

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

/** The change journal of a session, around whatever may write. */
export interface OpenCheckpoints {
  /** Undefined: it is off. Opened when it is first needed. */
  journal(): Promise<Checkpoints> | undefined;
  /** Why it is off, in words for a person. */
  readonly off: string | undefined;
  readonly watch: NonNullable<InvokeDeps['watch']>;
  /** A hook is going to run; returns its end. */
  hookRuns(name: string, agent: AgentRef): Promise<() => void>;
  /** The person has said something. */
  turn(messageId: string, title: string): void;
  /** A request has gone out: while the model works there is time for the first look. */
  requested(): void;
  /** The model has answered: from now on whoever is the first to need the look takes it. */
  answered(): void;
  /** A background command has ended, and with it what it may write. */
  shellFinished(shell: Pick<BackgroundShell, 'id'>): void;
  close(): Promise<void>;
}

/** Long enough for a request to be on its way, which is not held up by an index. */
const AFTER_REQUEST_MS = 30;

export function openCheckpointing(parts: CheckpointParts): OpenCheckpoints {
  const { env, tell } = parts;
  const values = () => parts.settings().values;
  const state = journalSwitch(values(), env, parts);
  let opened: Promise<Checkpoints> | undefined;
  /** What the person has said before it was opened: each is a point to come back to. */
  let said: { readonly messageId: string; readonly title: string; readonly at: number }[] = [];
  let closed = false;
  let firstLook: NodeJS.Timeout | undefined;
  /** The model answered before the look was taken, so the next one who may write takes it. */
  let isPutOff = false;
  const open = (): Promise<Checkpoints> | undefined => {
    if (!state.on || closed) return opened;
    opened ??= import('./open.js')
      .then(({ openWorkspaceJournal }) => {
        const { sessionId, parentSessionId } = parts;
        const session = { sessionId, parentSessionId, notice: tell };
        return openWorkspaceJournal(parts, checkpointLimits(values()), session);
      })
      .then((journal) => {
        // Before the first call begins, however soon that is: it belongs to what the person said.
        for (const { messageId, title, at } of said) journal.mark(messageId, title, at);
        said = [];
        return journal;
      });
    return opened;
  };
  /** fail-closed for the promise to undo: a journal that cannot be kept is told, not forgotten. */
  let failed = false;
  const failure = (thrown: unknown): undefined => {
    if (!failed) tell(`changes are not journalled, rewind will miss them: ${messageOf(thrown)}`);
    failed = true;
    return undefined;
  };
  const begin = async (author: Author, paths: readonly string[]): Promise<OpenWindow | undefined> =>
    await open()
      ?.then((journal) => journal.begin(author, paths))
      .catch(failure);
  const pending = new Map<string, OpenWindow>();
  /** Calls that are held to changing nothing, by their ids. */
  const held = new Set<string>();
  const watched = async (starting: StartingCall, context: ToolContext) => {
    const { call, tool, input, verdict } = starting;
    const { agent, workspace, mode } = context;
    const { paths } = tool.subject(input, workspace);
    const written = paths.flatMap(({ path, access }) => (access === 'write' ? [path] : []));
    const window = await begin(authorOf(call.id, tool, agent), written);
    const onlyReads = parts.onlyReads(agent);
    const denied = parts.deniedEffects(agent);
    const assumed = assumedHarmless(tool, verdict, { agent, mode, onlyReads, denied });
    if (assumed !== undefined) held.add(call.id);
    const judge = async (window: OpenWindow): Promise<string | undefined> => {
      const journal = await open();
      if (assumed === undefined || journal === undefined) return undefined;
      const rollback = takesBack(values());
      const violation = await holdTo(assumed, await window.changes, {
        journal,
        rollback,
        isHeld: (id) => held.has(id),
      });
      if (violation === undefined) return undefined;
      parts.amend(violation.amended);
      tell(violation.text);
      return violation.text;
    };
    return {
      async ended(output) {
        // There is no journal, which was told.
        if (window === undefined) return [];
        const shell = parts.startedShell(output);
        if (shell !== undefined && shell.status === 'running') {
          pending.set(shell.id, window);
          window.goesOn();
          return [];
        }
        // What is to be undone is undone before the model goes on; what is only told is told later.
        const isAwaited = assumed !== undefined && takesBack(values());
        window.end();
        if (assumed === undefined) return [];
        if (isAwaited) return [await judge(window).catch(failure)].filter(isText);
        void judge(window)
          .catch(failure)
          .then((text) => text === undefined || parts.remind(text));
        return [];
      },
    } satisfies CallWatch;
  };
  return {
    journal: open,
    off: state.on ? undefined : state.why,
    watch: async (starting, context) =>
      state.on && mayWrite(starting.tool) ? await watched(starting, context) : undefined,
    async hookRuns(name, { id, type, path }) {
      // What runs before the first look is part of what that look finds.
      if (opened === undefined && !isPutOff) return () => undefined;
      const window = await begin(
        { kind: 'hook', name: redactSure(name), agent: { id, type, path } },
        [],
      );
      return () => window?.end();
    },
    turn(messageId, prompt) {
      if (!state.on || closed) return;
      const title = redactSure(prompt);
      const at = parts.clock.now();
      if (opened === undefined) said.push({ messageId, title, at });
      else void opened.then((journal) => journal.mark(messageId, title, at)).catch(failure);
    },
    requested() {
      if (!state.on || closed || opened !== undefined || said.length === 0) return;
      firstLook ??= setTimeout(() => void open()?.catch(failure), AFTER_REQUEST_MS).unref();
    },
    answered() {
      if (firstLook === undefined) return;
      clearTimeout(firstLook);
      firstLook = undefined;
      isPutOff = opened === undefined;
    },
    shellFinished({ id }) {
      pending.get(id)?.end();
      pending.delete(id);
    },
    async close() {
      closed = true;
      for (const window of pending.values()) window.end();
      await opened?.then((journal) => journal.close()).catch(failure);
    },
  };
}

const isText = (text: string | undefined): text is string => text !== undefined;

/** fail-closed: what a server says of its tools does not count; each of them may write. */
function mayWrite(tool: AnyTool): boolean {
  return tool.kind === 'edit' || tool.kind === 'execute' || tool.origin !== undefined;
}

function authorOf(toolUseId: string, tool: AnyTool, { id, type, path }: AgentRef): Author {
  return { kind: 'call', toolUseId, tool: tool.name, agent: { id, type, path } };
}
