import { systemClock } from '../../platform/clock.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ReadState, TouchedPath } from '../tool.js';

/** Who wrote a file last, as far as tools of this session did. */
export interface WriteNote {
  /** The agent's path. */
  readonly agent: string;
  readonly toolUseId: string;
  /** Of the content that it left. */
  readonly hash: string;
}

/** A shell command, by when it may have changed files. */
export interface CommandRun {
  readonly agent: string;
  readonly toolUseId: string;
  readonly from: number;
  /** Absent: it runs, or may have left something running. */
  readonly to?: number;
}

/**
 * What the agents of a session wrote, so that one who finds a file changed can be told by whom.
 * Paths are resolved through symbolic links.
 */
export interface WriteLedger {
  wrote(path: string, note: WriteNote): void;
  lastWrite(path: string): WriteNote | undefined;
  /** Files that the tools of one agent wrote. */
  writesOf(agent: string): readonly string[];
  /** A command begins. Returns what is called when it has ended; never called for those in the background. */
  commandStarted(run: Pick<CommandRun, 'agent' | 'toolUseId'>): () => void;
  /** Commands of the last while that ran at a time, newest first. */
  commandsAt(timeMs: number): readonly CommandRun[];
  /** The agent has ended and its report is made: what only that needed is let go. */
  forget(agent: string): void;
}

const MOST_FILES = 20_000;
const MOST_COMMANDS = 1_000;
/** Clocks of file systems go by ticks. */
const TICK_MS = 20;

export function createWriteLedger(now: () => number = systemClock.now): WriteLedger {
  const last = new Map<string, WriteNote>();
  const byAgent = new Map<string, Set<string>>();
  const commands: { agent: string; toolUseId: string; from: number; to?: number }[] = [];
  return {
    wrote(path, note) {
      // Put at the end, so that the oldest goes first.
      last.delete(path);
      last.set(path, note);
      const [oldest] = last.keys();
      if (last.size > MOST_FILES && oldest !== undefined) last.delete(oldest);
      const files = byAgent.get(note.agent) ?? new Set();
      files.add(path);
      byAgent.set(note.agent, files);
    },
    lastWrite: (path) => last.get(path),
    writesOf: (agent) => [...(byAgent.get(agent) ?? [])],
    commandStarted({ agent, toolUseId }) {
      const run: (typeof commands)[number] = { agent, toolUseId, from: now() };
      commands.push(run);
      if (commands.length > MOST_COMMANDS) commands.shift();
      return () => {
        run.to = now();
      };
    },
    commandsAt: (timeMs) =>
      commands
        .filter(({ from, to }) => from - TICK_MS <= timeMs && timeMs <= (to ?? now()) + TICK_MS)
        .reverse(),
    forget: (agent) => void byAgent.delete(agent),
  };
}

/** Who changes a file: what it has seen of it, and where its changes are written down. */
export interface Writer {
  readonly readState: ReadState;
  readonly agent: Pick<AgentRef, 'path'>;
  readonly toolUseId: string;
  readonly ledger?: WriteLedger | undefined;
  readonly touched?: readonly TouchedPath[] | undefined;
}

/** For a refusal: who is behind a file that is not what it was. */
export function describeWriter(
  writer: Pick<Writer, 'agent' | 'ledger'>,
  file: { readonly path: string; readonly hash: string; readonly mtimeMs: number },
): string {
  const last = writer.ledger?.lastWrite(file.path);
  const other = last === undefined || last.agent === writer.agent.path ? undefined : last;
  if (other !== undefined && other.hash === file.hash) {
    return `the agent ${other.agent} wrote it (call ${other.toolUseId})`;
  }
  const runs = writer.ledger?.commandsAt(file.mtimeMs) ?? [];
  const agents = [...new Set(runs.map(({ agent }) => agent))];
  const maybe = agents.length === 0 ? '' : `, maybe Bash of ${agents.join(' or ')}`;
  const program = `it was changed on disk by a person or an unknown program${maybe}`;
  return other === undefined ? program : `the agent ${other.agent} wrote it, and then ${program}`;
}
