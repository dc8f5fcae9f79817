import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../e2e/program.js';
import { runBuilt as run } from '../e2e/worlds.js';

const program = PROGRAM.map((word) => `'${word}'`).join(' ');
const CLEAN = 'env -i PATH="$PATH" HOME="$HOME"';

/** Ways out of what marks the shell of an agent. `said` gets what the command prints. */
const WAYS: Readonly<Record<string, (words: string) => string>> = {
  'as it is': (words) => `${program} ${words} > said 2>&1`,
  'without the variables': (words) =>
    `env -u PORTCULLIS -u CLAUDECODE -u PORTCULLIS_CHILD_OF ${program} ${words} > said 2>&1`,
  'with the shell replaced and no environment': (words) =>
    `exec ${CLEAN} ${program} ${words} > said 2>&1`,
  'in a session of its own': (words) =>
    `${CLEAN} setsid -f sh -c "${program} ${words} > part 2>&1; mv part said"; until test -e said; do sleep 0.05; done`,
  'in the background, orphaned': (words) =>
    `(${CLEAN} nohup sh -c "${program} ${words} > part 2>&1; mv part said" &) ; until test -e said; do sleep 0.05; done`,
};

/** Where each command keeps what it grants. */
const COMMANDS: Readonly<Record<string, string>> = {
  'trust --yes': '.portcullis/trust',
  'context approve ../outside.md': '.portcullis/includes',
  'mcp approve srv --yes': '.portcullis/mcp',
  'mcp auth srv': '.portcullis/mcp',
  'mcp add mine -- touch x': '.claude.json',
  'mcp add -s user mine -- touch x': '.claude.json',
  'inbox answer q1 allow': '.portcullis/inbox',
};

describe.each(Object.entries(WAYS))('an agent that runs a command %s', (_, way) => {
  // One session for all of them: a start of the program costs more than the command.
  it('is refused every command that grants something', async () => {
    const commands = Object.keys(COMMANDS);
    const scripts = commands.map((words, index) => [
      `go-${index}.sh`,
      `echo x > ../outside.md\n${way(words)}\n`,
    ]);
    const each = commands.map((_, index) => `sh go-${index}.sh; mv said said-${index}`);
    const done = await run({
      files: {
        '.mcp.json': { json: { mcpServers: { srv: { command: 'true' } } } },
        '.claude/settings.json': {
          json: { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } },
        },
        ...Object.fromEntries(scripts),
        'go.sh': each.join('\n'),
      },
      args: ['--dangerously-skip-permissions'],
      env: { IS_SANDBOX: '1' },
      script: [{ tool: 'Bash', input: { command: 'sh go.sh' } }, 'end'],
    });
    for (const [index, words] of commands.entries()) {
      const said = done.project.read(`said-${index}`);
      expect(said, words).toMatch(/only a person may run|an agent may not/);
      const kept = path.join(done.project.home, COMMANDS[words] ?? '');
      if (kept.endsWith('.json') && existsSync(kept)) {
        expect(readFileSync(kept, 'utf8')).not.toContain('touch');
      }
    }
  });
});

describe('an agent that starts a conversation of its own', () => {
  it.each(['/inbox answer q1 allow', '/permissions allow Bash user', '/mode acceptEdits'])(
    'changes nothing by %s',
    async (line) => {
      const done = await run({
        files: {
          'reply.json': '["never"]',
          'go.sh': [
            `${CLEAN} ${program} --script reply.json -p '${line}' < /dev/null > said 2>&1`,
            `echo '${line}' | ${CLEAN} ${program} --script reply.json > piped 2>&1`,
          ].join('\n'),
        },
        args: ['--dangerously-skip-permissions'],
        env: { IS_SANDBOX: '1' },
        script: [{ tool: 'Bash', input: { command: 'sh go.sh' } }, 'end'],
      });
      expect(done.project.read('said')).toContain('A prompt cannot run');
      expect(done.project.read('piped')).toContain('needs a terminal');
      expect(existsSync(path.join(done.project.home, '.claude/settings.json'))).toBe(false);
    },
  );
});
