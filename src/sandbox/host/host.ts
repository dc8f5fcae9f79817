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

/** All that a sandbox asks of the machine. Tests put other machines in. */
export interface SandboxHost {
  readonly platform: string;
  readonly arch: string;
  readonly disk: typeof sandboxDisk;
  /** Where temporary files go outside. */
  readonly temporaryDirectory: string;
  /** The Node that runs us. */
  readonly node: string;
  program(name: string): string | undefined;
  isExecutable(path: string): boolean;
  /** Runs a short program to its end. */
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

/** Where a program in a network of its own finds the proxy. */
export const INNER_PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/** Takes connections of programs that share this machine's loopback. */
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
