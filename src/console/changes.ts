import { PortcullisError } from '../errors.js';
import type { RewindResult } from '../project/changes.js';
import { actionOf, authorsText } from '../project/changes-text.js';
import type { Project } from '../project/project.js';
import { type Environment, type SessionPlace, withProject } from './project.js';
import { shorten } from './shorten.js';

type Journal = Awaited<ReturnType<Project['changes']>>['checkpoints'];
type Target = Parameters<Journal['rewind']>[0];

/** A change of a file by a session. */
export interface ChangeRow {
  readonly seq: number;
  readonly path: string;
  readonly action: string;
  readonly at: number;
  readonly turn?: string | undefined;
  readonly calls: readonly string[];
  readonly agents: readonly string[];
  readonly who: string;
}

const MOST_CHANGES = 5_000;

export async function listChanges(env: Environment, place: SessionPlace) {
  return await withJournal(env, place, async (journal) => {
    const changes = (await journal.changes()).slice(-MOST_CHANGES);
    const rows = changes.map((change): ChangeRow => {
      const calls = change.authors.filter((author) => author.kind === 'call');
      return {
        seq: change.seq,
        path: change.path,
        action: actionOf(change),
        at: change.at,
        turn: change.messageId,
        calls: calls.map(({ toolUseId }) => toolUseId),
        agents: [...new Set(calls.map(({ agent }) => agent.path))],
        who: authorsText(change.authors),
      };
    });
    return { points: journal.points(), state: journal.state(), rows };
  });
}

export async function diffOf(env: Environment, place: SessionPlace, seq: number) {
  return await withJournal(env, place, async (journal) => {
    const change = (await journal.changes()).find((one) => one.seq === seq);
    const diff = change && (await journal.diff(change));
    return { diff: diff === undefined ? null : shorten(diff) };
  });
}

/** What a rewind would do. */
export async function previewRewind(env: Environment, place: SessionPlace, target: Target) {
  return await withJournal(env, place, (journal) => journal.preview(target));
}

export async function rewindFiles(
  env: Environment,
  place: SessionPlace,
  { target, overwrite }: { readonly target: Target; readonly overwrite: boolean },
): Promise<RewindResult> {
  return await withJournal(env, place, (journal) =>
    journal.rewind(target, { overwriteConflicts: overwrite }),
  );
}

/** Parses the target of a rewind. */
export function readTarget(given: Readonly<Record<string, unknown>>): Target {
  const { kind, id } = given;
  if (typeof id === 'string' && id !== '') {
    if (kind === 'message') return { kind, messageId: id };
    if (kind === 'call') return { kind, toolUseId: id, only: true };
    if (kind === 'agent') return { kind, agent: id };
  }
  throw new PortcullisError('usage', 'a rewind names a message, a call or an agent');
}

async function withJournal<T>(
  env: Environment,
  { sessionId, cwd }: SessionPlace,
  use: (journal: Journal) => Promise<T>,
): Promise<T> {
  return await withProject(env, cwd, async (project) =>
    use((await project.changes(sessionId)).checkpoints),
  );
}
