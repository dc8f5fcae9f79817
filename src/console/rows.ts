import { readFileSync, statSync } from 'node:fs';
import { type ProposedChange, proposedChange } from '../client/proposed-change.js';
import type { Question, QuestionCall } from '../client/questions.js';
import { resolve } from '../platform/fs/paths.js';
import { sha256 } from '../platform/hash.js';
import type { InboxQuestion } from '../project/project.js';
import type { LiveSession } from './live-files.js';
import type { BoundQuestion, RemoteSnapshot } from './remote-session.js';
import { isShort, shorten } from './shorten.js';

/** A session that runs now, as lists show it. */
export interface LiveRow
  extends Omit<RemoteSnapshot['usage'], 'modelUsage'>,
    Pick<RemoteSnapshot, 'agents' | 'tasks'> {
  readonly key: string;
  readonly sessionId: string;
  readonly kind: LiveSession['kind'] | 'fleet';
  readonly pid?: number | undefined;
  /** Empty for sessions of the fleet, which work in a folder of their worker. */
  readonly cwd: string;
  readonly repository?: string | undefined;
  readonly title: string;
  readonly state: 'needs you' | 'working' | 'idle' | 'opening' | 'unreachable';
  readonly startedAt: string;
  readonly model: string;
  readonly mode: string;
  readonly models: readonly { readonly value: string; readonly displayName: string }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  /** Why it could not be joined. */
  readonly problem?: string | undefined;
}

/** An open question of any session, as the inbox shows it. */
export interface InboxRow {
  readonly id: string;
  /** The key of the session; empty: it cannot be joined, and its question is stored in a file. */
  readonly key: string;
  readonly sessionId: string;
  readonly title: string;
  /** The session may run on another machine: the files and rules of this one say nothing about the call. */
  readonly remote?: true;
  readonly hash: string;
  /** Equal for questions about the same call in the same directory. */
  readonly sameAs: string;
  readonly question: Question;
  readonly change?: ProposedChange | undefined;
  /** The question is too long to be shown whole, so it can only be refused. */
  readonly tooLong: boolean;
}

export function inboxRow(
  { question, hash }: BoundQuestion,
  session: Pick<InboxRow, 'key' | 'title' | 'sessionId' | 'remote'>,
): InboxRow {
  const call = 'call' in question ? question.call : undefined;
  return {
    id: question.id,
    ...session,
    hash,
    // fail-closed: a hash of all of it, so that one answer never covers a call that differs.
    sameAs: call ? sha256(JSON.stringify([call.tool, call.cwd, call.input])) : question.id,
    question: shorten(question),
    change: call && change(call, session.remote === true ? () => undefined : readText(call.cwd)),
    // fail-closed: an approval would cover text that was not shown.
    tooLong: !isShort(question),
  };
}

/** A question of a background agent whose session cannot be joined. */
export function storedRow(stored: InboxQuestion): InboxRow {
  const { id, sessionId, callHash, agent, askedAt, expiresAt, reason } = stored;
  const { toolUseId, tool, summary, cwd } = stored;
  const at = new Date(askedAt).toISOString();
  const until = new Date(expiresAt).toISOString();
  const question: Question = {
    id,
    kind: 'permission',
    agent: { ...agent, depth: 1, background: true },
    reason,
    askedAt: at,
    expiresAt: until,
    call: { toolUseId, tool, summary, input: {}, cwd, suggestedUpdates: [] },
    options: [
      { key: 'y', label: 'Yes, this once', answer: { behavior: 'allow' } },
      {
        key: 'a',
        label: 'Yes, and don’t ask again for this exact call this session',
        answer: { behavior: 'allow', scope: { what: 'exact', until: 'session' } },
      },
      { key: 'n', label: 'No', answer: { behavior: 'deny' } },
    ],
  };
  return {
    ...inboxRow({ question, hash: callHash }, { key: '', sessionId, title: '' }),
    sameAs: callHash,
    tooLong: stored.tooLong === true,
  };
}

const LARGEST_FILE = 1024 * 1024;

function readText(cwd: string) {
  return (path: string): string | undefined => {
    try {
      const file = resolve(cwd, path);
      const stat = statSync(file);
      return stat.isFile() && stat.size <= LARGEST_FILE ? readFileSync(file, 'utf8') : undefined;
    } catch {
      // The diff is shown without context lines.
      return undefined;
    }
  };
}

function change(
  { tool, input }: QuestionCall,
  read: (path: string) => string | undefined,
): ProposedChange | undefined {
  const proposed = proposedChange(tool, input, read);
  return proposed && shorten(proposed);
}
