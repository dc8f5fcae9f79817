import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { callSummary, type Item } from './transcript.js';
import { Badge, Code, clean, clock, html, ReceiptView } from './ui.js';

/** The assumed height of an item that has not been drawn. */
const GUESS = 44;
const BEYOND = 600;

/**
 * A list that keeps only the items near the visible part in the page. It follows new items unless the person has
 * scrolled up.
 */
export function ItemList({ items, label }: { items: readonly Item[]; label: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const atEnd = useRef(true);
  const lastTop = useRef(0);
  const [, draw] = useState(0);
  const shown = items.filter(({ text, kind }) => text !== '' || kind === 'tool');
  const offsets = [0];
  for (const item of shown) {
    offsets.push((offsets.at(-1) ?? 0) + (heights.current.get(item.id) ?? GUESS));
  }
  const total = offsets.at(-1) ?? 0;
  const view = box.current?.clientHeight ?? 800;
  const top = atEnd.current ? Math.max(0, total - view) : (box.current?.scrollTop ?? 0);
  const first = Math.max(0, indexAt(offsets, top - BEYOND));
  const last = Math.min(shown.length, indexAt(offsets, top + view + BEYOND) + 1);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    let isNew = false;
    for (const child of element.querySelectorAll<HTMLElement>('[data-item]')) {
      const id = child.dataset.item ?? '';
      const height = child.offsetHeight;
      if (heights.current.get(id) !== height) isNew = true;
      heights.current.set(id, height);
    }
    if (atEnd.current) {
      element.scrollTop = element.scrollHeight;
      lastTop.current = element.scrollTop;
    }
    if (isNew) draw((n) => n + 1);
  });
  useEffect(() => {
    const observer = new ResizeObserver(() => draw((n) => n + 1));
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop } = element;
    if (element.scrollHeight - scrollTop - element.clientHeight < 40) atEnd.current = true;
    // Only a move up is the person's: the list may also have become lower since this event was queued.
    else if (scrollTop < lastTop.current) atEnd.current = false;
    lastTop.current = scrollTop;
    draw((n) => n + 1);
  };
  return html`<div class="transcript" ref=${box} onScroll=${onScroll} role="log" aria-label=${label} tabindex="0" data-count=${shown.length}>
    <div style=${{ height: `${offsets[first] ?? 0}px` }}></div>
    ${shown.slice(first, last).map((item) => html`<${ItemView} key=${item.id} item=${item} />`)}
    <div style=${{ height: `${total - (offsets[last] ?? total)}px` }}></div>
  </div>`;
}

/** The last index whose offset is not greater than a position. */
function indexAt(offsets: readonly number[], place: number): number {
  let [low, high] = [0, offsets.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

function ItemView({ item }: { item: Item }): VNode {
  const { id, kind, text, agent, time, level } = item;
  const who =
    agent === '' || agent === 'main' ? null : html`<span class="agent">${clean(agent)}</span>`;
  const head = html`<span class="when">${clock(time)}</span>${who}`;
  if (kind === 'tool') return html`<${ToolView} item=${item} head=${head} />`;
  if (kind === 'thinking') {
    return html`<article data-item=${id} class="item thinking"><details><summary>${head} Thinking</summary><div class="said">${clean(text)}</div></details></article>`;
  }
  return html`<article data-item=${id} class=${`item ${kind} ${level ?? ''}`}>${head}<div class="said">${clean(text)}</div></article>`;
}

const LONG_OUTPUT = 1_500;

function ToolView({ item, head }: { item: Item; head: VNode }): VNode | null {
  const { tool, id } = item;
  const [isOpen, setOpen] = useState(false);
  if (tool === undefined) return null;
  const summary = callSummary(tool.input);
  const output =
    tool.output.length > LONG_OUTPUT ? `…${tool.output.slice(-LONG_OUTPUT)}` : tool.output;
  const toggle = (event: Event): void => setOpen((event.currentTarget as HTMLDetailsElement).open);
  return html`<article data-item=${id} class=${`item tool ${tool.state}`}>
    <details onToggle=${toggle}>
      <summary>${head}<b>${clean(tool.name)}</b> <code>${clean(summary.slice(0, 300))}</code> <${Badge} kind=${tool.state} /></summary>
      ${
        isOpen
          ? html`<div class="opened">
              <h4>Input</h4><${Code} text=${JSON.stringify(tool.input, null, 2)} label="input" />
              ${tool.output === '' ? null : html`<h4>Output</h4><${Code} text=${tool.output} label="output" />`}
              ${tool.receipt === undefined ? null : html`<h4>Why</h4><${ReceiptView} receipt=${tool.receipt} />`}
            </div>`
          : null
      }
    </details>
    ${output === '' || isOpen ? null : html`<div class="output">${clean(output.split('\n').slice(-6).join('\n'))}</div>`}
  </article>`;
}
