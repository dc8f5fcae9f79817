import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { userLine } from '../../console/access.js';
import { listLive } from '../../console/live-files.js';
import { pastSessions } from '../../console/past-sessions.js';
import { type Console, serveConsole } from '../../console/serve.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import { stateDirectory } from '../../platform/fs/paths.js';
import { askLine } from '../ask.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { refuseAgent } from './person.js';
import { numberOption, textOption } from './project-call.js';

export const command: CommandSpec = {
  summary: 'Serve a page to watch, answer and undo sessions in a browser.',
  options: [
    { flags: '--port <number>', description: 'Default: one that is free.' },
    { flags: '--open', description: 'Open the page in a browser.' },
    { flags: '--session <id>', description: 'Show one session only, by the beginning of its id.' },
    { flags: '--host <address>', description: 'Default: 127.0.0.1. Another one needs sign-in.' },
    { flags: '--password-file <file>', description: 'People who may sign in, one on a line.' },
    {
      flags: '--proxy-secret-file <file>',
      description: 'The secret by which a proxy proves that it has signed people in.',
    },
    { flags: '--allow-host <name...>', description: 'A name under which people reach it.' },
    {
      flags: '--add-user <name:role>',
      description: 'Ask for a password, print a line for the password file, and end.',
    },
  ],
  notes: `Shows every session of this user on this machine: those that run in any
terminal, editor or program, and those on disk. The address it prints is a
key: anyone who has it acts as you. Roles are viewer, approver and operator.`,
  async run(call) {
    const { options, output } = call;
    const added = textOption(options, 'addUser');
    if (added !== undefined) return await addUser(call, added);
    refuseAgent('console');
    const session = textOption(options, 'session');
    if (session !== undefined) await checkSession(session);
    const program = realpathSync(process.argv[1] ?? '');
    const served = await serveConsole({
      host: textOption(options, 'host'),
      port: numberOption(options, 'port', { min: 0, max: 65_535, whole: true }),
      session,
      passwordFile: textOption(options, 'passwordFile'),
      proxySecretFile: textOption(options, 'proxySecretFile'),
      allowedHosts: Array.isArray(options.allowHost) ? options.allowHost : [],
      program: [process.execPath, program],
      pageDirectory: path.join(path.dirname(program), '../dist/console'),
    });
    const stopped = new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
    });
    output.out(`The console is at ${served.url}\n`);
    output.out('Keep this address to yourself. Press Ctrl+C to stop.\n');
    if (options.open === true) openPage(served, (text) => output.warn(text));
    await stopped;
    await served.close();
    return EXIT.done;
  },
};

async function checkSession(id: string): Promise<void> {
  const { env } = process;
  const ids = [
    ...listLive(stateDirectory(env)).map(({ sessionId }) => sessionId),
    ...(await pastSessions(env)).map(({ sessionId }) => sessionId),
  ];
  const isKnown = id !== '' && ids.some((one) => one.startsWith(id));
  // A session of the fleet is looked for when the console runs.
  if (isKnown || (id !== '' && env.PORTCULLIS_FLEET)) return;
  throw new PortcullisError('usage', `--session: no session id begins with "${visible(id)}"`, {
    remedy: 'portcullis sessions --all lists them',
  });
}

function openPage(served: Console, warn: (text: string) => void): void {
  const opener = process.platform === 'darwin' ? '/usr/bin/open' : 'xdg-open';
  const child = spawn(opener, [served.openUrl()], { stdio: 'ignore', detached: true });
  child.once('error', () => warn(`no browser could be opened: ${opener} is missing`));
  child.unref();
}

async function addUser({ output }: CommandCall, given: string): Promise<number> {
  const [name = '', role = ''] = given.split(':');
  const password = await askLine('Password: ', { hidden: true });
  if (password === undefined)
    throw new PortcullisError('usage', 'no password was given', {
      remedy: 'type one, or send it on standard input',
    });
  output.out(`${userLine(name, role, password)}\n`);
  return EXIT.done;
}
