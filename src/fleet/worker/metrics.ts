import { createServer, type Server } from 'node:http';
import { redactSure } from '../../lib/text/redact.js';

export type Logger = (
  level: 'info' | 'warning' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** One JSON object a line. */
export function jsonLogger(write: (line: string) => void, worker: string): Logger {
  return (level, message, fields = {}) => {
    const time = new Date().toISOString();
    write(`${redactSure(JSON.stringify({ time, level, message, worker, ...fields }))}\n`);
  };
}

const NAMES = {
  drives_started: 'Drives that this worker began.',
  drives_ended: 'Drives that ended in order.',
  drives_lost: 'Drives whose session another worker took over.',
  sessions_parked: 'Drives that ended because a question waits for an answer.',
  sessions_taken_over: 'Sessions of dead workers that this worker gave to others.',
  turns: 'Turns that ended here.',
  beat_failures: 'Heartbeats that did not reach the fleet.',
} as const;

export type Counter = keyof typeof NAMES;

/** Counters of a worker, in the text format of Prometheus. */
export class Metrics {
  readonly #counts = new Map<Counter, number>();

  add(counter: Counter, count = 1): void {
    this.#counts.set(counter, this.get(counter) + count);
  }

  get(counter: Counter): number {
    return this.#counts.get(counter) ?? 0;
  }

  text(gauges: Readonly<Record<string, number>>): string {
    const lines = Object.entries(NAMES).flatMap(([name, help]) => [
      `# HELP portcullis_${name}_total ${help}`,
      `# TYPE portcullis_${name}_total counter`,
      `portcullis_${name}_total ${this.get(name as Counter)}`,
    ]);
    for (const [name, value] of Object.entries(gauges)) {
      lines.push(`# TYPE portcullis_${name} gauge`, `portcullis_${name} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

export interface HealthOptions {
  readonly port: number;
  readonly host: string;
  /** Empty: all is well. */
  problem(): string;
  metrics(): string;
}

/** `/healthz` and `/metrics`. */
export async function serveHealth(options: HealthOptions): Promise<Server> {
  const server = createServer((request, response) => {
    const reply = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': `${type}; charset=utf-8` });
      response.end(text);
    };
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'GET') return reply(405, 'text/plain', 'only GET\n');
    if (path === '/metrics') return reply(200, 'text/plain; version=0.0.4', options.metrics());
    if (path !== '/healthz') return reply(404, 'text/plain', '/healthz or /metrics\n');
    const problem = options.problem();
    reply(problem === '' ? 200 : 503, 'text/plain', problem === '' ? 'ok\n' : `${problem}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return server;
}
