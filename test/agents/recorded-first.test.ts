import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../src/session/memory-store.js';
import { agent } from './arrival-rig.js';
import { openAgentsSession } from './core-rig.js';

const READ = { tool: 'Read', input: { file_path: 'a.txt' }, id: 'toolu_read' };

/** Copies what the transcripts of agents hold just now. */
const COPY = `find "$HOME/.claude/projects" -name 'agent-*.jsonl' -exec cat {} + > "$1"\n`;

/** After which it is written by itself. */
const BY_ITSELF_MS = 50;

describe('what an agent has said', () => {
  beforeEach(() => {
    const real = globalThis.setTimeout;
    // As if that moment never came.
    const held = (act: (...given: unknown[]) => void, ms?: number, ...rest: unknown[]) =>
      real(() => act(...rest), ms === BY_ITSELF_MS ? 600_000 : ms);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(held as typeof setTimeout);
  });
  afterEach(() => void vi.restoreAllMocks());

  it('is in its transcript before a command of its own runs, however little time has passed', async () => {
    const world = await openAgentsSession({
      files: { 'a.txt': 'CONTENT-OF-A\n', 'copy.sh': COPY },
      main: [agent('LOOKER'), 'ok'],
      agents: {
        LOOKER: [READ, { tool: 'Bash', input: { command: 'sh copy.sh seen.txt' } }, 'done'],
      },
      config: { allowedTools: ['Bash', 'Read'] },
    });
    try {
      await world.say('go');
      const seen = readFileSync(world.project.at('seen.txt'), 'utf8');
      expect(seen).toContain('CONTENT-OF-A');
      expect(seen).toContain('sh copy.sh seen.txt');
      for (const line of seen.split('\n').filter(Boolean)) JSON.parse(line);
    } finally {
      await world.close();
    }
  });

  it('is in its transcript before a hook is told where that is', async () => {
    const hook = { type: 'command', command: 'sh copy.sh "$PWD/seen.txt"' };
    const world = await openAgentsSession({
      files: {
        'a.txt': 'CONTENT-OF-A\n',
        'copy.sh': COPY,
        '.claude/settings.json': {
          json: { hooks: { PreToolUse: [{ matcher: 'Read', hooks: [hook] }] } },
        },
      },
      main: [agent('LOOKER'), 'ok'],
      agents: { LOOKER: [READ, 'done'] },
      config: { allowedTools: ['Read'] },
    });
    try {
      await world.say('go');
      const seen = readFileSync(world.project.at('seen.txt'), 'utf8');
      expect(seen).toContain('"name":"Read"');
    } finally {
      await world.close();
    }
  });
});

describe('an agent', () => {
  it.each([
    ['at once', () => undefined],
    ['later', () => new Promise<void>((resolve) => setImmediate(resolve))],
  ])(
    'records and asks nothing before its transcript is open, which may be %s',
    async (_, opening) => {
      const happened: string[] = [];
      const directory = mkdtempSync(path.join(tmpdir(), 'recorded-first-'));
      const store = createMemoryStore({ directory });
      const world = await openAgentsSession({
        main: [agent('LOOKER'), 'ok'],
        agents: {
          LOOKER: [
            () => {
              happened.push('asked');
              return 'done';
            },
          ],
        },
        config: {
          store: {
            ...store,
            async prepare() {
              await opening();
              happened.push('open');
            },
            append(sessionId, lines, agentId) {
              if (agentId !== undefined) happened.push(String(lines[0]?.type));
              return store.append(sessionId, lines, agentId);
            },
          },
        },
      });
      try {
        await world.say('go');
        expect(happened.slice(0, 3)).toEqual(['open', 'attachment', 'attachment']);
        expect(happened).toContain('asked');
        expect(happened.filter((one) => one === 'open')).toHaveLength(1);
      } finally {
        await world.close();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});
