import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run as play } from '../e2e/worlds.js';
import { receipts } from '../hooks/e2e-rig.js';
import { blocks, enforcing, type Place, place, talk } from './rig.js';

const ARGS = ['--permission-mode', 'acceptEdits', '--include-decisions'];
const one = [{ prompt: 'go' }];
const bash = (command: string) => ({ tool: 'Bash', input: { command } });
const write = (world: Place, name: string, content = 'x') => ({
  tool: 'Write',
  input: { file_path: world.at(name), content },
});
const read = (world: Place, name: string) => ({
  tool: 'Read',
  input: { file_path: world.at(name) },
});

/** What became of each call. */
async function decisions(world: Place, calls: readonly object[], more: readonly string[] = []) {
  const done = await talk(world, [...(calls as []), 'done'], one, [...ARGS, ...more]);
  return receipts(done).map(({ decision }) => decision);
}

describe('enforced blocks of folders', () => {
  it('hold behind links', async () => {
    const world = place({
      's/CLAUDE.md': enforcing({ deny: ['Edit(data/**)', 'Read(data/**)'] }),
      's/data/k': 'SECRET',
      x: { symlink: 's/data' },
      'f.txt': { symlink: 's/data/k' },
    });
    const calls = [
      read(world, 'x/k'),
      read(world, 'f.txt'),
      write(world, 'x/new'),
      bash('cat x/k'),
      bash('cat f.txt'),
      bash('cd x && cat k'),
    ];
    expect(await decisions(world, calls)).toEqual(calls.map(() => 'deny'));
    expect(existsSync(world.at('s/data/new'))).toBe(false);
  });

  it.each<[string, Parameters<typeof place>[0], string]>([
    [
      'gets a NUL',
      { 's/CLAUDE.md': enforcing({ deny: ['Edit(gen/**)'] }) },
      `${enforcing({ deny: ['Edit(gen/**)'] })}\0`,
    ],
    [
      'no longer includes them',
      { 's/CLAUDE.md': '@inc.md\n', 's/inc.md': enforcing({ deny: ['Edit(gen/**)'] }) },
      'no more',
    ],
  ])('hold on when the file %s', async (_how, files, text) => {
    const world = place(files);
    const calls = [
      write(world, 's/gen/x'),
      read(world, 's/CLAUDE.md'),
      write(world, 's/CLAUDE.md', text),
      write(world, 's/gen/y'),
    ];
    const found = await decisions(world, calls);
    expect([found[0], found[2], found[3]]).toEqual(['deny', 'allow', 'deny']);
  });

  it('hold for patterns and for those who take in a whole directory', async () => {
    const world = place({
      'd/s/CLAUDE.md': enforcing({ deny: ['Edit(gen/**)', 'Read(gen/**)'] }),
      'd/s/gen/x': 'SECRET',
      'd/o/x': 'open',
    });
    const calls = [
      bash('cat d/*/gen/x'),
      bash('cat d/?/gen/x'),
      bash('tar cf - -C d/s gen'),
      bash('grep -r SECRET .'),
      { tool: 'Grep', input: { pattern: 'SECRET', output_mode: 'content' } },
      bash('cp -r d e'),
      bash('rm -rf d'),
      bash('mv d e'),
    ];
    const allowed = ['cat', 'tar', 'grep', 'cp', 'rm', 'mv'].map((name) => `Bash(${name} *)`);
    const more = ['--allowedTools', ...allowed];
    const done = await talk(world, [...calls, 'done'], one, [...ARGS, ...more]);
    expect(receipts(done).map(({ decision }) => decision)).toEqual(calls.map(() => 'deny'));
    expect(JSON.stringify(done.requests.at(-1)?.body)).not.toContain(':SECRET');
    expect([existsSync(world.at('d/s/gen/x')), existsSync(world.at('e'))]).toEqual([true, false]);
    // What is not in there is nobody's concern.
    const others = [bash('cp -r d/o f'), bash('rm -rf d/o'), bash('grep -r open d/o')];
    expect(await decisions(world, others, more)).toEqual(others.map(() => 'allow'));
  });
});

it('rules of a folder that nobody has named hold for what is decided at run time', async () => {
  const files = {
    's/CLAUDE.md': enforcing({ deny: ['Edit(**)'] }),
    's/x': 'x',
    'o/x': 'x',
  };
  const calls = [
    bash('for f in s/x; do rm $f; done'),
    bash('D=s; touch $D/new'),
    bash('touch {s,o}/new'),
    bash('echo s/x | xargs rm'),
    bash('rm $(echo s/x)'),
    bash('echo x > $(echo s/new)'),
    bash('a=(s/x); rm $a'),
  ];
  const world = place(files);
  const more = ['--allowedTools', 'Bash'];
  expect(await decisions(world, calls, more)).toEqual(calls.map(() => 'deny'));
  expect([existsSync(world.at('s/x')), existsSync(world.at('s/new'))]).toEqual([true, false]);
  // Where no folder restricts anything nothing is asked.
  const free = place({ ...files, 's/CLAUDE.md': 'Words.' });
  expect(await decisions(free, calls, more)).toEqual(calls.map(() => 'allow'));
});

it('a word that is nearly the right one stops the start', async () => {
  const world = place({ 'CLAUDE.md': '```ortcullis\n{"deny": ["Write"]}\n```\n' });
  const done = await play({ world, script: ['done'], format: 'text' });
  expect(done).toMatchObject({ exitCode: 3, stdout: '', requests: [] });
  expect(done.stderr).toContain('the block "ortcullis" enforces nothing');
});

it('a rule with a head of more than simple fields waits for its files', async () => {
  const world = place({
    '.claude/rules/api.md': '---\npaths: [\n  "src/**", # ours\n  lib/**\n]\n---\nRULE_TEXT',
    'src/a.ts': 'a',
    'other.ts': 'o',
  });
  const script = [read(world, 'other.ts'), read(world, 'src/a.ts'), 'done'];
  const done = await talk(world, script, one, ARGS);
  const shows = [0, 1, 2].map((n) => blocks(done, n).some((text) => text.includes('RULE_TEXT')));
  expect(shows).toEqual([false, false, true]);
});
