import { spawn } from 'node:child_process';
import { messageOf, PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import type { SandboxAvailability, SandboxStatus, WrappedProgram } from '../../project/sandbox.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { commandGroup, JSON_OPTION, printJson, withProject } from './project-call.js';

const status: CommandSpec = {
  summary: 'Show whether commands run in a sandbox, and what it lets through.',
  options: [JSON_OPTION],
  run: (call) =>
    withProject(call, async (project) => {
      const read = await (await project.sandbox()).status();
      if (call.options.json === true) printJson(call, read);
      else call.output.out(statusText(read));
      return read.availability.kind === 'available' ? EXIT.done : EXIT.error;
    }),
};

const run: CommandSpec = {
  summary: 'Run a command in the sandbox, as an agent here would.',
  arguments: [
    { name: '<command>', description: 'The program.' },
    { name: '[arguments...]', description: 'Its arguments.' },
  ],
  passThrough: true,
  run: (call) =>
    withProject(call, async (project) => {
      const [command = '', ...args] = call.args;
      const sandbox = await project.sandbox();
      if (sandbox.askedBy === undefined) {
        call.output.warn('Settings do not enable the sandbox; this command runs as if they did.');
      }
      const wrapped = await sandbox.enter(command, args);
      if (wrapped === undefined) {
        // fail-closed: this command is there to try the sandbox, so it never runs without one.
        throw new PortcullisError('denied', 'there is no sandbox here, so nothing was run', {
          remedy: 'portcullis sandbox status says what is missing.',
        });
      }
      return await runWrapped(wrapped, call.output);
    }),
};

/** Of the output that is searched for what the sandbox refused. */
const KEPT_CHARACTERS = 200_000;

async function runWrapped(wrapped: WrappedProgram, output: Output): Promise<number> {
  let kept = '';
  const keep = (chunk: Buffer): void => {
    kept = `${kept}${chunk.toString('utf8')}`.slice(-KEPT_CHARACTERS);
  };
  try {
    const { command, args, cwd, env } = wrapped;
    const code = await new Promise<number>((resolve, reject) => {
      const child = spawn(command, [...args], {
        cwd,
        env,
        stdio: ['inherit', 'pipe', 'pipe'],
      });
      child.stdout.on('data', (chunk: Buffer) => {
        process.stdout.write(chunk);
        keep(chunk);
      });
      child.stderr.on('data', (chunk: Buffer) => {
        process.stderr.write(chunk);
        keep(chunk);
      });
      child.once('error', (thrown) => reject(cannotStart(thrown)));
      child.once('close', (exitCode) => resolve(exitCode ?? KILLED));
    });
    const refused = wrapped.refusals({ exitCode: code, output: kept });
    if (refused !== undefined) output.warn(refused);
    return code;
  } finally {
    await wrapped.release();
  }
}

/** As a shell says that a signal ended something. */
const KILLED = 137;

function cannotStart(thrown: unknown): PortcullisError {
  return new PortcullisError('process', `the sandbox cannot be started: ${messageOf(thrown)}`);
}

function statusText({
  availability,
  enabledBy,
  required,
  problems,
  policy,
}: SandboxStatus): string {
  const lines = [...availabilityLines(availability)];
  lines.push(
    enabledBy === null
      ? 'settings: off. "sandbox": {"enabled": true} switches it on.'
      : `settings: on (${enabledBy})${required ? '' : ', not required: without one, programs run outside'}`,
  );
  for (const problem of problems) lines.push(`problem: ${visible(problem)}`);
  lines.push('', enabledBy === null ? 'With it, a command here could' : 'A command here can');
  lines.push(...listed('write', policy.writable));
  lines.push(...listed('but not change', policy.protected));
  lines.push(...listed('not read', policy.hidden));
  lines.push(`  network: ${NETWORK[policy.network] ?? policy.network}`);
  return `${lines.join('\n')}\n`;
}

const NETWORK: Readonly<Record<string, string>> = {
  none: 'none',
  filtered: 'allowed hosts only, through a proxy',
  open: 'the whole of it',
};

function availabilityLines(availability: SandboxAvailability): readonly string[] {
  if (availability.kind === 'unavailable') {
    return [
      `sandbox: none. ${visible(availability.missing)}`,
      `remedy: ${visible(availability.remedy)}`,
    ];
  }
  const { driver, version, notes } = availability;
  return [`sandbox: ${driver} ${version}`, ...notes.map((note) => `note: ${note}`)];
}

const MAX_LISTED = 8;

function listed(what: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const more = paths.length - MAX_LISTED;
  return [
    `  ${what}:`,
    ...paths.slice(0, MAX_LISTED).map((path) => `    ${visible(path)}`),
    ...(more > 0 ? [`    and ${more} more (--json)`] : []),
  ];
}

export const command = commandGroup('Show the sandbox of commands, and try it.', { status, run });
