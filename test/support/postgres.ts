import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from './programs.js';

/** A PostgreSQL server of a test: own data directory, a free port of 127.0.0.1. */
export interface TestPostgres {
  readonly port: number;
  /** Of a database of this server, for a user; the superuser unless said otherwise. */
  url(database: string, user?: string): string;
  /** Creates an empty database and gives its address. */
  create(database: string, tablespace?: string): Promise<string>;
  sql(database: string, text: string): string;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root; the package makes a user for it. */
function identity(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export async function startPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const found = findProgram('postgres');
  if (found === undefined) throw new Error('PostgreSQL is not installed');
  const programs = path.dirname(realpathSync(found));
  const who = identity();
  const root = mkdtempSync(path.join(tmpdir(), 'portcullis-postgres-'));
  chmodSync(root, 0o755);
  if (who.uid !== undefined) chownSync(root, who.uid, who.gid ?? who.uid);
  const data = path.join(root, 'data');
  const env = { PATH: process.env.PATH, LC_ALL: 'C', HOME: root };
  execFileSync(
    path.join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
    { ...who, env, cwd: root, stdio: 'ignore' },
  );
  const port = await freePort();
  const options = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${root}`,
    ...settings,
  ];
  const server = spawn(
    path.join(programs, 'postgres'),
    ['-D', data, ...options.flatMap((one) => ['-c', one])],
    { ...who, env, cwd: root, stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const psql = (database: string, text: string): string =>
    execFileSync(
      path.join(programs, 'psql'),
      ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database, '-Atqc', text],
      { env, cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    ).trim();
  for (let tries = 0; ; tries++) {
    try {
      psql('postgres', 'SELECT 1');
      break;
    } catch (thrown) {
      if (tries > 300 || server.exitCode !== null) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const url = (database: string, user = 'postgres'): string =>
    `postgres://${user}@127.0.0.1:${port}/${database}`;
  return {
    port,
    url,
    async create(database, tablespace = 'pg_default') {
      psql('postgres', `CREATE DATABASE ${database} TABLESPACE ${tablespace}`);
      return url(database);
    },
    sql: psql,
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
