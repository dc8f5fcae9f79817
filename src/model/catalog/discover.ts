import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type HttpRequest, type HttpStream, httpStream } from '../../platform/http/http.js';
import { readAll } from '../stream/answer.js';

export interface LocalServer {
  readonly name: string;
  /** For PORTCULLIS_OPENAI_BASE_URL. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

interface Candidate {
  readonly name: string;
  readonly port: number;
}

const CANDIDATES: readonly Candidate[] = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vLLM', port: 8000 },
];

const DEADLINE_MS = 400;

/** Model servers on this machine. Only asked when nothing is configured. */
export async function discoverLocalServers(
  options: {
    readonly http?: HttpStream;
    readonly deadlineMs?: number;
    readonly candidates?: readonly Candidate[];
  } = {},
): Promise<LocalServer[]> {
  const http = options.http ?? httpStream;
  const signal = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
  const found = await Promise.all(
    (options.candidates ?? CANDIDATES).map((candidate) => probe(candidate, { http, signal })),
  );
  return found.filter((server) => server !== undefined);
}

/** The models of a server that speaks chat completions; empty when it does not say. */
export async function listModels(
  server: { readonly baseUrl: string; readonly apiKey?: string },
  options: { readonly http?: HttpStream; readonly deadlineMs?: number } = {},
): Promise<readonly string[]> {
  const list = await namesAt(`${server.baseUrl}/models`, {
    http: options.http ?? httpStream,
    signal: AbortSignal.timeout(options.deadlineMs ?? LIST_DEADLINE_MS),
    headers: server.apiKey ? { authorization: `Bearer ${server.apiKey}` } : {},
  });
  return list.ok ? list.value : [];
}

const LIST_DEADLINE_MS = 5_000;

async function probe(
  candidate: Candidate,
  options: { readonly http: HttpStream; readonly signal: AbortSignal },
): Promise<LocalServer | undefined> {
  const origin = `http://127.0.0.1:${candidate.port}`;
  for (const path of ['/v1/models', '/api/tags']) {
    const list = await namesAt(origin + path, { ...options, headers: { connection: 'close' } });
    if (list.ok) return { name: candidate.name, baseUrl: `${origin}/v1`, models: list.value };
    if (list.error === 'unreachable') return undefined;
  }
  return undefined;
}

async function namesAt(
  url: string,
  { http, ...request }: { readonly http: HttpStream } & Pick<HttpRequest, 'signal' | 'headers'>,
): Promise<Result<readonly string[], 'no list' | 'unreachable'>> {
  try {
    const response = await http({ url, ...request });
    const body = parseJson(await readAll(response));
    const names = response.status === 200 && body.ok ? modelNames(body.value) : undefined;
    return names === undefined ? err('no list') : ok(names);
  } catch {
    // Not reachable, too slow or no HTTP: in every case no server to offer.
    return err('unreachable');
  }
}

/** `{data:[{id}]}` of the OpenAI kind, `{models:[{name}]}` of Ollama's own. */
function modelNames(value: unknown): string[] | undefined {
  if (!isRecord(value)) return undefined;
  const list = Array.isArray(value.data) ? value.data : value.models;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry: unknown) => {
    const name = isRecord(entry) ? (entry.id ?? entry.name) : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
