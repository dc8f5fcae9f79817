import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { openTerminal } from '../e2e/terminal.js';
import { runBuilt as run } from '../e2e/worlds.js';
import { itWith } from '../support/programs.js';
import { until } from './helpers.js';

const STUBBORN = 'trap "" TERM HUP INT; while :; do sleep 1; done';
/** A shell in the background with somebody who left its group, then one in the foreground. */
const SCRIPT = [
  {
    tool: 'Bash',
    input: { command: `setsid sh -c '${STUBBORN}' & ${STUBBORN}`, run_in_background: true },
  },
  { tool: 'Bash', input: { command: `touch running; ${STUBBORN}` } },
];
/** In the middle of its work for as long as the session lasts. */
const HOOKS = {
  hooks: {
    SessionStart: [{ hooks: [{ type: 'command', command: STUBBORN, async: true }] }],
  },
};
const FILES = { '.claude/settings.json': { json: HOOKS } };

/** The stubborn ones that work in a directory, whoever their parent is. */
function stubbornIn(root: string): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(root)) return [];
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // The shell runs the canonical form, which may quote otherwise.
      return /trap'? (?:""|'') '?TERM/.test(words) ? [`${pid} ${words}`] : [];
    } catch {
      // Ended while we looked.
      return [];
    }
  });
}

describe.runIf(process.platform === 'linux')(
  'the program itself, with shells and a hook running',
  () => {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const) {
      it(`leaves nothing after ${signal}`, async () => {
        let most = 0;
        const project = makeTempProject({ files: FILES });
        const world = { project, remove: () => project.remove() };
        await run({
          world,
          args: ['--allowedTools', 'Bash', '--trust'],
          prompt: 'go',
          stdin: '',
          script: SCRIPT,
          onStart(program) {
            const waiting = setInterval(() => {
              most = Math.max(most, stubbornIn(project.root).length);
              if (!project.exists('running')) return;
              clearInterval(waiting);
              program.kill(signal);
            }, 50);
          },
        });
        expect(most).toBeGreaterThanOrEqual(3);
        await until(() => stubbornIn(project.root).length === 0, 2000);
        expect(stubbornIn(project.root)).toEqual([]);
      }, 300_000);
    }

    itWith(['tmux'], 'leaves nothing when its terminal is closed', async () => {
      const terminal = await openTerminal({ script: SCRIPT, args: ['--allowedTools', 'Bash'] });
      const { root } = terminal.project;
      await terminal.shows('/help lists commands');
      terminal.line('go');
      expect(await until(() => terminal.project.exists('running'))).toBe(true);
      expect(await until(() => stubbornIn(root).length >= 3)).toBe(true);
      await terminal.close();
      await until(() => stubbornIn(root).length === 0, 2000);
      expect(stubbornIn(root)).toEqual([]);
    });
  },
);
