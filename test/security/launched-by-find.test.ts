import { describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { gateRig } from '../support/gate-rig.js';

const { directory: cwd, home } = makeTempProject({
  files: { 'a.txt': 'a', '.git/config': '', '.git/HEAD': 'ref: refs/heads/main' },
});

const WRAPPED =
  `env @|env -u A B=1 @|nice @|nice -n 5 @|timeout 5 @|nohup @|sudo @|sudo -u root @|command @|xargs @|setsid @
stdbuf -o0 @|busybox @|flock lock @|ssh host @|docker exec box @|npx @|env nice timeout 5 @|time @|exec @
find . -exec @|fd -x env @`
    .split(/[|\n]/)
    .map((one) => one.trim());

const FINDERS = [
  'find . -maxdepth 0 -exec @ \\;',
  'find . -maxdepth 0 -exec @ {} +',
  'find . -execdir @ \\;',
  'find . -ok @ \\;',
  'find . -okdir @ \\;',
  'find . -name x -o -exec true \\; -exec @ \\;',
  'fd -x @',
  'fd . --exec @',
  'fdfind -X @',
];

const launched = (command: string): readonly string[] =>
  FINDERS.flatMap((finder) =>
    ['@', ...WRAPPED].map((wrapper) => finder.replace('@', wrapper).replace('@', command)),
  );

describe('what find and fd run through another program', () => {
  const denied = gateRig({ cwd, home, allow: ['Bash'], deny: ['Bash(rm *)', 'Bash(git push *)'] });

  it.each(['rm a.txt', 'git push origin main'])('is held to the rules for %s', async (command) => {
    for (const line of launched(command)) expect(await denied.bash(line), line).not.toBe('runs');
  });

  it.each(['env rm a.txt', 'git push origin'])('is asked about for %s', async (command) => {
    const asked = gateRig({ cwd, home, allow: ['Bash'], ask: ['Bash(rm *)', 'Bash(git push *)'] });
    for (const line of launched(command)) expect(await asked.bash(line), line).not.toBe('runs');
  });

  it.each(['rm -rf /', 'rm -rf ~', 'rm -rf ..'])('never removes all: %s', async (command) => {
    for (const mode of ['default', 'bypassPermissions'] as const) {
      const open = gateRig({ cwd, home, allow: ['Bash'], mode });
      for (const line of launched(command)) expect(await open.bash(line), line).not.toBe('runs');
    }
  });

  it('does not write protected files', async () => {
    const open = gateRig({ cwd, home, allow: ['Bash'] });
    const lines = launched('touch .git/hooks/pre-commit');
    for (const line of lines) expect(await open.bash(line), line).not.toBe('runs');
  });
});

describe('a program whose name is that of a file that is found', () => {
  const denied = gateRig({ cwd, home, allow: ['Bash'], deny: ['Bash(rm *)'] });
  it.each([
    'find /usr/bin/ -name rm -exec {} a.txt \\;',
    'find /usr/bin/ -name rm -exec env {} a.txt \\;',
    'find /usr/bin/ -name rm -exec timeout 5 {} a.txt \\;',
    'find /usr -name bin -exec {}/rm a.txt \\;',
    'find /usr/bin/ -name rm -execdir ./{} a.txt \\;',
    "find . -name x -exec sh -c '{} a.txt' \\;",
    "find . -name x -exec env sh -c '{} a.txt' \\;",
    'fd -x {} a.txt',
    'fd -x {.} a.txt',
    'fd -x nice {/} a.txt',
    'fd rm /usr/bin --exec={} a.txt',
    'fd rm /usr/bin -x env',
    'fd rm /usr/bin -x timeout 5',
    'timeout 5 find /usr/bin/ -name rm -exec {} a.txt \\;',
    'env -u A find /usr/bin/ -name rm -exec nice {} a.txt \\;',
    'npx find /usr/bin/ -name rm -exec {} a.txt \\;',
    'find . -exec find /usr/bin/ -name rm -exec {} a.txt \\;',
    'find . -exec "$X" a.txt \\;',
  ])('is not known: %s', async (command) => {
    expect(await denied.bash(command)).not.toBe('runs');
  });

  it.each([
    'find . -type f -exec grep -n x {} +',
    'find . -name x -exec env cat {} \\;',
    'find . -name "*.sh" -exec chmod +x {} \\;',
    `find . -name x -exec sh -c 'cat "$1"' _ {} \\;`,
    'fd -e ts -x wc -l {}',
    'fd -e ts -x nice wc -l',
    'find "$A" "$B" -name x',
  ])('leaves others alone: %s', async (command) => {
    expect(await denied.bash(command)).toBe('runs');
  });
});
