import { describe, expect, it } from 'vitest';
import { PortcullisError } from '../errors.js';
import { type CommandCall, type CommandFile, type CommandSpec, runCommand } from './command.js';
import { COMMANDS } from './commands/index.js';
import type { Output } from './output.js';

async function run(file: CommandFile, words: readonly string[], argv: readonly string[]) {
  const shown: string[] = [];
  const out = (text: string): void => void shown.push(text);
  const none = (): undefined => undefined;
  const output: Output = {
    out,
    answer: out,
    warn: out,
    debug: none,
    debugs: false,
    behind: none,
    drained: async () => undefined,
    open: none,
    lost: none,
  };
  const code = await runCommand(file, words, { argv, output });
  return { code, text: shown.join('') };
}

describe('help of every command', () => {
  it.each(Object.entries(COMMANDS))(
    '%s --help and that of its subcommands',
    async (name, { load }) => {
      const file = await load();
      const { code, text } = await run(file, [name], ['--help']);
      expect(code).toBe(0);
      expect(text).toMatch(/^usage:/i);
      expect(text).toContain(`portcullis ${name}`);
      expect(await run(file, [name], ['-h'])).toEqual({ code, text });
      await checkSpec(file.command, [name]);
    },
  );
});

/** Every leaf says what it does, and describes each argument and option, within 80 columns. */
async function checkSpec(command: CommandSpec, words: readonly string[]): Promise<void> {
  const { text } = await run({ command }, words, ['--help']);
  expect(text).toContain(`Usage: portcullis ${words.join(' ')}`);
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(command.summary).toMatch(/^[A-Z].*\.$/);
  for (const one of [...(command.options ?? []), ...(command.arguments ?? [])])
    expect(one.description, words.join(' ')).toMatch(/\S/);
  for (const [name, sub] of Object.entries(command.subcommands ?? {})) {
    const { command: inner } = await sub.load();
    expect(sub.summary).toMatch(/^[A-Z].*\.$/);
    await checkSpec(inner, [...words, name]);
  }
}

describe('a command', () => {
  const calls: CommandCall[] = [];
  const leaf: CommandSpec = {
    summary: 'Add a thing.',
    arguments: [
      { name: '<name>', description: 'Its name.' },
      { name: '[words...]', description: 'More of it.' },
    ],
    options: [
      { flags: '-s, --scope <scope>', description: 'Where.', choices: ['user', 'local'] },
      { flags: '--header <header...>', description: 'A header.' },
      { flags: '--json', description: 'Write JSON.' },
      { flags: '--no-browser', description: 'Open no browser.' },
    ],
    async run(call) {
      calls.push(call);
      return 0;
    },
  };
  const parent: CommandSpec = {
    summary: 'Manage things.',
    subcommands: { add: { summary: 'Add a thing.', load: async () => ({ command: leaf }) } },
  };
  const add = async (...argv: string[]): Promise<CommandCall | undefined> => {
    await run({ command: parent }, ['thing'], ['add', ...argv]);
    return calls.at(-1);
  };
  const problem = async (command: CommandSpec, argv: readonly string[]): Promise<string> => {
    const thrown = await run({ command }, ['thing'], argv).catch((error: unknown) => error);
    if (!(thrown instanceof PortcullisError)) throw new Error('it was accepted');
    expect(thrown.code).toBe('usage');
    expect(thrown.message).not.toContain('\n');
    return `${thrown.message} | ${thrown.remedy}`;
  };

  it('gets its arguments and options', async () => {
    expect(
      await add('-s', 'user', '--header', 'A: 1', 'x', '--header=B: 2', 'y', '--', '--json'),
    ).toMatchObject({
      args: ['x', 'y', '--json'],
      options: { scope: 'user', header: ['A: 1', 'B: 2'], browser: true },
    });
    expect((await add('x', '--json', '--no-browser'))?.options).toEqual({
      json: true,
      browser: false,
    });
  });

  it('refuses what it does not know, with the nearest name', async () => {
    expect(await problem(leaf, ['x', '--jsno'])).toBe(
      "unknown option '--jsno'; did you mean --json? | portcullis thing --help shows how it is called",
    );
    expect(await problem(leaf, ['x', '--scope', 'usr'])).toContain(
      '--scope: "usr" is not one of user, local; did you mean user?',
    );
    expect(await problem(parent, ['ad'])).toBe(
      'portcullis thing has no subcommand "ad" | did you mean: portcullis thing add',
    );
    expect(await problem(parent, ['constructor'])).toContain('portcullis thing --help lists them');
  });

  it('refuses an option without its value, and a missing or surplus argument', async () => {
    expect(await problem(leaf, ['x', '--scope'])).toContain("'-s, --scope <scope>'");
    expect(await problem(leaf, ['x', '--scope', '--json'])).toContain(
      '--scope needs a value, but --json follows',
    );
    expect(await problem(leaf, [])).toContain("missing required argument 'name'");
    expect(await problem({ summary: 'Run.', run: leaf.run }, ['x'])).toContain(
      'too many arguments',
    );
  });

  it('leaves the words after the first argument alone when they belong to another program', async () => {
    const command: CommandSpec = {
      ...leaf,
      passThrough: true,
      arguments: [{ name: '[words...]', description: 'A program and its arguments.' }],
    };
    await run({ command }, ['run'], ['--json', 'ls', '-l', '--json', '--', 'x']);
    expect(calls.at(-1)).toMatchObject({
      args: ['ls', '-l', '--json', '--', 'x'],
      options: { json: true },
    });
  });

  it('that leads to others lists them, and fails when it is called alone', async () => {
    const alone = await run({ command: parent }, ['thing'], []);
    expect(alone.code).toBe(2);
    expect(alone.text).toContain('add');
    expect(await run({ command: parent }, ['thing'], ['help'])).toEqual({ ...alone, code: 0 });
    const one = await run({ command: parent }, ['thing'], ['help', 'add']);
    expect(one).toEqual(await run({ command: parent }, ['thing'], ['add', '--help']));
    expect(one.text).toContain('Usage: portcullis thing add [options] <name> [words...]');
  });

  it('may both run and lead to others', async () => {
    const command: CommandSpec = {
      ...leaf,
      subcommands: {
        other: { summary: 'Do another.', load: async () => ({ command: { ...leaf } }) },
      },
    };
    await run({ command }, ['thing'], ['name', 'other']);
    expect(calls.at(-1)?.args).toEqual(['name', 'other']);
    await run({ command }, ['thing'], ['--json', 'other']);
    expect(calls.at(-1)?.args).toEqual(['other']);
    expect((await run({ command }, ['thing'], ['--help'])).text).toContain('Do another.');
  });
});
