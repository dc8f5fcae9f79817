import { describe, expect, it } from 'vitest';
import { parseArgs } from './args.js';
import { FLAGS } from './flags.js';
import { readOptions } from './options.js';

function parsed(...argv: string[]) {
  const args = parseArgs(argv);
  if (!args.ok) throw new Error(args.error);
  return args.value;
}

function problem(...argv: string[]): string {
  const args = parseArgs(argv);
  return args.ok ? '' : args.error;
}

describe('parsing flags', () => {
  it('takes --flag value and --flag=value alike, empty values included', () => {
    expect(parsed('--model', 'x').values.get('model')).toEqual(['x']);
    expect(parsed('--model=x').values.get('model')).toEqual(['x']);
    expect(parsed('--system-prompt', '').values.get('system-prompt')).toEqual(['']);
    expect(parsed('--tools=').values.get('tools')).toEqual(['']);
    expect(parsed('--settings={"a":"b=c"}').values.get('settings')).toEqual(['{"a":"b=c"}']);
  });

  it('keeps the last of a single value and all of a list', () => {
    expect(parsed('--model', 'a', '--model', 'b').values.get('model')).toEqual(['b']);
    expect(parsed('--add-dir', 'a', '--add-dir=b').values.get('add-dir')).toEqual(['a', 'b']);
    expect(
      parsed('--allowedTools', 'Read', 'Bash(git *)', '--verbose').values.get('allowedTools'),
    ).toEqual(['Read', 'Bash(git *)']);
    expect(parsed('--allowed-tools=Read,Edit').values.get('allowedTools')).toEqual(['Read,Edit']);
  });

  it('leaves the words after -- alone', () => {
    const args = parsed('-p', '--', '--model', 'x');
    expect(args.rest).toEqual(['--model', 'x']);
    expect(args.values.has('model')).toBe(false);
  });

  it('gives an optional value that was left out as an empty one', () => {
    expect(parsed('--resume').values.get('resume')).toEqual(['']);
    expect(parsed('-r', 'abc').values.get('resume')).toEqual(['abc']);
    expect(parsed('--debug', '--verbose').switches.has('verbose')).toBe(true);
  });

  it('refuses unknown flags as they were typed, with the one that was meant', () => {
    expect(problem('-p', '--modell', 'gpt-x', 'fix it')).toBe(
      "unknown option '--modell'; did you mean --model?",
    );
    expect(problem('-p', '--of-a-newer-client=1', 'fix it')).toBe(
      "unknown option '--of-a-newer-client'",
    );
    expect(problem('-z')).toBe("unknown option '-z'");
  });

  it('skips unknown flags of a program that drives it, with their values', () => {
    const driven = ['--input-format', 'stream-json'];
    const args = parsed(...driven, '--newer', '--val-flag', 'v', '--dash-flag=-x', '--verbose');
    expect(args.warnings).toEqual([
      "unknown option '--newer'; it is ignored",
      "unknown option '--val-flag'; it is ignored",
      "unknown option '--dash-flag'; it is ignored",
    ]);
    expect(args.positionals).toEqual([]);
    expect(args.switches.has('verbose')).toBe(true);
    expect(problem(...driven, '--disalowedTools', 'Bash')).toContain('did you mean');
  });

  it('ignores no restriction that is only written differently, not even for such a program', () => {
    const driven = ['--input-format', 'stream-json'];
    const restricting = FLAGS.filter(({ restricts }) => restricts === true).map(({ name }) => name);
    expect(restricting).toContain('strict-mcp-config');
    for (const name of restricting) {
      const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const snake = name.replace(/-/g, '_');
      const isKnown = (form: string): boolean =>
        FLAGS.some((row) => [row.name, ...(row.aliases ?? [])].includes(form.replace(/^--/, '')));
      const forms = [
        `--${camel}`,
        `--${snake}`,
        `--${snake.toUpperCase()}`,
        `-${name}`,
        `---${name}`,
      ];
      for (const form of forms.filter((one) => !isKnown(one))) {
        const all = [form, `${form}=x`];
        for (const word of all) {
          const read = parseArgs([...driven, word, 'x']);
          expect({ word, ok: read.ok }).toEqual({ word, ok: false });
        }
      }
    }
  });

  it('goes by no word behind a bare -- for who drives it', () => {
    expect(problem('--newer', '--', '--input-format', 'stream-json')).toContain('unknown option');
  });

  it('refuses a misspelt restriction, a missing value and a wrong one', () => {
    expect(problem('--disalowedTools', 'Bash')).toContain('did you mean --disallowedTools?');
    expect(problem('--max-turn', '3')).toContain('did you mean --max-turns?');
    expect(problem('--model')).toContain('needs a value');
    expect(problem('--model', '--verbose')).toContain('the flag --verbose follows');
    expect(problem('--permission-mode', 'bypas')).toContain('is not one of');
    expect(problem('--verbose=no')).toContain('takes no value');
  });

  it('takes agents by name and by definition', () => {
    expect(parsed('--agents', '{}').warnings).toEqual([]);
    expect(parsed('--agent', 'reviewer').warnings).toEqual([]);
  });
});

describe('reading options', () => {
  const options = (...argv: string[]) => readOptions(parsed(...argv));
  const session = (...argv: string[]) => {
    const read = options('-p', ...argv, '--', 'x');
    if (!read.ok) throw new Error(read.error);
    return read.value.session;
  };

  it('reads the session from the flags', () => {
    expect(
      session('--fallback-model', 'a, b', '--tools', 'Read,Bash', '--setting-sources='),
    ).toMatchObject({
      fallbackModels: ['a', 'b'],
      tools: ['Read', 'Bash'],
      settingSources: [],
      start: { kind: 'new', id: undefined },
      persist: true,
    });
    expect(session('--bare')).toMatchObject({ settingSources: [], strictMcpConfig: true });
    expect(session('--bare').tools).toContain('Read');
    expect(session('--bare', '--tools', 'Read', '--setting-sources', 'user')).toMatchObject({
      tools: ['Read'],
      settingSources: ['user'],
    });
    expect(session('--tools', 'default').tools).toBeUndefined();
    expect(session('--tools=').tools).toEqual([]);
    expect(session('--dangerously-skip-permissions')).toMatchObject({
      permissionMode: 'bypassPermissions',
      bypassArmed: true,
    });
    expect(session('--resume=abc', '--fork-session')).toMatchObject({
      start: { kind: 'resume', id: 'abc' },
      fork: true,
    });
    expect(session('--mcp-config', '{"mcpServers":{"a":{}}}', 'b.json')).toMatchObject({
      mcpConfig: ['{"mcpServers":{"a":{}}}', 'b.json'],
      strictMcpConfig: false,
    });
    expect(session('--strict-mcp-config').strictMcpConfig).toBe(true);
  });

  it.each([
    ['5', 5],
    ['0.50', 0.5],
    ['.5', 0.5],
    ['007', 7],
  ])('takes the amount %s', (text, value) => {
    const read = options('-p', `--max-budget-usd=${text}`, '--', 'x');
    expect(read.ok && read.value.session.maxBudgetUsd).toBe(value);
  });

  it.each([
    [['--max-turns=0'], 'whole number'],
    [['--max-turns=0x10'], 'whole number'],
    [['--max-turns='], 'whole number'],
    [['--max-thinking-tokens='], 'whole number'],
    [['--max-budget-usd', 'lots'], 'not an amount'],
    ...[
      '0x10',
      '0b1',
      '1_000',
      '1e3',
      '1,5',
      'Infinity',
      'NaN',
      ' ',
      '',
      '0',
      '-1',
      '+1',
      '$5',
      '5 ',
    ].map((text): [string[], string] => [[`--max-budget-usd=${text}`], 'not an amount']),
    [['--setting-sources', 'user,projekt'], '"projekt" is not one of'],
    [['--resume-session-at', 'x'], 'needs --resume'],
    [['--system-prompt', 'a', '--system-prompt-file', 'b'], 'exclude each other'],
    [['--dangerously-skip-permissions', '--permission-mode', 'plan'], 'contradicts'],
  ])('refuses %j', (argv, words) => {
    const read = options('-p', ...argv, '--', 'x');
    expect(read.ok ? '' : read.error).toContain(words);
  });
});
