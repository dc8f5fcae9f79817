import { FROM_HOST, STARTER, TO_HOST } from '../host/forwarder.js';
import type { SandboxedProgram } from '../types.js';

export interface LaunchOrder {
  readonly bubblewrap: string;
  /** Options in a file: the environment is among them, and arguments can be seen by everybody. */
  readonly optionsFile: string;
  readonly filterFile: string | undefined;
  /** Pipes to the proxy, and the text that makes use of them inside. */
  readonly link:
    | { readonly fromHost: string; readonly toHost: string; readonly starter: string }
    | undefined;
  readonly inherited: readonly number[];
  readonly program: readonly string[];
}

/** Descriptors by which bubblewrap and the forwarder find their files. */
export const OPTIONS_DESCRIPTOR = 8;
export const FILTER_DESCRIPTOR = 9;
const HIGHEST_OF_SH = 9;

/**
 * A shell that opens what bubblewrap reads from descriptors, and becomes bubblewrap. Its environment
 * is empty: what the program is given must not reach the shell, which runs outside.
 */
export function launcher(order: LaunchOrder): Pick<SandboxedProgram, 'command' | 'args' | 'env'> {
  const { link, filterFile, optionsFile, bubblewrap } = order;
  const files = [
    { redirect: `${OPTIONS_DESCRIPTOR}<`, path: optionsFile },
    ...(filterFile === undefined ? [] : [{ redirect: `${FILTER_DESCRIPTOR}<`, path: filterFile }]),
    ...(link === undefined
      ? []
      : [
          { redirect: `${STARTER}<`, path: link.starter },
          { redirect: `${FROM_HOST}<`, path: link.fromHost },
          { redirect: `${TO_HOST}>`, path: link.toHost },
        ]),
  ];
  const opened = files.map(({ redirect }) => Number.parseInt(redirect, 10));
  const closed = [4, 5, 6, 7, 8, 9, ...order.inherited]
    .filter((fd, at, all) => fd > 3 && !opened.includes(fd) && all.indexOf(fd) === at)
    .map((fd) => `${fd}>&-`);
  const script = [
    ...files.map((_, at) => `f${at}=$1; shift;`),
    `exec ${closed.join(' ')};`,
    `exec "$0" --args ${OPTIONS_DESCRIPTOR} -- "$@"`,
    ...files.map(({ redirect }, at) => `${redirect}"$f${at}"`),
  ].join(' ');
  const shell = shellFor(order.inherited);
  const paths = files.map(({ path }) => path);
  return {
    command: shell.command,
    args: [...shell.args, script, bubblewrap, ...paths, ...order.program],
    env: {},
  };
}

/** Only bash can close descriptors of more than one digit. */
export function needsBash(inherited: readonly number[]): boolean {
  return inherited.some((fd) => fd > HIGHEST_OF_SH);
}

function shellFor(inherited: readonly number[]): { command: string; args: readonly string[] } {
  return needsBash(inherited)
    ? { command: '/bin/bash', args: ['--norc', '--noprofile', '-c'] }
    : { command: '/bin/sh', args: ['-c'] };
}
