import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PolicyDecision } from '../../project/policy/policy.js';
import { post } from './api.js';
import { QuestionForm } from './question-form.js';
import { useStore } from './store.js';
import { callSummary } from './transcript.js';
import type { InboxRow, Json, ReceiptRow } from './types.js';
import {
  Ago,
  ago,
  Badge,
  Code,
  clean,
  DiffView,
  Empty,
  html,
  moment,
  Problem,
  shortPath,
  TraceTable,
  useFetch,
  usePost,
} from './ui.js';

/** The open questions of all sessions, and the history of answers. */
export function InboxView(): VNode {
  const { overview, me } = useStore();
  const [chosen, choose] = useState<string>();
  const [told, tell] = useState('');
  const rows = overview?.inbox ?? [];
  const row = rows.find(({ id }) => id === chosen) ?? rows[0];
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = (event.target as HTMLElement).matches('input, textarea, select');
      if (isTyping || (event.key !== 'j' && event.key !== 'k')) return;
      const at = rows.findIndex(({ id }) => id === row?.id);
      choose(rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === 'j' ? 1 : -1)))]?.id);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const answer = async (targets: readonly InboxRow[], given: Json): Promise<void> => {
    const outcomes: string[] = [];
    for (const { key, id, hash } of targets) {
      try {
        const { outcome } = await post('/api/answer', { key, question: id, hash, answer: given });
        outcomes.push(
          outcome === 'closed'
            ? 'Another answer came first: this question is closed.'
            : 'Answered.',
        );
      } catch (thrown) {
        outcomes.push((thrown as Error).message);
      }
    }
    tell([...new Set(outcomes)].join(' '));
  };
  return html`<section class="view" aria-labelledby="inbox-title">
    <h1 id="inbox-title">Inbox <span class="count">${rows.length}</span></h1>
    <p class="status" role="status">${told}</p><${Problem} text=${overview?.problem} />
    ${rows.length === 0 ? html`<${Empty}>Nothing waits for you. Questions of all your sessions appear here.<//>` : null}
    ${
      row === undefined
        ? null
        : html`<div class="split">
            <ul class="list" aria-label="Open questions">${rows.map((one) => html`<${InboxLine} row=${one} isChosen=${one.id === row.id} onChoose=${() => choose(one.id)} />`)}</ul>
            <${QuestionView} key=${row.id} row=${row} rows=${rows} mayAnswer=${me?.role !== 'viewer'} onAnswer=${answer} />
          </div>`
    }
    <${History} />
  </section>`;
}

function InboxLine({
  row,
  isChosen,
  onChoose,
}: {
  row: InboxRow;
  isChosen: boolean;
  onChoose: () => void;
}): VNode {
  const { question } = row;
  const what =
    question.call === undefined
      ? (question.title ?? question.message ?? question.kind)
      : callSummary(question.call.input) || question.call.summary;
  return html`<li><button type="button" class="line" aria-current=${isChosen} onClick=${onChoose}>
    <span class="top"><b>${clean(question.call?.tool ?? question.kind)}</b><${Ago} time=${question.askedAt} /></span>
    <span class="what">${clean(what.slice(0, 160))}</span>
    <span class="muted">${clean(question.agent.path)} · ${clean(row.title || row.sessionId.slice(0, 8))}</span>
  </button></li>`;
}

interface QuestionProps {
  readonly row: InboxRow;
  readonly rows: readonly InboxRow[];
  readonly mayAnswer: boolean;
  onAnswer(targets: readonly InboxRow[], given: Json): Promise<void>;
}

function QuestionView({ row, rows, mayAnswer, onAnswer }: QuestionProps): VNode {
  const { question, change } = row;
  const { call, expiresAt } = question;
  const same = rows.filter((one) => one.sameAs === row.sameAs);
  const [all, setAll] = useState(false);
  const left = expiresAt === undefined ? '' : ` · expires ${moment(expiresAt)}`;
  return html`<article class="card question" aria-label="Question">
    <header><h2>${clean(question.title ?? (call === undefined ? question.kind : `${call.tool} wants to run`))}</h2><${Badge} kind=${question.kind} /></header>
    <dl class="facts">
      <dt>Agent</dt><dd>${clean(question.agent.path)}</dd>
      <dt>Session</dt><dd>${row.key === '' ? clean(row.sessionId) : html`<a href=${`#/session/${row.key}`}>${clean(row.title || row.sessionId)}</a>`}</dd>
      ${call === undefined ? null : html`<dt>Folder</dt><dd class="mono" title=${call.cwd}>${clean(shortPath(call.cwd))}</dd>`}
      <dt>Asked</dt><dd><${Ago} time=${question.askedAt} /> ago${left}</dd>
      <dt>Why</dt><dd>${clean(question.reason)}${call?.heldBy === undefined ? '' : html` <span class="muted">(guard ${clean(call.heldBy)})</span>`}</dd>
      ${call?.rule === undefined ? null : html`<dt>Rule</dt><dd class="mono">${clean(call.rule.text)} <span class="muted">${clean(call.rule.source)}</span></dd>`}
      ${call?.blockedPath === undefined ? null : html`<dt>Path</dt><dd class="mono">${clean(call.blockedPath)}</dd>`}
      ${call?.server === undefined ? null : html`<dt>Server</dt><dd>${clean(call.server.name)} <span class="muted">${clean(call.server.source)}</span></dd>`}
    </dl>
    ${call === undefined || change !== undefined ? null : html`<${CallView} input=${call.input} summary=${call.summary} />`}
    ${change === undefined ? null : html`<h4 class="mono">${clean(change.path)} ${change.note === '' ? '' : html`<span class="muted">${change.note}</span>`}</h4><${DiffView} hunks=${change.hunks} />`}
    ${question.markdown === undefined ? null : html`<div class="said plan">${clean(question.markdown)}</div>`}
    ${(question.details ?? []).map((line) => html`<p class="detail mono">${clean(line)}</p>`)}
    ${row.tooLong ? html`<${Problem} text="Not all of this can be shown here. It can be refused here, and allowed in its terminal." />` : null}
    ${call === undefined || row.remote === true ? null : html`<${Why} row=${row} />`}
    ${same.length < 2 ? null : html`<label class="check"><input type="checkbox" checked=${all} onChange=${() => setAll(!all)} /> Answer all ${same.length} questions about this call</label>`}
    <${QuestionForm} row=${row} mayAnswer=${mayAnswer} onAnswer=${(given: Json) => onAnswer(all ? same : [row], given)} />
  </article>`;
}

/** What the call would do: the command, or its input. */
function CallView({ input, summary }: { input: Json; summary: string }): VNode {
  const { command, description, ...rest } = input;
  if (typeof command === 'string') {
    const more = Object.keys(rest).length === 0 ? '' : JSON.stringify(rest);
    return html`${typeof description === 'string' ? html`<p>${clean(description)} <span class="muted">(the model's words)</span></p>` : null}<${Code} text=${command} label="command" />${more === '' ? null : html`<p class="muted mono">${clean(more)}</p>`}`;
  }
  return html`<${Code} text=${Object.keys(input).length === 0 ? summary : JSON.stringify(input, null, 2)} label="input" />`;
}

/** The decision of the gate: the parsed command and the steps of all guards. */
function Why({ row }: { row: InboxRow }): VNode {
  const { value, error, send } = usePost<PolicyDecision>('/api/explain');
  const load = (event: Event): void => {
    if (!(event.currentTarget as HTMLDetailsElement).open || value !== undefined) return;
    const { call } = row.question;
    if (call === undefined) return;
    const { tool, input, cwd } = call;
    void send({ cwd, call: { tool, input }, agent: row.question.agent.path });
  };
  const receipt = value?.receipt;
  return html`<details class="why" onToggle=${load}><summary>How the gate sees it</summary>
    <${Problem} text=${error} />
    ${receipt?.command === undefined ? null : html`<h4>Command as understood</h4><${Code} text=${receipt.command} label="parsed command" />`}
    ${receipt === undefined ? null : html`<${TraceTable} trace=${receipt.trace.filter(({ guard }) => guard !== 'asker')} />`}
  </details>`;
}

function History(): VNode {
  const { overview } = useStore();
  const { value = [], error } = useFetch<readonly ReceiptRow[]>('/api/answers', {
    n: String(overview?.inbox.length ?? 0),
  });
  const row = ({ time, receipt, session, cwd }: ReceiptRow): VNode => {
    const by = receipt.trace.find(({ guard }) => guard === 'asker')?.source ?? 'terminal or host';
    const link = `#/receipts?cwd=${encodeURIComponent(cwd)}&session=${session}&q=${encodeURIComponent(receipt.toolUseId)}`;
    return html`<tr><td title=${time}>${ago(time)} ago</td><td><${Badge} kind=${receipt.decision} /></td><td><b>${clean(receipt.tool)}</b> <span class="mono">${clean(callSummary(receipt.input).slice(0, 120))}</span></td><td>${clean(by)}</td><td><a href=${link}>receipt</a></td></tr>`;
  };
  return html`<h2>Answers so far</h2><${Problem} text=${error} />
    ${value.length === 0 ? html`<${Empty}>No call has been asked about yet.<//>` : html`<div class="scroll"><table class="grid"><thead><tr><th>When</th><th>Answer</th><th>Call</th><th>Who</th><th>Receipt</th></tr></thead><tbody>${value.slice(0, 200).map(row)}</tbody></table></div>`}`;
}
