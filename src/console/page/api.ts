import type { Envelope, Json, Overview } from './types.js';

const STORED = 'portcullis.token';

/** An error response of the server. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Moves the token from the address to the session storage, so that it is not in the browser's history. */
export async function takeToken(): Promise<void> {
  const [, kind, value] = /^#(token|code)=(.+)$/.exec(location.hash) ?? [];
  if (value === undefined) return;
  history.replaceState(null, '', '/');
  if (kind === 'token') setToken(value);
  else setToken(String((await post('/api/sign-in', { code: value })).token));
}

export function setToken(token: string): void {
  sessionStorage.setItem(STORED, token);
}

export function hasToken(): boolean {
  return sessionStorage.getItem(STORED) !== null;
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${sessionStorage.getItem(STORED) ?? ''}` };
}

export async function get<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<T> {
  const search = new URLSearchParams(query).toString();
  const url = search === '' ? path : `${path}?${search}`;
  return (await read(await fetch(url, { headers: headers() }))) as T;
}

export async function post(path: string, body: object): Promise<Json> {
  const sent = {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return (await read(await fetch(path, sent))) as Json;
}

async function read(response: Response): Promise<unknown> {
  const value = (await response.json()) as Json | null;
  if (response.ok) return value;
  const remedy = typeof value?.remedy === 'string' ? ` (${value.remedy})` : '';
  throw new ApiError(response.status, `${String(value?.error ?? response.status)}${remedy}`);
}

export type StreamMessage =
  | { readonly type: 'overview'; readonly overview: Overview }
  | { readonly type: 'event'; readonly key: string; readonly envelope: Envelope }
  | { readonly type: 'gone' | 'stale'; readonly key: string; readonly reason: string };

/** Reads the event stream until it ends; messages of one chunk are passed on together. */
export async function readStream(
  query: Readonly<Record<string, string>>,
  receive: (messages: readonly StreamMessage[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const search = new URLSearchParams(query).toString();
  const response = await fetch(`/api/stream?${search}`, { headers: headers(), signal });
  if (!response.ok || response.body === null) throw new ApiError(response.status, 'no stream');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop() ?? '';
    const messages = parts
      .filter((part) => part.startsWith('data: '))
      .map((part) => JSON.parse(part.slice('data: '.length)) as StreamMessage);
    if (messages.length > 0) receive(messages);
  }
}
