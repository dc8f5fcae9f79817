import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { notices, receipts } from '../hooks/e2e-rig.js';
import { enforcing, type Place, place, talk } from './rig.js';

const ARGS = ['--permission-mode', 'acceptEdits', '--include-decisions'];
const write = (world: Place, name: string, content = 'x') => ({
  tool: 'Write',
  input: { file_path: world.at(name), content },
});
const edit = (world: Place, name: string, old_string: string, new_string: string) => ({
  tool: 'Edit',
  input: { file_path: world.at(name), old_string, new_string },
});
const read = (world: Place, name: string) => ({
  tool: 'Read',
  input: { file_path: world.at(name) },
});
const one = [{ prompt: 'go' }];

describe('enforced blocks of files of the start', () => {
  it('hold from the next turn on when they are added, with file and line in the receipt', async () => {
    const world = place({ 'CLAUDE.md': 'Words.' });
    const done = await talk(
      world,
      [write(world, 'a/x'), 'one', write(world, 'a/y'), 'two'],
      [
        { prompt: 'a' },
        {
          prompt: 'b',
          before: () => world.write('CLAUDE.md', enforcing({ deny: ['Edit(a/**)'] })),
        },
      ],
      ARGS,
    );
    expect([existsSync(world.at('a/x')), existsSync(world.at('a/y'))]).toEqual([true, false]);
    const [, denied] = receipts(done);
    expect(denied).toMatchObject({ decision: 'deny' });
    expect(JSON.stringify(denied)).toMatch(/Edit\(a\/\*\*\) \([^)]*CLAUDE\.md:4\)/);
  });

  it('are not lifted by whoever takes them out, and that is told', async () => {
    const world = place({ 'CLAUDE.md': enforcing({ deny: ['Edit(a/**)'] }) });
    const done = await talk(
      world,
      [
        read(world, 'CLAUDE.md'),
        edit(world, 'CLAUDE.md', 'Edit(a/**)', 'Edit(b/**)'),
        write(world, 'a/x'),
        write(world, 'b/x'),
        'done',
      ],
      one,
      ARGS,
    );
    expect([existsSync(world.at('a/x')), existsSync(world.at('b/x'))]).toEqual([false, false]);
    expect(notices(done).join('\n')).toContain('it holds until the session ends');
  });

  it('that break keep what held before, and that is told', async () => {
    const world = place({ 'CLAUDE.md': enforcing({ deny: ['Edit(a/**)'] }) });
    const done = await talk(
      world,
      ['one', write(world, 'a/x'), 'two'],
      [
        { prompt: 'a' },
        {
          prompt: 'b',
          before: () => world.write('CLAUDE.md', '```portcullis\n{ "deny": [\n```\n'),
        },
      ],
      ARGS,
    );
    expect(existsSync(world.at('a/x'))).toBe(false);
    expect(notices(done).join('\n')).toMatch(/no JSON[\s\S]*The restrictions of before hold/);
  });
});

describe('enforced blocks of folders', () => {
  const files = {
    'sub/CLAUDE.md': enforcing({ deny: ['Edit(./gen/**)', 'Edit(/top.txt)'] }),
    'sub/keep.txt': 'x',
  };

  it('speak of paths as seen from their folder', async () => {
    const world = place(files);
    const done = await talk(
      world,
      [
        write(world, 'sub/gen/x'),
        write(world, 'gen/x'),
        write(world, 'sub/top.txt'),
        write(world, 'top.txt'),
        'done',
      ],
      one,
      ARGS,
    );
    const made = ['sub/gen/x', 'gen/x', 'sub/top.txt', 'top.txt'].map((name) =>
      existsSync(world.at(name)),
    );
    expect(made).toEqual([false, true, false, true]);
    expect(JSON.stringify(receipts(done)[0])).toMatch(/sub\/CLAUDE\.md:4/);
  });

  it.each(['changed', 'removed'])('hold on when the file is %s', async (how) => {
    const world = place(files);
    const last =
      how === 'changed'
        ? edit(world, 'sub/CLAUDE.md', './gen', './other')
        : { tool: 'Bash', input: { command: 'rm sub/CLAUDE.md' } };
    const script = [read(world, 'sub/CLAUDE.md'), last, write(world, 'sub/gen/x'), 'done'];
    await talk(world, script, one, [...ARGS, '--allowedTools', 'Bash']);
    expect(existsSync(world.at('sub/CLAUDE.md'))).toBe(how === 'changed');
    expect(existsSync(world.at('sub/gen/x'))).toBe(false);
  });

  it('hold where a rule hides the words', async () => {
    const world = place({
      ...files,
      '.claude/settings.json': { json: { permissions: { deny: ['Read(sub/CLAUDE.md)'] } } },
    });
    const done = await talk(world, [write(world, 'sub/gen/x'), 'done'], one, ARGS);
    expect(existsSync(world.at('sub/gen/x'))).toBe(false);
    expect(JSON.stringify(receipts(done)[0])).toContain('sub/CLAUDE.md:4');
    rmSync(world.at('sub'), { recursive: true });
  });
});
