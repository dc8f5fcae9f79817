import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TrustCheck } from '../../project/trust.js';
import type { folderView, processRows } from '../folder-view.js';
import { post } from './api.js';
import { folders, useStore } from './store.js';
import type { PastRow } from './types.js';
import { Ago, Badge, clean, Empty, html, Problem, shortPath, typed, useFetch } from './ui.js';

export interface TrustReport {
  readonly root: string;
  readonly verdict: TrustCheck['verdict'];
  readonly digest: string;
  readonly declarations: readonly (TrustCheck['declarations'][number] & {
    readonly pending?: string;
  })[];
}

type FolderReport = Omit<Awaited<ReturnType<typeof folderView>>, 'trust'> & {
  readonly trust: TrustReport;
};
type ProcessRow = ReturnType<typeof processRows>[number];

/** A select of the folders of all sessions. */
export function FolderChooser({
  cwd,
  onChoose,
}: {
  cwd: string;
  onChoose: (cwd: string) => void;
}): VNode {
  const { overview } = useStore();
  const { value = [] } = useFetch<readonly PastRow[]>('/api/sessions');
  const all = folders(overview, value);
  useEffect(() => {
    if (cwd === '' && all[0] !== undefined) onChoose(all[0]);
  });
  const known = cwd === '' || all.includes(cwd) ? all : [cwd, ...all];
  return html`<label class="chooser">Folder <select value=${cwd} onChange=${typed(onChoose)}>${known.map((one) => html`<option value=${one}>${clean(shortPath(one))}</option>`)}</select></label>`;
}

export function TrustList({ trust }: { trust: TrustReport }): VNode {
  return html`<div class="scroll"><table class="grid"><thead><tr><th>What</th><th>Name</th><th>Runs or allows</th><th>File</th></tr></thead><tbody>${trust.declarations.map(
    ({ kind, name, text, file, line, pending }) =>
      html`<tr><td>${clean(kind)} ${pending === undefined ? null : html`<${Badge} kind=${pending} />`}</td><td>${clean(name)}</td><td class="mono wrap">${clean(text)}</td><td class="mono" title=${file}>${clean(`${shortPath(file)}${line === undefined ? '' : `:${line}`}`)}</td></tr>`,
  )}</tbody></table></div>`;
}

/** Trust, hooks and MCP servers of a folder, and the processes of all sessions. */
export function FolderView(): VNode {
  const [cwd, setCwd] = useState('');
  return html`<section class="view" aria-labelledby="folder-title">
    <div class="head"><h1 id="folder-title">Trust and processes</h1><${FolderChooser} cwd=${cwd} onChoose=${setCwd} /></div>
    ${cwd === '' ? null : html`<${Folder} key=${cwd} cwd=${cwd} />`}
    <${LiveServers} /><${Processes} />
  </section>`;
}

function Folder({ cwd }: { cwd: string }): VNode {
  const { me } = useStore();
  const { value, error, reload } = useFetch<FolderReport>('/api/folder', { cwd });
  const [told, tell] = useState('');
  if (value === undefined) return html`<${Problem} text=${error} />`;
  const { trust, hooks, servers } = value;
  const act = (body: object): void => {
    post('/api/trust', { cwd, ...body }).then(
      () => {
        tell('');
        reload();
      },
      (thrown: Error) => tell(thrown.message),
    );
  };
  const isOpen = trust.verdict === 'never' || trust.verdict === 'changed';
  const words = {
    nothing: 'Nothing here needs trust.',
    trusted: 'You trust what is listed here, until it changes.',
    never: 'You have not trusted this folder: what is listed here is not in force.',
    changed: 'The folder has changed since you trusted it.',
  };
  return html`<div class="head"><h2>Trust</h2><${Badge} kind=${trust.verdict} /></div>
    <p>${words[trust.verdict]} <span class="muted mono">${clean(trust.root)}</span></p><${Problem} text=${told} />
    ${trust.declarations.length === 0 ? null : html`<${TrustList} trust=${trust} />`}
    ${me?.role !== 'operator' ? null : html`<div class="buttons">${isOpen ? html`<button type="button" class="primary" onClick=${() => act({ digest: trust.digest })}><span>Trust this folder</span></button>` : trust.verdict === 'trusted' ? html`<button type="button" class="refuse" onClick=${() => act({ revoke: true })}><span>Stop trusting it</span></button>` : null}</div>`}
    <h2>Hooks</h2>
    ${
      hooks.rows.length + hooks.skipped.length === 0
        ? html`<${Empty}>No hook is declared.<//>`
        : html`<div class="scroll"><table class="grid"><thead><tr><th>Event</th><th>Matches</th><th>Runs</th><th>If it fails</th><th>Declared in</th></tr></thead><tbody>
      ${hooks.rows.map(({ event, matcher, runs, failure, file, line, source, broken }) => html`<tr><td>${event}</td><td>${clean(matcher ?? '*')}</td><td class="mono wrap">${clean(runs)}</td><td>${broken === undefined ? failure : html`<span class="problem">${clean(broken)}</span>`}</td><td class="mono">${clean(file === undefined ? source : `${shortPath(file)}:${line ?? 1}`)}</td></tr>`)}
      ${hooks.skipped.map(({ event, label, origin, why }) => html`<tr class="off"><td>${event ?? ''}</td><td></td><td class="mono wrap">${clean(label)}</td><td>not asked: ${clean(why)}</td><td class="mono">${clean(origin)}</td></tr>`)}
    </tbody></table></div>`
    }
    <h2>MCP servers</h2>
    ${servers.length === 0 ? html`<${Empty}>No server is declared.<//>` : html`<ul class="plain">${servers.map(({ name, scope, state, details }) => html`<li><b>${clean(name)}</b> <${Badge} kind=${state} /> <span class="muted">${clean(scope)}</span> <span class="mono">${clean(details.join(' '))}</span></li>`)}</ul>`}`;
}

/** The MCP servers of running sessions, with a button to reconnect. */
function LiveServers(): VNode | null {
  const { overview, me } = useStore();
  const [told, tell] = useState('');
  const rows = (overview?.sessions ?? []).flatMap(({ key, title, sessionId, servers }) =>
    servers.map((server) => ({ key, title: title || sessionId.slice(0, 8), ...server })),
  );
  if (rows.length === 0) return null;
  const reconnect = (key: string, name: string): void => {
    post('/api/send', { key, name: 'command', params: { line: `/mcp reconnect ${name}` } }).then(
      ({ result }) => tell(String((result as { text?: string } | null)?.text ?? '')),
      (thrown: Error) => tell(thrown.message),
    );
  };
  return html`<h2>Servers of running sessions</h2><p role="status" class="mono">${clean(told)}</p><ul class="plain">${rows.map(
    ({ key, title, name, status }) =>
      html`<li><b>${clean(name)}</b> <${Badge} kind=${status} /> <span class="muted">${clean(title)}</span> ${me?.role === 'operator' ? html`<button type="button" class="quiet" onClick=${() => reconnect(key, name)}>Reconnect</button>` : null}</li>`,
  )}</ul>`;
}

function Processes(): VNode {
  const { value = [], error, reload } = useFetch<readonly ProcessRow[]>('/api/processes');
  return html`<div class="head"><h2>Processes</h2><button type="button" class="quiet" onClick=${reload}>Refresh</button></div><${Problem} text=${error} />
    ${
      value.length === 0
        ? html`<${Empty}>No session has a child process that runs.<//>`
        : html`<div class="scroll"><table class="grid"><thead><tr><th class="num">Pid</th><th>Kind</th><th>Age</th><th>Session</th><th>Label</th><th>Command</th></tr></thead><tbody>${value.map(
            ({ pid, kind, label, command, since, sessionId, orphan }) =>
              html`<tr><td class="num">${pid}</td><td>${kind} ${orphan ? html`<${Badge} kind="orphan" />` : null}</td><td><${Ago} time=${since} /></td><td class="mono">${sessionId.slice(0, 8)}</td><td>${clean(label)}</td><td class="mono wrap">${clean(command)}</td></tr>`,
          )}</tbody></table></div>`
    }`;
}
