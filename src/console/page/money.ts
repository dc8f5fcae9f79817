import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ModelCall } from '../../project/policy/recorded-session.js';
import { Plot, type Series } from './plot.js';
import type { LiveRow, SessionPlace as Place } from './types.js';
import { Badge, clean, count, dollars, Empty, html, many, Problem, typed, useFetch } from './ui.js';

/** The agents of a session with their budgets, and plots of cost and tokens. */
export function MoneyView({ place, row }: { place: Place; row?: LiveRow }): VNode {
  const query = { session: place.sessionId, cwd: place.cwd, cost: String(row?.costUsd ?? '') };
  const { value, error } = useFetch<{ calls: readonly ModelCall[] }>('/api/spending', query);
  const [by, setBy] = useState<'model' | 'agent'>('model');
  const calls = value?.calls ?? [];
  const known = calls.filter((call) => call.usd !== null);
  const unknown = [...new Set(calls.filter((call) => call.usd === null).map(({ model }) => model))];
  const tokens = (call: ModelCall): number =>
    call.inputTokens + call.outputTokens + call.cacheReadTokens + call.cacheWriteTokens;
  return html`<div class="money">
    <${Problem} text=${error} />
    <${AgentTree} calls=${calls} row=${row} />
    ${unknown.length === 0 ? null : html`<p class="problem">The price of ${clean(unknown.join(', '))} is unknown; its cost is in none of these sums.</p>`}
    <div class="head"><h3>Over time</h3><label>by <select value=${by} onChange=${typed((value) => setBy(value as 'model' | 'agent'))}><option value="model">model</option><option value="agent">agent</option></select></label></div>
    ${calls.length === 0 ? html`<${Empty}>No model has answered yet.<//>` : null}
    ${known.length === 0 ? null : html`<h4>Cost</h4><${Plot} label="Cost over time" series=${seriesOf(known, by, ({ usd }) => usd ?? 0)} format=${dollars} />`}
    ${calls.length === 0 ? null : html`<h4>Tokens</h4><${Plot} label="Tokens over time" series=${seriesOf(calls, by, tokens)} format=${(n: number) => count(Math.round(n))} />`}
  </div>`;
}

function seriesOf(
  calls: readonly ModelCall[],
  by: 'model' | 'agent',
  amount: (call: ModelCall) => number,
): readonly Series[] {
  const names = [...new Set(calls.map((call) => call[by]))];
  return names.map((name) => ({
    name,
    points: calls
      .filter((call) => call[by] === name)
      .map((call) => ({ time: Date.parse(call.time), value: amount(call) })),
  }));
}

const UNITS = {
  usd: dollars,
  tokens: (n: number) => `${count(n)} tokens`,
  turns: (n: number) => many(n, 'turn'),
  seconds: (n: number) => `${Math.round(n)} s`,
  fanOut: (n: number) => many(n, 'agent'),
};

/** Amounts of a budget in words; units without a value are left out. */
function amounts(values: Partial<Record<keyof typeof UNITS, number | undefined>>): string {
  const units = Object.keys(UNITS) as (keyof typeof UNITS)[];
  return units
    .flatMap((unit) => (values[unit] === undefined ? [] : [UNITS[unit](values[unit])]))
    .join(', ');
}

function AgentTree({ calls, row }: { calls: readonly ModelCall[]; row?: LiveRow }): VNode {
  const live = row?.agents ?? [];
  const paths = new Set([
    'main',
    ...calls.map(({ agent }) => agent),
    ...live.map(({ agent }) => agent.path),
  ]);
  const rows = [...paths].sort().map((path) => {
    const own = calls.filter(({ agent }) => agent === path);
    const now = live.find(({ agent }) => agent.path === path);
    const sum = (pick: (call: ModelCall) => number): number =>
      own.reduce((total, call) => total + pick(call), 0);
    const isUnknown = own.some(({ usd }) => usd === null);
    const isMain = path === 'main';
    const { left = {}, reserved } = (isMain ? row?.main : now?.spent) ?? {};
    const isWorking = isMain ? row !== undefined && row.state !== 'idle' : now !== undefined;
    // Reservations are shown in the units that have a limit.
    const held = {
      usd: left.usd === undefined ? undefined : reserved?.usd,
      tokens: left.tokens === undefined ? undefined : reserved?.tokens,
    };
    const cost = `${dollars(sum(({ usd }) => usd ?? 0))}${isUnknown ? ' + unknown' : ''}`;
    const depth = path.split('/').length - 1;
    return html`<tr><td class=${`depth-${Math.min(depth, 5)}`}>${clean(path.split('/').at(-1) ?? path)} <span class="muted">${clean(now?.description ?? '')}</span></td>
      <td><${Badge} kind=${isWorking ? 'working' : 'idle'} /></td>
      <td class="num">${own.length}</td><td class="num">${count(sum((call) => call.inputTokens + call.cacheReadTokens + call.cacheWriteTokens))}</td><td class="num">${count(sum((call) => call.outputTokens))}</td><td class="num">${cost}</td>
      <td class="num">${amounts(held)}</td><td class="num">${amounts(left) || html`<span class="muted">no budget</span>`}</td></tr>`;
  });
  return html`<h3>Agents</h3><div class="scroll"><table class="grid"><thead><tr><th>Agent</th><th>State</th><th class="num">Calls</th><th class="num">Input</th><th class="num">Output</th><th class="num">Spent</th><th class="num">Reserved</th><th class="num">Left</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
