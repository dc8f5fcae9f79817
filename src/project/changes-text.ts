import type { Author, Change, CheckpointNote, RewindPlan } from '../checkpoint/types.js';
import { visible } from '../lib/text/visible.js';

/** What happened to a path, as one word. */
export function actionOf({ before, after, renamedFrom }: Change): string {
  if (renamedFrom !== undefined) return 'renamed';
  if (before === undefined) return 'created';
  if (after === undefined) return 'deleted';
  if (before.kind !== after.kind) return 'replaced';
  if (before.kind === 'file' && after.kind === 'file') {
    const sameBytes = before.blob !== undefined && before.blob === after.blob;
    return sameBytes ? 'mode' : 'modified';
  }
  return before.kind === 'directory' ? 'mode' : 'modified';
}

/** Who may have done it. */
function authorText(author: Author): string {
  switch (author.kind) {
    case 'user':
      return 'you';
    case 'rewind':
      return 'a rewind';
    case 'hook':
      return `hook ${author.name}${ofAgent(author.agent.path)}`;
    case 'call':
      return `${author.tool} ${author.toolUseId}${ofAgent(author.agent.path)}${author.background === true ? ', in the background' : ''}`;
  }
}

function ofAgent(path: string): string {
  return path === 'main' ? '' : ` of ${path}`;
}

export function authorsText(authors: readonly Author[]): string {
  const all = authors.map(authorText);
  return all.length === 1 ? (all[0] ?? '') : `one of: ${all.join('; ')}`;
}

/** The changes of a session, grouped by who made them one after the other. */
export function changesText(changes: readonly Change[]): string {
  if (changes.length === 0) return 'no changes\n';
  const lines: string[] = [];
  let last = '';
  for (const change of changes) {
    const who = authorsText(change.authors);
    if (who !== last) lines.push(visible(who));
    last = who;
    const from = change.renamedFrom === undefined ? '' : ` (was ${change.renamedFrom})`;
    lines.push(`  ${actionOf(change).padEnd(9)} ${visible(`${change.path}${from}`)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The points of a session to come back to, newest last, numbered from the end. */
export function pointsText(points: readonly CheckpointNote[]): string {
  if (points.length === 0) return 'no points to go back to\n';
  const rows = points.map(({ messageId, at, title, complete, gaps }, index) => {
    const number = String(points.length - index).padStart(3);
    const time = new Date(at).toISOString().replace('T', ' ').slice(0, 19);
    const head = `${number}  ${time}  ${messageId}  ${visible(title)}`;
    return complete ? head : `${head}\n     partial: ${visible(gaps.join('; '))}`;
  });
  return `${rows.join('\n')}\n`;
}

/** What a rewind restores and what it leaves, before it (`planned`) or after it. */
export function rewindPlanText(plan: RewindPlan, when: 'planned' | 'done'): string {
  const lines: string[] = [];
  const { restored, conflicts, impossible, stillRunning } = plan;
  const list = (title: string, rows: readonly string[]): void => {
    if (rows.length === 0) return;
    lines.push(`${title} (${rows.length}):`, ...rows.map((row) => `  ${visible(row)}`));
  };
  list(
    when === 'planned' ? 'to be restored' : 'restored',
    restored.map(({ action, path }) => `${action.padEnd(9)} ${path}`),
  );
  list(
    'kept, because they were changed since',
    conflicts.map(({ path, why }) => `${path}: ${why}`),
  );
  list(
    'not restorable',
    impossible.map(({ what, why }) => `${what}: ${why}`),
  );
  list('still running, and may write again', stillRunning.map(authorText));
  if (lines.length === 0) lines.push('nothing to restore');
  else if (restored.length > 0) lines.push(`+${plan.insertions} -${plan.deletions} lines`);
  return `${lines.join('\n')}\n`;
}
