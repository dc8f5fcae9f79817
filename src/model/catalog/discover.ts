import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { type HttpStream, httpStream } from '../../platform/http/http.js';
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
  try {
    const response = await (options.http ?? httpStream)({
      url: `${server.baseUrl}/models`,
      signal: AbortSignal.timeout(options.deadlineMs ?? LIST_DEADLINE_MS),
      headers: server.apiKey ? { authorization: `Bearer ${server.apiKey}` } : {},
    });
    const body = parseJson(await readAll(response));
    return (response.status === 200 && body.ok ? modelNames(body.value) : undefined) ?? [];
  } catch {
    // Not reachable, or no such list: the caller asks the user instead.
    return [];
  }
}

const LIST_DEADLINE_MS = 5_000;

async function probe(
  candidate: Candidate,
  options: { readonly http: HttpStream; readonly signal: AbortSignal },
): Promise<LocalServer | undefined> {
  const origin = `http://127.0.0.1:${candidate.port}`;
  const { signal } = options;
  for (const path of ['/v1/models', '/api/tags']) {
    try {
      const response = await options.http({
        url: origin + path,
        signal,
        headers: { connection: 'close' },
      });
      const body = parseJson(await readAll(response));
      const models = response.status === 200 && body.ok ? modelNames(body.value) : undefined;
      if (models !== undefined) return { name: candidate.name, baseUrl: `${origin}/v1`, models };
    } catch {
      // Not reachable, too slow or no HTTP: in every case no server to offer.
      return undefined;
    }
  }
  return undefined;
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
