import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';

const FIXTURE = path.join(import.meta.dirname, 'commands-tools.fixture.mjs');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CommandWorld {
  readonly project: TempProject;
  /** Runs `portcullis mcp …` without a terminal. */
  mcp(...args: string[]): Ended;
  mcpWith(env: Readonly<Record<string, string>>, ...args: string[]): Ended;
  /** A conversation with these lines typed. */
  talk(lines: readonly string[], args: readonly string[]): Ended;
  /** What the server offers from now on. */
  offer(tools: Readonly<Record<string, unknown>>): void;
  /** What the server says about the use of its tools from its next start on. */
  say(words: string): void;
  /** Calls that reached the server. */
  calls(): string;
}

/** A person's own server `srv`, whose tools stand in a file, and the program in a project. */
export function commandWorld(
  tools: Readonly<Record<string, unknown>>,
  files: ProjectFiles = {},
): CommandWorld {
  const project = makeTempProject({ files: { 'tools.json': JSON.stringify(tools), ...files } });
  onTestFinished(() => project.remove());
  const entry = {
    command: process.execPath,
    args: [FIXTURE, project.at('tools.json'), project.at('calls.log')],
    env: { TOKEN: 'VALUE-OF-TOKEN' },
  };
  const personal = path.relative(project.directory, path.join(project.home, '.claude.json'));
  project.write(personal, JSON.stringify({ mcpServers: { srv: entry } }));
  const start = (
    args: readonly string[],
    { input = '', env = {} }: { input?: string; env?: Readonly<Record<string, string>> },
  ): Ended => {
    const [command = '', ...first] = PROGRAM;
    const done = spawnSync(command, [...first, ...args], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home, ...env },
      encoding: 'utf8',
      input,
    });
    return { code: done.status, out: done.stdout, err: done.stderr };
  };
  const mcpWith: CommandWorld['mcpWith'] = (env, ...args) => start(['mcp', ...args], { env });
  return {
    project,
    mcpWith,
    talk: (lines, args) => start(args, { input: `${lines.join('\n')}\n` }),
    mcp: (...args) => mcpWith({}, ...args),
    offer: (next) => project.write('tools.json', JSON.stringify(next)),
    say: (words) => project.write('tools.json.words', words),
    calls: () => (project.exists('calls.log') ? project.read('calls.log') : ''),
  };
}

/** Every receipt under a home. */
export function receiptsIn(directory: string): readonly Record<string, unknown>[] {
  const values = readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return receiptsIn(file);
    if (!entry.name.endsWith('.jsonl')) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const value = JSON.parse(line) as Record<string, unknown>;
        return (value.receipt ?? value) as Record<string, unknown>;
      });
  });
  return values.filter(({ decision }) => decision !== undefined);
}
