import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get, post } from './api.js';
import { TrustList, type TrustReport } from './folder.js';
import { folders, useStore } from './store.js';
import type { LiveRow, PastRow } from './types.js';
import {
  Ago,
  Badge,
  clean,
  Dialog,
  dollars,
  Empty,
  html,
  Problem,
  shortPath,
  typed,
  useFetch,
} from './ui.js';

const ORDER = ['needs you', 'working', 'opening', 'idle', 'unreachable'];

/** Running sessions, those with open questions first, then those on disk. */
export function SessionsView(): VNode {
  const { overview, me } = useStore();
  const [isStarting, setStarting] = useState(false);
  const [text, setText] = useState('');
  const live = overview?.sessions ?? [];
  const keys = live.map(({ key }) => key).join();
  const { value: past = [], error } = useFetch<readonly PastRow[]>('/api/sessions', { of: keys });
  const running = new Set(live.map(({ sessionId }) => sessionId));
  const rows = live.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const word = text.toLowerCase();
  const done = past.filter(
    ({ sessionId, title, cwd }) =>
      !running.has(sessionId) && `${sessionId} ${title} ${cwd}`.toLowerCase().includes(word),
  );
  return html`<section class="view" aria-labelledby="sessions-title">
    <div class="head"><h1 id="sessions-title">Sessions <span class="count">${live.length}</span></h1>
      ${me?.role === 'operator' ? html`<button type="button" class="primary" onClick=${() => setStarting(true)}>New session</button>` : null}</div>
    <${Problem} text=${overview?.problem} />
    ${rows.length === 0 ? html`<${Empty}>No session runs. Start one in any terminal, and it appears here.<//>` : null}
    <ul class="cards">${rows.map((row) => html`<${LiveCard} row=${row} />`)}</ul>
    <div class="head"><h2>Done</h2><input type="search" aria-label="Search sessions" placeholder="Search" value=${text} onInput=${typed(setText)} /></div>
    <${Problem} text=${error} />
    <ul class="list">${done
      .slice(0, 200)
      .map(
        ({ sessionId, title, cwd, lastModified }) =>
          html`<li><a class="line" href=${`#/past/${sessionId}?cwd=${encodeURIComponent(cwd)}`}><span class="top"><b>${clean(title)}</b><${Ago} time=${lastModified} /></span><span class="muted mono">${clean(shortPath(cwd))} · ${sessionId.slice(0, 8)}</span></a></li>`,
      )}</ul>
    ${isStarting ? html`<${StartDialog} folders=${folders(overview, past)} onClose=${() => setStarting(false)} />` : null}
  </section>`;
}

function LiveCard({ row }: { row: LiveRow }): VNode {
  const { key, title, state, model, mode, kind, costUsd, unknownModels, agents, problem } = row;
  const where = row.cwd || (row.repository ?? 'no repository');
  const cost = unknownModels.length > 0 ? `${dollars(costUsd)} + unknown` : dollars(costUsd);
  return html`<li><a class="card session" href=${`#/session/${key}`}>
    <span class="top"><b>${clean(title || 'New session')}</b><${Badge} kind=${state} /></span>
    <span class="muted mono" title=${where}>${clean(shortPath(where))}</span>
    <span class="row-facts">${[clean(model), clean(mode), kind, cost].filter((fact) => fact !== '').map((fact) => html`<span>${fact}</span>`)}${agents.length === 0 ? null : html`<span>${agents.length} agents</span>`}</span>
    <${Problem} text=${problem} />
  </a></li>`;
}

/** Starts a session in a folder, after the person has seen what the folder would run. */
function StartDialog({
  folders: known,
  onClose,
}: {
  folders: readonly string[];
  onClose: () => void;
}): VNode {
  const [cwd, setCwd] = useState(known[0] ?? '');
  const [prompt, setPrompt] = useState('');
  const [mode, setMode] = useState('default');
  const [model, setModel] = useState('');
  const [trust, setTrust] = useState<TrustReport>();
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const start = async (isAccepted: boolean): Promise<void> => {
    setBusy(true);
    setError('');
    try {
      const { trust: seen } = await get<{ trust: TrustReport }>('/api/folder', { cwd });
      const needsTrust = seen.verdict === 'never' || seen.verdict === 'changed';
      if (needsTrust && trust === undefined) setTrust(seen);
      else {
        if (isAccepted && trust !== undefined)
          await post('/api/trust', { cwd, digest: trust.digest });
        const { sessionId } = await post('/api/start', { cwd, prompt, mode, model });
        onClose();
        location.hash = `#/sessions?new=${sessionId}`;
      }
    } catch (thrown) {
      setError((thrown as Error).message);
    }
    setBusy(false);
  };
  if (trust !== undefined) {
    return html`<${Dialog} title="Trust this folder?" onClose=${onClose}>
      <p>Files of <b class="mono">${clean(trust.root)}</b> want to run programs or to allow things without asking. Trust it only if you know its authors.</p>
      <${TrustList} trust=${trust} /><${Problem} text=${error} />
      <div class="buttons"><button type="button" class="primary" disabled=${isBusy} onClick=${() => start(true)}><span>Trust and start</span></button>
      <button type="button" disabled=${isBusy} onClick=${() => start(false)}><span>Start without trust</span></button>
      <button type="button" class="refuse" onClick=${onClose}><span>Cancel</span></button></div>
    <//>`;
  }
  return html`<${Dialog} title="New session" onClose=${onClose}>
    <label class="reason">Folder<input type="text" list="folders" value=${cwd} onInput=${typed(setCwd)} /></label>
    <datalist id="folders">${known.map((one) => html`<option value=${one}></option>`)}</datalist>
    <label class="reason">Prompt<textarea rows="4" value=${prompt} onInput=${typed(setPrompt)}></textarea></label>
    <div class="pair"><label class="reason">Mode<select value=${mode} onChange=${typed(setMode)}><option value="default">default</option><option value="acceptEdits">acceptEdits</option><option value="plan">plan</option><option value="dontAsk">dontAsk</option></select></label>
    <label class="reason">Model<input type="text" placeholder="of the settings" value=${model} onInput=${typed(setModel)} /></label></div>
    <p class="muted">It runs as a program of its own and ends with this console.</p>
    <${Problem} text=${error} />
    <div class="buttons"><button type="button" class="primary" disabled=${isBusy || cwd === '' || prompt === ''} onClick=${() => start(false)}><span>${isBusy ? 'Starting …' : 'Start'}</span></button></div>
  <//>`;
}
