import { err, ok, type Result } from '../../lib/result.js';
import type { OutsideRecord } from '../journal/entry.js';
import type { History } from '../journal/history.js';
import type { Author, Change, ChangeFilter, RewindTarget } from '../types.js';

/** The changes to undo. */
export interface Selection {
  /** Whether a change belongs to it; `unsure` when another author may have made it. */
  judge(change: Change): 'no' | 'yes' | 'unsure';
  /** Whether an outside change belongs to it. */
  includes(record: OutsideRecord): boolean;
  /** The first turn that may be affected. */
  readonly fromTurn: number;
}

export function selectionFor(history: History, target: RewindTarget): Result<Selection, string> {
  switch (target.kind) {
    case 'message':
      return sinceMessage(history, target.messageId);
    case 'call':
      return target.only === true
        ? onlyCall(history, target.toolUseId)
        : sinceCall(history, target.toolUseId);
    case 'agent':
      return ofAgent(history, target);
  }
}

function sinceMessage(history: History, messageId: string): Result<Selection, string> {
  const turn = history.positionOf(messageId);
  if (turn < 0) return err('there is no point for this message: the journal did not run then');
  const isAfter = (of: { readonly messageId?: string }): boolean =>
    history.positionOf(of.messageId) >= turn;
  return ok({
    judge: (change) => (isAfter(change) ? notTheUsers(change) : 'no'),
    includes: isAfter,
    fromTurn: turn,
  });
}

function sinceCall(history: History, toolUseId: string): Result<Selection, string> {
  const call = windowOf(history, toolUseId);
  if (call === undefined) return err('the journal knows no such call');
  return ok({
    judge(change) {
      if (change.seq <= call.after) return 'no';
      // Detected after the call began, but made before it.
      if (change.at < call.at && !change.authors.some(isCall(toolUseId))) return 'no';
      return notTheUsers(change);
    },
    includes: (record) => record.after > call.after || isCall(toolUseId)(record.author),
    fromTurn: history.positionOf(call.messageId),
  });
}

function onlyCall(history: History, toolUseId: string): Result<Selection, string> {
  const call = windowOf(history, toolUseId);
  if (call === undefined) return err('the journal knows no such call');
  const isIt = isCall(toolUseId);
  return ok({
    judge: (change) => theirs(change, isIt),
    includes: (record) => isIt(record.author),
    fromTurn: history.positionOf(call.messageId),
  });
}

function ofAgent(
  history: History,
  { agent, since }: Extract<RewindTarget, { kind: 'agent' }>,
): Result<Selection, string> {
  const turn = since === undefined ? -1 : history.positionOf(since);
  if (since !== undefined && turn < 0) return err('there is no point for this message');
  const isIt = isAgent(history, agent);
  if (!history.windows.some((window) => isIt(window.author))) {
    return err(`the journal knows nothing written by an agent ${JSON.stringify(agent)}`);
  }
  const isAfter = (of: { readonly messageId?: string }): boolean =>
    history.positionOf(of.messageId) >= turn;
  return ok({
    judge: (change) => (isAfter(change) ? theirs(change, isIt) : 'no'),
    includes: (record) => isAfter(record) && isIt(record.author),
    fromTurn: turn,
  });
}

/** Whether a change matches the filter of `changes`. */
export function passes(history: History, filter: ChangeFilter): (change: Change) => boolean {
  const { messageId, toolUseId, agent } = filter;
  const isIt = agent === undefined ? undefined : isAgent(history, agent);
  return (change) =>
    (messageId === undefined || change.messageId === messageId) &&
    (toolUseId === undefined || change.authors.some(isCall(toolUseId))) &&
    (isIt === undefined || change.authors.some(isIt));
}

function windowOf(history: History, toolUseId: string): History['windows'][number] | undefined {
  return history.windows.find(({ author }) => isCall(toolUseId)(author));
}

function notTheUsers(change: Change): 'no' | 'yes' | 'unsure' {
  return theirs(change, (author) => author.kind !== 'user');
}

function theirs(
  { authors }: Change,
  isTheirs: (author: Author) => boolean,
): 'no' | 'yes' | 'unsure' {
  if (!authors.some(isTheirs)) return 'no';
  return authors.every(isTheirs) ? 'yes' : 'unsure';
}

function isCall(toolUseId: string): (author: Author) => boolean {
  return (author) => author.kind === 'call' && author.toolUseId === toolUseId;
}

/** Matches an agent by id or path, and its descendants. */
function isAgent(history: History, agent: string): (author: Author) => boolean {
  const paths = new Set([agent]);
  for (const { author } of history.windows) {
    if ('agent' in author && author.agent.id === agent) paths.add(author.agent.path);
  }
  return (author) => {
    if (!('agent' in author)) return false;
    const { id, path } = author.agent;
    return id === agent || [...paths].some((top) => path === top || path.startsWith(`${top}/`));
  };
}
