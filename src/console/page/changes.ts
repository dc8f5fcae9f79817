import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RewindResult } from '../../project/changes.js';
import type { listChanges } from '../changes.js';
import { get, post } from './api.js';
import { useStore } from './store.js';
import type { ChangeRow, SessionPlace as Place } from './types.js';
import {
  Badge,
  clean,
  clock,
  Dialog,
  DiffLines,
  Empty,
  html,
  many,
  moment,
  Problem,
  useLoad,
  usePost,
} from './ui.js';

type Plan = Extract<RewindResult, { kind: 'done' }>['plan'];
type Changes = Awaited<ReturnType<typeof listChanges>>;

interface Target {
  readonly kind: 'message' | 'call' | 'agent';
  readonly id: string;
  readonly words: string;
}

/** The changes of a session by turn, with rewind. */
export function ChangesView({ place }: { place: Place }): VNode {
  const { me } = useStore();
  const query = { session: place.sessionId, cwd: place.cwd };
  const { value, error, reload } = useLoad<Changes>(
    () => get('/api/changes', query),
    [place.sessionId],
  );
  const [target, setTarget] = useState<Target>();
  if (value === undefined)
    return html`<${Problem} text=${error} />${error === undefined ? html`<p class="muted">Reading the journal …</p>` : null}`;
  const turns = [
    { messageId: '', at: 0, title: 'Before the first prompt', complete: true, gaps: [] },
    ...value.points,
  ];
  const agents = [...new Set(value.rows.flatMap((row) => row.agents))].filter(
    (path) => path !== 'main',
  );
  const undo = (kind: Target['kind'], id: string, words: string): VNode | null =>
    me?.role === 'viewer'
      ? null
      : html`<button type="button" class="quiet" onClick=${() => setTarget({ kind, id, words })}>${words}</button>`;
  return html`<div class="changes">
    ${value.rows.length === 0 ? html`<${Empty}>This session has changed no file.<//>` : null}
    ${agents.map((path) => html`<p>${clean(path)} ${undo('agent', path, 'Undo all work of this agent')}</p>`)}
    ${turns.toReversed().map(({ messageId, at, title, complete, gaps }) => {
      const rows = value.rows.filter((row) => (row.turn ?? '') === messageId);
      if (rows.length === 0 && messageId === '') return null;
      return html`<section class="turn-changes"><div class="head"><h3>${clean(title)}</h3>${messageId === '' ? null : html`<span class="muted">${moment(at)}</span>${undo('message', messageId, 'Rewind to before this')}`}</div>
        ${complete ? null : html`<p class="problem">Incomplete: ${clean(gaps.join('; '))}</p>`}
        ${rows.length === 0 ? html`<p class="muted">No file changed.</p>` : rows.map((row) => html`<${ChangeLine} key=${row.seq} row=${row} place=${place} undo=${row.calls.length === 1 ? undo('call', row.calls[0] ?? '', 'Undo this call') : null} />`)}
      </section>`;
    })}
    ${
      target === undefined
        ? null
        : html`<${RewindDialog} place=${place} target=${target} mayAct=${me?.role === 'operator'} onClose=${() => {
            setTarget(undefined);
            reload();
          }} />`
    }
  </div>`;
}

function ChangeLine({
  row,
  place,
  undo,
}: {
  row: ChangeRow;
  place: Place;
  undo: VNode | null;
}): VNode {
  const [diff, setDiff] = useState<string | null>();
  const load = (event: Event): void => {
    if (!(event.currentTarget as HTMLDetailsElement).open || diff !== undefined) return;
    const query = { session: place.sessionId, cwd: place.cwd, seq: String(row.seq) };
    get<{ diff: string | null }>('/api/diff', query).then(
      (found) => setDiff(found.diff),
      () => setDiff(null),
    );
  };
  return html`<div class="change"><details onToggle=${load}>
    <summary><${Badge} kind=${row.action} /> <span class="mono">${clean(row.path)}</span> <span class="muted">${clean(row.who)} · ${clock(row.at)}</span> </summary>
    ${diff === undefined ? null : diff === null ? html`<p class="muted">There is no text difference to show.</p>` : html`<${DiffLines} lines=${diff.split('\n')} />`}
  </details>${undo}</div>`;
}

function RewindDialog({
  place,
  target,
  mayAct,
  onClose,
}: {
  place: Place;
  target: Target;
  mayAct: boolean;
  onClose: () => void;
}): VNode {
  const asked = { session: place.sessionId, cwd: place.cwd, kind: target.kind, id: target.id };
  const [overwrite, setOverwrite] = useState(false);
  const { value: result, error: failure, send } = usePost<RewindResult>('/api/rewind');
  const { value, error } = useLoad(
    async () => (await post('/api/preview', asked)) as unknown as Plan & { why?: string },
    [],
  );
  const list = (title: string, rows: readonly string[]): VNode | null =>
    rows.length === 0
      ? null
      : html`<h4>${title} (${rows.length})</h4><ul class="plain mono">${rows.map((row) => html`<li>${clean(row)}</li>`)}</ul>`;
  const isNothing = value?.restored?.length === 0 && (!overwrite || value.conflicts.length === 0);
  return html`<${Dialog} title=${target.words} onClose=${onClose}>
    <${Problem} text=${error ?? value?.why} />
    ${
      value?.restored === undefined
        ? null
        : html`${list(
            'Will be restored',
            value.restored.map(({ action, path }) => `${action} ${path}`),
          )}
          ${list(
            'Kept, because others changed them since',
            value.conflicts.map(({ path, why }) => `${path}: ${why}`),
          )}
          ${list(
            'Cannot be restored',
            value.impossible.map(({ what, why }) => `${what}: ${why}`),
          )}
          ${value.restored.length === 0 ? html`<p class="muted">Nothing would be restored.</p>` : html`<p class="muted">+${value.insertions} −${value.deletions} lines</p>`}
          ${value.conflicts.length === 0 ? null : html`<label class="check"><input type="checkbox" checked=${overwrite} onChange=${() => setOverwrite(!overwrite)} /> Also restore what others changed since</label>`}`
    }
    <${Problem} text=${failure} /><p role="status">${outcomeOf(result)}</p>
    <div class="buttons">${mayAct ? html`<button type="button" class="primary" disabled=${value?.restored === undefined || result !== undefined || isNothing} onClick=${() => send({ ...asked, overwrite })}><span>Restore these files</span></button>` : html`<p class="muted">Only an operator restores files.</p>`}
    <button type="button" onClick=${onClose}><span>Close</span></button></div>
  <//>`;
}

function outcomeOf(result: RewindResult | undefined): string {
  if (result === undefined) return '';
  if (result.kind !== 'done') return `Refused: ${result.why}`;
  const failed = result.failed.length === 0 ? '' : `, ${result.failed.length} failed`;
  return `Restored ${many(result.plan.restored.length, 'file')}${failed}.`;
}
