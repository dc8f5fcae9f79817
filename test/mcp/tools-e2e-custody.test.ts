import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { runBuilt as run } from '../e2e/worlds.js';
import { until } from '../process/helpers.js';

const FIXTURE = path.join(import.meta.dirname, 'tools-e2e.fixture.mjs');
const SERVERS = 20;
const HOOKS = 10;
const SHELLS = 5;
/** Hears no polite word. The mark tells whose it is. */
const stubborn = (mark: string): string =>
  `: ${mark}; trap "" TERM HUP INT; while :; do sleep 1; done`;

/** What is running of a kind, by the words of its command line. */
function running(root: string, kind: string): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return words.includes(`${root}/${kind}-`) ? [`${pid} ${words}`] : [];
    } catch {
      // Ended while we looked.
      return [];
    }
  });
}

describe.runIf(process.platform === 'linux')('the program, killed with -9', () => {
  it(`leaves none of ${SERVERS} servers, ${HOOKS} hooks and ${SHELLS} shells`, async () => {
    const project = makeTempProject();
    const { root } = project;
    const mark = (kind: string, at: number): string => `${root}/${kind}-${at}`;
    const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
    const servers = numbers(SERVERS).map((at) => {
      const file = `${mark('server', at)}.json`;
      writeFileSync(file, JSON.stringify({ stubborn: true, tools: [{ name: 'one' }] }));
      return [`s${at}`, { command: process.execPath, args: [FIXTURE, file] }];
    });
    writeFileSync(
      path.join(project.home, '.claude.json'),
      JSON.stringify({ mcpServers: Object.fromEntries(servers) }),
    );
    const hooks = numbers(HOOKS).map((at) => ({
      type: 'command',
      command: stubborn(mark('hook', at)),
      async: true,
    }));
    project.write(
      '.claude/settings.json',
      JSON.stringify({ hooks: { SessionStart: [{ hooks }] } }),
    );
    const shells = numbers(SHELLS).map((at) => ({
      tool: 'Bash',
      input: { command: stubborn(mark('shell', at)), run_in_background: true },
    }));
    const kinds = ['server', 'hook', 'shell'] as const;
    const count = () => Object.fromEntries(kinds.map((kind) => [kind, running(root, kind)]));
    const seen: Record<string, number> = {};
    let gone: Promise<boolean> | undefined;
    await run({
      world: { project, remove: () => project.remove() },
      args: ['--allowedTools', 'Bash', '--trust'],
      prompt: 'go',
      stdin: '',
      timeoutMs: 100_000,
      script: [...shells, { tool: 'Bash', input: { command: `touch running; sleep 60` } }],
      onStart(program) {
        const waiting = setInterval(() => {
          if (!project.exists('running')) return;
          clearInterval(waiting);
          for (const [kind, found] of Object.entries(count())) seen[kind] = found.length;
          program.kill('SIGKILL');
          gone = until(() => Object.values(count()).every(({ length }) => length === 0), 2000);
        }, 50);
      },
    });
    expect(seen.server).toBeGreaterThanOrEqual(SERVERS);
    expect(seen.hook).toBeGreaterThanOrEqual(HOOKS);
    expect(seen.shell).toBeGreaterThanOrEqual(SHELLS);
    expect(await gone, JSON.stringify(count())).toBe(true);
  }, 300_000);
});
