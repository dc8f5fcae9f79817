import { readFileSync, statSync } from 'node:fs';
import { type ProposedChange, proposedChange } from '../client/proposed-change.js';
import type { Question } from '../client/questions.js';
import { resolve } from '../platform/fs/paths.js';
import type { InboxQuestion } from '../project/project.js';
import type { BoundQuestion } from './remote-session.js';
import { isShort, shorten } from './shorten.js';

/** An open question of any session, as the inbox shows it. */
export interface InboxRow {
  readonly id: string;
  /** Of the session that is joined; empty: it asks in files, and can be allowed or refused. */
  readonly key: string;
  readonly sessionId: string;
  readonly title: string;
  readonly hash: string;
  readonly agent: string;
  readonly kind: Question['kind'];
  readonly askedAt: string;
  readonly expiresAt?: string | undefined;
  readonly reason: string;
  /** Equal for questions about the same call in the same directory. */
  readonly sameAs: string;
  readonly question: Question;
  readonly change?: ProposedChange | undefined;
  /** Not all of it can be shown here, so it can only be refused. */
  readonly tooLong: boolean;
}

export function inboxRow(
  { question, hash }: BoundQuestion,
  session: { readonly key: string; readonly title: string; readonly sessionId: string },
): InboxRow {
  const { id, kind, askedAt, expiresAt, reason, agent } = question;
  const call = 'call' in question ? question.call : undefined;
  return {
    id,
    ...session,
    hash,
    agent: agent.path,
    kind,
    askedAt,
    expiresAt,
    reason,
    sameAs:
      call === undefined ? id : JSON.stringify([call.tool, call.cwd, call.input]).slice(0, 4_000),
    question: shorten(question),
    change: call && change(call.tool, call.input, call.cwd),
    // fail-closed: a yes would cover what nobody was shown.
    tooLong: !isShort(question),
  };
}

/** A question of a background agent whose session cannot be joined. */
export function storedRow(stored: InboxQuestion): InboxRow {
  const { id, sessionId, callHash, agent, askedAt, expiresAt, reason, tool, summary, cwd } = stored;
  const at = new Date(askedAt).toISOString();
  const until = new Date(expiresAt).toISOString();
  const question: Question = {
    id,
    kind: 'permission',
    agent: { ...agent, depth: 1, background: true },
    reason,
    askedAt: at,
    expiresAt: until,
    call: {
      toolUseId: stored.toolUseId,
      tool,
      summary,
      input: {},
      cwd,
      suggestedUpdates: [],
    },
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
    id,
    key: '',
    sessionId,
    title: '',
    hash: callHash,
    agent: agent.path,
    kind: 'permission',
    askedAt: at,
    expiresAt: until,
    reason,
    sameAs: JSON.stringify([tool, cwd, summary]).slice(0, 4_000),
    question,
    tooLong: stored.tooLong === true,
  };
}

const LARGEST_FILE = 1024 * 1024;

function change(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  cwd: string,
): ProposedChange | undefined {
  const read = (path: string): string | undefined => {
    try {
      const file = resolve(cwd, path);
      const stat = statSync(file);
      return stat.isFile() && stat.size <= LARGEST_FILE ? readFileSync(file, 'utf8') : undefined;
    } catch {
      // The change is shown without the text around it.
      return undefined;
    }
  };
  const proposed = proposedChange(tool, input, read);
  return proposed && shorten(proposed);
}
