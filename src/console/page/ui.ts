import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PatchHunk as Hunk } from '../../lib/diff.js';
import { get, post } from './api.js';
import type { Receipt, TraceStep } from './types.js';

export { html };
export type Children = ComponentChildren;

/** Replaces control and bidirectional characters in untrusted text. */
export function clean(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    '�',
  );
}

export function Badge({ kind, children }: { kind: string; children?: Children }): VNode {
  return html`<span class=${`badge ${kind.replace(/\s+/g, '-')}`}>${children ?? kind}</span>`;
}

export function Empty({ children }: { children?: Children }): VNode {
  return html`<p class="empty">${children}</p>`;
}

export function Problem({ text }: { text: string | undefined }): VNode | null {
  return text === undefined || text === ''
    ? null
    : html`<p class="problem" role="alert">${clean(text)}</p>`;
}

export function Code({ text, label }: { text: string; label?: string }): VNode {
  return html`<pre class="code" tabindex="0" aria-label=${label ?? 'text'}>${clean(text)}</pre>`;
}

/** A listener that passes on the value of a field. */
export function typed(set: (value: string) => void) {
  return (event: Event): void => set((event.target as HTMLInputElement).value);
}

/** The time since a moment, such as `5m`. */
export function ago(time: string | number): string {
  const seconds = Math.max(0, Math.round((Date.now() - new Date(time).getTime()) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

export function clock(time: string | number): string {
  return new Date(time).toLocaleTimeString([], { hour12: false });
}

export function moment(time: string | number): string {
  const date = new Date(time);
  const day = date.toLocaleDateString([], { month: 'short', day: 'numeric' });
  return `${day}, ${date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false })}`;
}

export function Ago({ time }: { time: string | number }): VNode {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((n) => n + 1), 5_000);
    return () => clearInterval(timer);
  }, []);
  return html`<time datetime=${new Date(time).toISOString()} title=${moment(time)}>${ago(time)}</time>`;
}

export function dollars(usd: number): string {
  return usd === 0 ? '$0' : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function count(n: number): string {
  if (n >= 1_000_000) return `${(n / 1_000_000).toFixed(1)}M`;
  return n >= 1_000 ? `${(n / 1_000).toFixed(n >= 10_000 ? 0 : 1)}k` : String(n);
}

export function many(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** The last two parts of a path. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join('/')}`;
}

export function DiffView({ hunks }: { hunks: readonly Hunk[] }): VNode {
  const lines = hunks.flatMap(({ oldStart, newStart, lines: own }) => [
    `@@ -${oldStart} +${newStart} @@`,
    ...own,
  ]);
  return html`<${DiffLines} lines=${lines} />`;
}

const MOST_LINES = 2_000;

export function DiffLines({ lines }: { lines: readonly string[] }): VNode {
  const kind = (line: string): string =>
    /^(@@|---|\+\+\+|diff )/.test(line)
      ? 'at'
      : line.startsWith('+')
        ? 'added'
        : line.startsWith('-')
          ? 'removed'
          : '';
  const rest = lines.length - MOST_LINES;
  return html`<pre class="code diff" tabindex="0" aria-label="difference">${lines
    .slice(0, MOST_LINES)
    .map(
      (line) => html`<span class=${kind(line)}>${clean(line)}\n</span>`,
    )}${rest > 0 ? html`<span>… ${rest} more lines</span>` : null}</pre>`;
}

/** The steps of a decision: guards with an opinion as rows, the others by name. */
export function TraceTable({ trace }: { trace: readonly TraceStep[] }): VNode {
  const isSilent = ({ decision, reason, source, failure }: TraceStep): boolean =>
    (decision === 'none' || decision === 'pass') && !reason && !source && !failure;
  const row = ({ guard, decision, reason, source, ms, failure }: TraceStep): VNode =>
    html`<tr><td>${clean(guard)}</td><td><${Badge} kind=${decision} /></td><td>${clean(failure ?? reason ?? '')}</td><td class="mono">${clean(source ?? '')}</td><td class="num">${ms === undefined ? '' : `${Math.round(ms)} ms`}</td></tr>`;
  const spoken = trace.filter((step) => !isSilent(step));
  const silent = trace.filter(isSilent).map(({ guard }) => guard);
  return html`${spoken.length === 0 ? null : html`<div class="scroll"><table class="grid trace"><thead><tr><th>Guard</th><th>Said</th><th>Why</th><th>Source</th><th class="num">Took</th></tr></thead><tbody>${spoken.map(row)}</tbody></table></div>`}
    ${silent.length === 0 ? null : html`<p class="muted">No objection: ${clean(silent.join(', '))}</p>`}`;
}

export function ReceiptView({ receipt }: { receipt: Receipt }): VNode {
  return html`<div class="receipt">
    <p><${Badge} kind=${receipt.decision} /> by <b>${clean(receipt.decidedBy)}</b>, mode ${receipt.mode}${receipt.ms === undefined ? '' : `, ${Math.round(receipt.ms)} ms`}</p>
    <p class="muted">${clean(receipt.reason)}</p>
    ${receipt.command === undefined ? null : html`<h4>Command as understood</h4><${Code} text=${receipt.command} label="parsed command" />`}
    <h4>Input</h4><${Code} text=${JSON.stringify(receipt.input, null, 2)} label="input" />
    <h4>Guards</h4><${TraceTable} trace=${receipt.trace} />
  </div>`;
}

export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children?: Children;
}): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return html`<dialog ref=${ref} aria-label=${title} onCancel=${onClose} onClose=${onClose}>
    <header><h2>${title}</h2><button type="button" class="quiet" aria-label="Close" onClick=${onClose}>✕</button></header>
    <div class="dialog-body">${children}</div>
  </dialog>`;
}

/** Loads a value, and again whenever its dependencies change. */
export function useLoad<T>(load: () => Promise<T>, dependencies: readonly unknown[]) {
  const [state, set] = useState<{ value?: T; error?: string; loading: boolean }>({ loading: true });
  const [round, again] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    set((before) => ({ ...before, loading: true }));
    load().then(
      (value) => isCurrent && set({ value, loading: false }),
      (thrown: Error) => isCurrent && set({ error: thrown.message, loading: false }),
    );
    return () => {
      isCurrent = false;
    };
  }, [...dependencies, round]);
  return { ...state, reload: () => again((n) => n + 1) };
}

export function useFetch<T>(path: string, query: Readonly<Record<string, string>> = {}) {
  return useLoad<T>(() => get<T>(path, query), [path, JSON.stringify(query)]);
}

/** Posts bodies to a path, and keeps the last result or error. */
export function usePost<T>(path: string) {
  const [state, set] = useState<{ value?: T; error?: string }>({});
  const send = (body: object): Promise<void> =>
    post(path, body).then(
      (value) => set({ value: value as unknown as T }),
      (thrown: Error) => set({ error: thrown.message }),
    );
  return { ...state, send };
}
