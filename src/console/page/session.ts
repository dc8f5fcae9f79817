import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, post, type StreamMessage } from './api.js';
import { ChangesView } from './changes.js';
import { ItemList } from './item-list.js';
import { MoneyView } from './money.js';
import { ReceiptsTable } from './receipts.js';
import { useStore, watchSession } from './store.js';
import { Transcript } from './transcript.js';
import type { Json, LiveRow } from './types.js';
import { Badge, clean, count, dollars, html, Problem, shortPath, typed } from './ui.js';

const TABS = ['Transcript', 'Receipts', 'Changes', 'Agents and money'] as const;

type Tab = (typeof TABS)[number];

/** A running session with its live transcript and controls. */
export function SessionView({ sessionKey }: { sessionKey: string }): VNode {
  const { overview, me } = useStore();
  const row = overview?.sessions.find(({ key }) => key === sessionKey);
  const last = useRef<LiveRow | undefined>(undefined);
  last.current = row ?? last.current;
  const shown = last.current;
  if (shown === undefined) {
    return html`<section class="view"><h1>Session</h1><p class="muted">${overview === undefined ? 'Loading …' : 'This session does not run any more. It is in the list of sessions.'}</p></section>`;
  }
  const isOver = overview !== undefined && row === undefined;
  return html`<${Frame} title=${shown.title || 'New session'} sessionId=${shown.sessionId} cwd=${shown.cwd} row=${shown} badge=${isOver ? 'done' : shown.state}
    transcript=${html`<${LiveTranscript} key=${shown.key} row=${shown} isOver=${isOver} maySteer=${me?.role === 'operator' && !isOver} />`} />`;
}

/** A session on disk. */
export function PastView({ sessionId, cwd }: { sessionId: string; cwd: string }): VNode {
  const { overview } = useStore();
  const live = overview?.sessions.find((row) => row.sessionId === sessionId);
  const [, draw] = useState(0);
  const [error, setError] = useState('');
  const transcript = useRef(new Transcript());
  useEffect(() => {
    transcript.current = new Transcript();
    get<readonly { time: string; event: Json }[]>('/api/transcript', {
      session: sessionId,
      cwd,
    }).then(
      (events) => {
        transcript.current.takeRecorded(events);
        draw((n) => n + 1);
      },
      (thrown: Error) => setError(thrown.message),
    );
  }, [sessionId, cwd]);
  const title = transcript.current.items.find(({ kind }) => kind === 'user')?.text ?? sessionId;
  return html`<${Frame} title=${title.slice(0, 120)} sessionId=${sessionId} cwd=${cwd} badge=${live?.state ?? 'done'} live=${live?.key}
    transcript=${html`<${Problem} text=${error} /><${ItemList} items=${transcript.current.items} label="Transcript" />`} />`;
}

interface FrameProps {
  readonly title: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly badge: string;
  readonly row?: LiveRow;
  readonly live?: string;
  readonly transcript: VNode;
}

function Frame({ title, sessionId, cwd, badge, row, live, transcript }: FrameProps): VNode {
  const [tab, setTab] = useState<Tab>('Transcript');
  const place = { sessionId, cwd };
  // The files of a session of the fleet are with its worker.
  const tabs = TABS.filter((one) => one !== 'Changes' || row?.kind !== 'fleet');
  return html`<section class="view session-view" aria-labelledby="session-title">
    <div class="head"><h1 id="session-title">${clean(title)}</h1><${Badge} kind=${badge} /></div>
    <p class="muted mono" title=${cwd}>${clean(shortPath(cwd || (row?.repository ?? 'fleet')))} · ${sessionId.slice(0, 8)}${row === undefined ? '' : ` · ${row.kind}`}${row?.pid === undefined ? '' : ` · pid ${row.pid}`}${live === undefined ? null : html` · <a href=${`#/session/${live}`}>it runs now</a>`}</p>
    <div class="tabs" role="tablist">${tabs.map((one) => html`<button type="button" role="tab" aria-selected=${one === tab} onClick=${() => setTab(one)}>${one}</button>`)}</div>
    <div class="tab" role="tabpanel" aria-label=${tab}>
      ${tab === 'Transcript' ? transcript : null}
      ${tab === 'Receipts' ? html`<${ReceiptsTable} cwd=${cwd} session=${sessionId} />` : null}
      ${tab === 'Changes' ? html`<${ChangesView} place=${place} />` : null}
      ${tab === 'Agents and money' ? html`<${MoneyView} place=${place} row=${row} />` : null}
    </div>
  </section>`;
}

function LiveTranscript({
  row,
  isOver,
  maySteer,
}: {
  row: LiveRow;
  isOver: boolean;
  maySteer: boolean;
}): VNode {
  const { key } = row;
  const [, draw] = useState(0);
  const [round, again] = useState(0);
  const [error, setError] = useState('');
  const transcript = useRef(new Transcript());
  const isJoined = row.state !== 'opening' && row.state !== 'unreachable';
  useEffect(() => {
    if (!isJoined) return;
    let stop = (): void => undefined;
    let isGone = false;
    const start = async (): Promise<void> => {
      const { replayFrom } = (await get('/api/snapshot', { key })) as { replayFrom: number };
      const fresh = new Transcript();
      fresh.seq = replayFrom - 1;
      // All events of a local session are replayed, so only what was recorded before it is read.
      const isWhole = replayFrom === 1 && row.kind !== 'fleet';
      const before = { ...(isWhole && { before: row.startedAt }) };
      const query = { session: row.sessionId, cwd: row.cwd, ...before };
      if (row.sessionId !== '') fresh.takeRecorded(await get('/api/transcript', query));
      if (isGone) return;
      transcript.current = fresh;
      let isDue = false;
      const show = (): void => {
        isDue = false;
        draw((n) => n + 1);
      };
      const receive = (messages: readonly StreamMessage[]): void => {
        for (const message of messages) {
          if (message.type === 'event' && message.key === key) fresh.take(message.envelope);
          if (message.type === 'stale' && message.key === key) again((n) => n + 1);
        }
        if (!isDue) requestAnimationFrame(show);
        isDue = true;
      };
      stop = watchSession(key, () => fresh.seq, receive);
    };
    start().catch((thrown: Error) => setError(thrown.message));
    return () => {
      isGone = true;
      stop();
    };
  }, [key, round, isJoined]);
  const send = (name: string, params: object): Promise<void> =>
    post('/api/send', { key, name, params }).then(
      () => setError(''),
      (thrown: Error) => setError(thrown.message),
    );
  return html`<div class="live">
    <${ItemList} items=${transcript.current.items} label="Transcript" />
    <${Problem} text=${error} />
    ${maySteer && isJoined ? html`<${Controls} row=${row} send=${send} />` : isOver ? html`<p class="muted">The session has ended.</p>` : null}
  </div>`;
}

function Controls({
  row,
  send,
}: {
  row: LiveRow;
  send: (name: string, params: object) => Promise<void>;
}): VNode {
  const [text, setText] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    const params = text.startsWith('/') ? { line: text } : { content: [{ type: 'text', text }] };
    void send(text.startsWith('/') ? 'command' : 'prompt', params);
    setText('');
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey) submit(event);
  };
  const configure = (name: string) => typed((value) => void send('configure', { [name]: value }));
  const models = [
    ...new Map([
      [row.model, row.model],
      ...row.models.map(({ value, displayName }) => [value, displayName] as const),
    ]),
  ];
  const isWorking = row.state === 'working' || row.state === 'needs you';
  const context =
    row.contextTokens === undefined
      ? ''
      : `${count(row.contextTokens)}${row.contextWindow === undefined ? '' : ` of ${count(row.contextWindow)}`} tokens · `;
  return html`<form class="controls" onSubmit=${submit}>
    <textarea rows="2" aria-label="Prompt" placeholder="Send a prompt, or a command such as /compact" value=${text} onInput=${typed(setText)} onKeyDown=${onKey}></textarea>
    <div class="control-row">
      <button type="submit" class="primary">Send</button>
      ${
        row.kind === 'fleet'
          ? null
          : html`<button type="button" disabled=${!isWorking} onClick=${() => send('interrupt', {})}>Interrupt</button>
      <label>Mode <select aria-label="Mode" value=${row.mode} onChange=${configure('mode')}>${['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'].map((one) => html`<option value=${one}>${one}</option>`)}</select></label>
      <label>Model <select aria-label="Model" value=${row.model} onChange=${configure('model')}>${models.map(([value, name]) => html`<option value=${value}>${clean(name)}</option>`)}</select></label>`
      }
      <span class="muted">${context}${dollars(row.costUsd)}</span>
    </div>
    ${
      row.agents.length + row.tasks.length === 0
        ? null
        : html`<ul class="work" aria-label="At work">${row.agents.map(
            ({ agent, description }) =>
              html`<li><span class="agent">${clean(agent.path)}</span> ${clean(description)} <button type="button" class="quiet" onClick=${() => send('task', { id: agent.id, action: 'stop' })}>Stop</button></li>`,
          )}${row.tasks
            .filter(({ taskType }) => taskType === 'local_bash')
            .map(
              ({ taskId, description }) =>
                html`<li>${clean(description)} <button type="button" class="quiet" onClick=${() => send('task', { id: taskId, action: 'stop' })}>Stop</button></li>`,
            )}</ul>`
    }
  </form>`;
}
