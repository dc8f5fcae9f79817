import type { VNode } from 'preact';
import type { HookLane } from './types.js';
import { clean, clock, html } from './ui.js';

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly time: number; readonly value: number }[];
}

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 56;
const BOTTOM = 22;
const COLOURS = 8;

/** Cumulative sums over time, one line for each series. */
export function Plot({
  series,
  label,
  format,
}: {
  series: readonly Series[];
  label: string;
  format: (value: number) => string;
}): VNode {
  const summed = series.map(({ name, points }) => {
    let sum = 0;
    const added = points.map(({ time, value }) => {
      sum += value;
      return { time, value: sum };
    });
    return { name, points: added };
  });
  const times = summed.flatMap(({ points }) => points.map(({ time }) => time));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(...summed.map(({ points }) => points.at(-1)?.value ?? 0)) || 1;
  const x = (time: number): number =>
    LEFT + ((time - from) / Math.max(1, to - from)) * (WIDTH - LEFT - 12);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - 12);
  const line = (points: Series['points']): string => {
    const [first] = points;
    if (first === undefined) return '';
    const steps = points
      .slice(1)
      .map(({ time, value }) => `H${x(time).toFixed(1)}V${y(value).toFixed(1)}`);
    return `M${x(first.time).toFixed(1)} ${y(0)}V${y(first.value).toFixed(1)}${steps.join('')}H${WIDTH - 12}`;
  };
  const total = (points: Series['points']): string => format(points.at(-1)?.value ?? 0);
  const words = summed.map(({ name, points }) => `${name}: ${total(points)}`).join(', ');
  return html`<figure class="plot">
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${`${label}. ${clean(words)}`}>
      ${[0, 0.5, 1].map((part) => html`<g><line class="axis" x1=${LEFT} x2=${WIDTH - 12} y1=${y(most * part)} y2=${y(most * part)} /><text class="tick" x=${LEFT - 6} y=${y(most * part) + 4} text-anchor="end">${format(most * part)}</text></g>`)}
      <text class="tick" x=${LEFT} y=${HEIGHT - 6}>${clock(from)}</text><text class="tick" x=${WIDTH - 12} y=${HEIGHT - 6} text-anchor="end">${clock(to)}</text>
      ${summed.map(({ points }, index) => html`<path class=${`curve c${index % COLOURS}`} d=${line(points)} />`)}
    </svg>
    <figcaption>${summed.map(({ name, points }, index) => html`<span><i class=${`key c${index % COLOURS}`}></i>${clean(name)} <b>${total(points)}</b></span>`)}</figcaption>
  </figure>`;
}

const LANE = 24;

/** A lane for each hook with a bar for each run, as wide as it took; failures are marked. */
export function Lanes({ lanes }: { lanes: readonly HookLane[] }): VNode {
  const times = lanes.flatMap(({ runs }) => runs.map(({ time }) => Date.parse(time)));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const longest = Math.max(1, ...lanes.flatMap(({ runs }) => runs.map(({ ms }) => ms)));
  const x = (time: string): number =>
    200 + ((Date.parse(time) - from) / Math.max(1, to - from)) * (WIDTH - 260);
  const height = lanes.length * LANE + BOTTOM;
  return html`<figure class="plot"><svg viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label="Hooks over time">
    ${lanes.map(
      ({ hook, source, runs }, index) => html`<g><title>${clean(`${hook} (${source})`)}</title>
        <text class="tick" x="0" y=${index * LANE + 16}>${clean(hook.slice(0, 30))}</text><line class="axis" x1="200" x2=${WIDTH} y1=${index * LANE + 12} y2=${index * LANE + 12} />
        ${runs.map(({ time, ms, decision, failure, tool }) => html`<rect class=${`run ${failure === undefined ? decision : 'failed'}`} x=${x(time)} y=${index * LANE + 5} height="14" rx="2" width=${Math.max(3, (ms / longest) * 48)}><title>${clean(`${clock(time)} ${tool}: ${failure ?? decision}, ${Math.round(ms)} ms`)}</title></rect>`)}
      </g>`,
    )}
    <text class="tick" x="200" y=${height - 5}>${clock(from)}</text><text class="tick" x=${WIDTH} y=${height - 5} text-anchor="end">${clock(to)}</text>
  </svg><figcaption><span><i class="key run-pass"></i>passed</span><span><i class="key run-deny"></i>refused</span><span><i class="key run-failed"></i>failed</span></figcaption></figure>`;
}
