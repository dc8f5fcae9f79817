import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { FolderChooser } from './folder.js';
import { Lanes } from './plot.js';
import { callSummary } from './transcript.js';
import type { ReceiptPage, ReceiptRow } from './types.js';
import {
  Badge,
  clean,
  clock,
  Dialog,
  Empty,
  html,
  many,
  Problem,
  ReceiptView,
  typed,
  useFetch,
} from './ui.js';

export function ReceiptsView({ query }: { query: URLSearchParams }): VNode {
  const [cwd, setCwd] = useState(query.get('cwd') ?? '');
  return html`<section class="view" aria-labelledby="receipts-title">
    <div class="head"><h1 id="receipts-title">Receipts</h1><${FolderChooser} cwd=${cwd} onChoose=${setCwd} /></div>
    ${cwd === '' ? html`<${Empty}>Choose a folder to see every decision about its calls.<//>` : html`<${ReceiptsTable} cwd=${cwd} session=${query.get('session') ?? ''} text=${query.get('q') ?? ''} />`}
  </section>`;
}

/** A search of the journal, with chain verification and hook lanes. */
export function ReceiptsTable({
  cwd,
  session,
  text = '',
}: {
  cwd: string;
  session: string;
  text?: string;
}): VNode {
  const [q, setQ] = useState(text);
  const [decision, setDecision] = useState('');
  const [tool, setTool] = useState('');
  const [opened, open] = useState<ReceiptRow>();
  const [isVerified, setVerified] = useState(false);
  const { value, error, reload } = useFetch<ReceiptPage>('/api/receipts', {
    cwd,
    session,
    q,
    decision,
    tool,
  });
  const { value: every } = useFetch<ReceiptPage>('/api/receipts', { cwd, session });
  const tools = [...new Set((every?.rows ?? []).map(({ receipt }) => receipt.tool))].sort();
  const draw = (row: ReceiptRow): VNode => {
    const { receipt } = row;
    return html`<div role="listitem"><button type="button" class="receipt-row" onClick=${() => open(row)}>
      <span class="when">${clock(row.time)}</span><${Badge} kind=${receipt.decision} /><b>${clean(receipt.tool)}</b>
      <span class="mono what">${clean(callSummary(receipt.input).slice(0, 200))}</span>
      <span class="muted">${clean(receipt.agent)}</span><span class="muted by">${clean(receipt.decidedBy)}</span>
    </button></div>`;
  };
  return html`<div class="receipts">
    <div class="filters">
      <input type="search" aria-label="Search receipts" placeholder="Tool, rule, hook, agent, text …" value=${q} onInput=${typed(setQ)} />
      <select aria-label="Verdict" value=${decision} onChange=${typed(setDecision)}><option value="">Any verdict</option><option value="allow">allow</option><option value="deny">deny</option><option value="defer">defer</option></select>
      <select aria-label="Tool" value=${tool} onChange=${typed(setTool)}><option value="">Any tool</option>${tools.map((one) => html`<option value=${one}>${clean(one)}</option>`)}</select>
      <button type="button" onClick=${() => {
        setVerified(true);
        reload();
      }}>Verify chain</button>
      <span class="muted">${value === undefined ? '' : many(value.found, 'decision')}</span>
    </div>
    <${Problem} text=${error} />
    ${isVerified ? html`<div role="status" class="chains">${(value?.chains ?? []).map(({ session: id, chain }) => html`<p class=${chain.ok ? 'good' : 'problem'}>${id.slice(0, 8)}: ${chain.ok ? `chain is whole, ${many(chain.lines ?? 0, 'line')}${chain.torn === 0 ? '' : `, ${chain.torn} torn`}` : `broken at line ${chain.line}: ${chain.reason}`}</p>`)}</div>` : null}
    ${value?.rows.length === 0 ? html`<${Empty}>No decision fits.<//>` : null}
    ${value === undefined ? null : html`<div class="rows" role="list" aria-label="Decisions" tabindex="0">${value.rows.map(draw)}</div>`}
    ${(value?.lanes.length ?? 0) === 0 ? null : html`<h3>Hooks over time</h3><${Lanes} lanes=${value?.lanes ?? []} />`}
    ${opened === undefined ? null : html`<${Dialog} title=${`${opened.receipt.tool}, ${clock(opened.time)}`} onClose=${() => open(undefined)}><p class="muted mono">${clean(opened.receipt.toolUseId)} · ${clean(opened.receipt.agent)} · line ${opened.n}</p><${ReceiptView} receipt=${opened.receipt} /><//>`}
  </div>`;
}
