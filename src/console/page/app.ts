import './app.css';
import { render, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hasToken, post, setToken, takeToken } from './api.js';
import { FolderView } from './folder.js';
import { InboxView } from './inbox.js';
import { PolicyView } from './policy.js';
import { ReceiptsView } from './receipts.js';
import { PastView, SessionView } from './session.js';
import { SessionsView } from './sessions.js';
import { connect, useStore } from './store.js';
import { clean, html, Problem, typed } from './ui.js';

const PAGES = [
  ['inbox', 'Inbox'],
  ['sessions', 'Sessions'],
  ['receipts', 'Receipts'],
  ['policy', 'Policy'],
  ['folder', 'Trust'],
] as const;

function App(): VNode {
  const { overview, me, connection } = useStore();
  const [route, setRoute] = useState(location.hash);
  useEffect(() => {
    const onHash = (): void => setRoute(location.hash);
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  if (connection === 'signed out') return html`<${SignIn} />`;
  const waiting = overview?.inbox.length ?? 0;
  const [page = 'inbox', id = ''] = (route.slice(2).split('?')[0] ?? '').split('/');
  const current = page === 'session' || page === 'past' ? 'sessions' : page || 'inbox';
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${(event: Event) => {
      event.preventDefault();
      document.querySelector<HTMLElement>('main')?.focus();
    }}>Skip to content</a>
    <header class="bar"><a class="brand" href="#/inbox"><img src="/icon.svg" alt="" width="20" height="20" /> Portcullis</a>
      <nav aria-label="Views">${PAGES.map(([name, title]) => html`<a href=${`#/${name}`} aria-current=${name === current ? 'page' : undefined}>${title}${name === 'inbox' && waiting > 0 ? html`<span class="count alert">${waiting}</span>` : null}</a>`)}</nav>
      <span class="who">${me === undefined ? '' : html`${clean(me.name)} <span class="muted">${me.role}</span>`}<span class=${`dot ${connection}`} role="img" aria-label=${`Connection: ${connection}`} title=${`Connection: ${connection}`}></span></span>
    </header>
    ${connection === 'lost' ? html`<p class="banner" role="alert">The console does not answer. This page may be out of date; it tries again every second.</p>` : null}
    ${me?.tellsAgents === false ? html`<p class="banner">This system does not show which process sends a request: an agent that learns this address could answer for you. Keep the address away from agents.</p>` : null}
    <main tabindex="-1">${viewOf(page, id, new URLSearchParams(route.split('?')[1] ?? ''))}</main>
  </div>`;
}

function viewOf(page: string, id: string, query: URLSearchParams): VNode {
  switch (page) {
    case 'sessions':
      return html`<${SessionsView} />`;
    case 'session':
      return html`<${SessionView} key=${id} sessionKey=${id} />`;
    case 'past':
      return html`<${PastView} key=${id} sessionId=${id} cwd=${query.get('cwd') ?? ''} />`;
    case 'receipts':
      return html`<${ReceiptsView} key=${query.toString()} query=${query} />`;
    case 'policy':
      return html`<${PolicyView} />`;
    case 'folder':
      return html`<${FolderView} />`;
    default:
      return html`<${InboxView} />`;
  }
}

function SignIn(): VNode {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    post('/api/sign-in', { name, password }).then(
      ({ token }) => {
        setToken(String(token));
        location.reload();
      },
      (thrown: Error) => setError(thrown.message),
    );
  };
  return html`<main class="sign-in"><form class="card" onSubmit=${submit}>
    <h1>Portcullis</h1>
    <p class="muted">Open the address that <code>portcullis console</code> printed, or sign in.</p>
    <label class="reason">Name<input type="text" autocomplete="username" value=${name} onInput=${typed(setName)} /></label>
    <label class="reason">Password<input type="password" autocomplete="current-password" value=${password} onInput=${typed(setPassword)} /></label>
    <${Problem} text=${error} />
    <div class="buttons"><button type="submit" class="primary"><span>Sign in</span></button></div>
  </form></main>`;
}

const root = document.getElementById('app');
if (root !== null) {
  // A used one-time address leads to the sign-in form.
  await takeToken().catch(() => undefined);
  render(html`<${App} />`, root);
  if (!hasToken()) setToken('none');
  void connect();
}
