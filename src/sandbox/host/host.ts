import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import type { Duplex } from 'node:stream';
import { PROXY_PORT } from './forwarder.js';
import { makePipes, openLink } from './mux.js';
import {
  inheritedDescriptors,
  isExecutable,
  machineWideProc,
  type NamespaceFacts,
  namedSockets,
  namespaceFacts,
  type ProbeResult,
  runProbe,
  sandboxDisk,
  systemProgram,
} from './probe.js';

/** The machine as the sandbox sees it; tests substitute others. */
export interface SandboxHost {
  readonly platform: string;
  readonly arch: string;
  readonly disk: typeof sandboxDisk;
  /** The temporary directory outside the sandbox. */
  readonly temporaryDirectory: string;
  /** The path of the running Node. */
  readonly node: string;
  program(name: string): string | undefined;
  isExecutable(path: string): boolean;
  /** Runs a short program to completion. */
  probe(command: string, args: readonly string[]): Promise<ProbeResult>;
  facts(): NamespaceFacts;
  inheritedDescriptors(): readonly number[];
  machineWideProc(): readonly string[];
  namedSockets(): readonly string[];
  makePipes: typeof makePipes;
  openLink: typeof openLink;
}

export function nodeSandboxHost(): SandboxHost {
  return {
    platform: process.platform,
    arch: process.arch,
    disk: sandboxDisk,
    temporaryDirectory: tmpdir(),
    node: process.execPath,
    program: systemProgram,
    isExecutable,
    probe: runProbe,
    facts: namespaceFacts,
    inheritedDescriptors,
    machineWideProc,
    namedSockets,
    makePipes,
    openLink,
  };
}

/** The proxy's address in a private network namespace. */
export const INNER_PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/** Listens for programs that share the host's loopback. */
export async function listenOnLoopback(
  serve: (connection: Duplex) => void,
): Promise<{ readonly port: number; close(): void }> {
  const net = await import('node:net');
  const server: Server = net.createServer({ allowHalfOpen: true }, serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, resolve);
  });
  server.unref();
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, close: () => server.close() };
}
