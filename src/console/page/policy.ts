import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PolicyDecision as Decision } from '../../project/policy/policy.js';
import type { Replay } from '../../project/policy/replay.js';
import { FolderChooser } from './folder.js';
import type { RuleRow as Rule } from './types.js';
import {
  Badge,
  Code,
  clean,
  Empty,
  html,
  Problem,
  shortPath,
  TraceTable,
  typed,
  useFetch,
  usePost,
} from './ui.js';

/** Explains a call, lists the rules, and replays recorded calls with other settings. */
export function PolicyView(): VNode {
  const [cwd, setCwd] = useState('');
  return html`<section class="view" aria-labelledby="policy-title">
    <div class="head"><h1 id="policy-title">Policy</h1><${FolderChooser} cwd=${cwd} onChoose=${setCwd} /></div>
    ${cwd === '' ? html`<${Empty}>Choose a folder.<//>` : html`<${Explain} cwd=${cwd} /><${Rules} cwd=${cwd} /><${ReplayForm} cwd=${cwd} />`}
  </section>`;
}

const MODES = ['', 'default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

function Explain({ cwd }: { cwd: string }): VNode {
  const [call, setCall] = useState('Bash(git push)');
  const [agent, setAgent] = useState('');
  const [mode, setMode] = useState('');
  const { value: found, error, send } = usePost<Decision>('/api/explain');
  const submit = (event: Event): void => {
    event.preventDefault();
    void send({ cwd, call, agent, mode });
  };
  const trace = found?.receipt.trace.filter(({ guard }) => guard !== 'asker') ?? [];
  return html`<form class="card explain" onSubmit=${submit}>
    <h2>Try a call</h2>
    <div class="filters"><input class="grow mono" type="text" aria-label="Call" value=${call} onInput=${typed(setCall)} />
      <input type="text" aria-label="Agent" placeholder="Agent: main" value=${agent} onInput=${typed(setAgent)} />
      <select aria-label="Mode" value=${mode} onChange=${typed(setMode)}>${MODES.map((one) => html`<option value=${one}>${one === '' ? 'Mode of the settings' : one}</option>`)}</select>
      <button type="submit" class="primary">Explain</button></div>
    <p class="muted">As in a rule: Bash(git push), Read src/x.ts, WebFetch https://x.example. Nothing runs, and no question is asked.</p>
    <${Problem} text=${error} />
    ${
      found === undefined
        ? null
        : html`<div role="status"><p class="verdict"><${Badge} kind=${found.decision} /> by <b>${clean(found.decidedBy)}</b> ${found.rule === undefined ? null : html`<code>${clean(found.rule)}</code>`}</p>
          <p>${clean(found.reason)}</p>
          ${found.receipt.command === undefined ? null : html`<h4>Command as understood</h4><${Code} text=${found.receipt.command} label="parsed command" />`}
          <h4>Guards</h4><${TraceTable} trace=${trace} />
          ${found.unaskedHooks === undefined ? null : html`<p class="muted">${found.unaskedHooks} hooks match this call and did not run here; they may still refuse it.</p>`}</div>`
    }
  </form>`;
}

function Rules({ cwd }: { cwd: string }): VNode {
  const { value, error } = useFetch<{ rules: readonly Rule[]; starts: boolean }>('/api/rules', {
    cwd,
  });
  const row = ({ list, rule, source, file, line, state, why }: Rule): VNode =>
    html`<tr class=${state === 'in force' ? '' : 'off'}><td><${Badge} kind=${list} /></td><td class="mono">${clean(rule)}</td><td><${Badge} kind=${state} /></td><td>${clean(why ?? '')}</td><td class="mono" title=${file ?? source}>${clean(file === undefined ? source : `${shortPath(file)}:${line ?? 1}`)}</td></tr>`;
  return html`<h2>Rules</h2><${Problem} text=${error} />
    ${value?.starts === false ? html`<p class="problem">No session would start with these settings.</p>` : null}
    ${value?.rules.length === 0 ? html`<${Empty}>No settings file has a rule for this folder.<//>` : null}
    ${(value?.rules.length ?? 0) === 0 ? null : html`<div class="scroll"><table class="grid"><thead><tr><th>List</th><th>Rule</th><th>State</th><th>Note</th><th>File</th></tr></thead><tbody>${value?.rules.map(row)}</tbody></table></div>`}`;
}

function ReplayForm({ cwd }: { cwd: string }): VNode {
  const [settings, setSettings] = useState(
    '{\n  "permissions": {\n    "deny": ["Bash(git push *)"]\n  }\n}',
  );
  const { value: found, error, send } = usePost<Replay>('/api/replay');
  const submit = (event: Event): void => {
    event.preventDefault();
    void send({ cwd, settings });
  };
  return html`<form onSubmit=${submit}><h2>Replay recorded calls</h2>
    <p class="muted">Decides every recorded call of this folder again, with these settings on top of those in force.</p>
    <textarea class="mono" rows="6" aria-label="Settings to try" value=${settings} onInput=${typed(setSettings)}></textarea>
    <div class="buttons"><button type="submit" class="primary"><span>Replay</span></button></div>
    <${Problem} text=${error} />
    ${
      found === undefined
        ? null
        : html`<div role="status"><p><b>${found.changed.reduce((sum, { count }) => sum + count, 0)}</b> of ${found.calls} recorded calls would be decided differently${found.skipped === 0 ? '' : `; ${found.skipped} cannot be decided again`}.</p>
          ${found.changed.length === 0 ? null : html`<div class="scroll"><table class="grid"><thead><tr><th class="num">Calls</th><th>Was</th><th>Would be</th><th>Call</th><th>By</th></tr></thead><tbody>${found.changed.map(({ call, from, to, by, count }) => html`<tr><td class="num">${count}</td><td><${Badge} kind=${from} /></td><td><${Badge} kind=${to} /></td><td class="mono">${clean(call)}</td><td class="mono">${clean(by)}</td></tr>`)}</tbody></table></div>`}</div>`
    }</form>`;
}
