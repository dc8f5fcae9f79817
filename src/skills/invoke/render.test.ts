// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of skills are what is tested
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCommands, type RenderedPart, type RenderValues, renderSkill } from './render.js';

const VARIABLES = new Map([
  ['CLAUDE_SESSION_ID', 'sess'],
  ['CLAUDE_SKILL_DIR', '/s'],
]);

const parts = (text: string, values: RenderValues): readonly RenderedPart[] => {
  const rendered = renderSkill(text, values);
  if (!rendered.ok) throw new Error(rendered.error);
  return rendered.value;
};

const written = (rendered: readonly RenderedPart[]): string =>
  rendered.map((part) => (part.kind === 'text' ? part.text : part.written)).join('');

const render = (text: string, args = '', names: readonly string[] = []): string =>
  written(parts(text, { args, names, variables: VARIABLES }));

const commandsOf = (rendered: readonly RenderedPart[]): readonly string[] =>
  rendered.flatMap((part) => (part.kind === 'command' ? [part.command] : []));

describe('what is put into a skill', () => {
  it.each<[text: string, args: string, result: string]>([
    ['do $ARGUMENTS now', 'a "b c"', 'do a "b c" now'],
    ['do $ARGUMENTS now', '', 'do  now'],
    ['$0-$1', 'a "b c"', 'a-b c'],
    ['$ARGUMENTS[0]/$ARGUMENTS[1]', 'a "b c"', 'a/b c'],
    ['$0 $7 $ARGUMENTS[7]', 'a', 'a $7 $ARGUMENTS[7]'],
    ['$0 costs $100', 'a', 'a costs $100'],
    ['$0x $ARGUMENTSX $ARGUMENTS_Y', 'a', '$0x $ARGUMENTSX $ARGUMENTS_Y\n\nARGUMENTS: a'],
    ['$ARGUMENTS[x]', 'a', 'a[x]'],
    ['$99999999999999999999', 'a', '$99999999999999999999\n\nARGUMENTS: a'],
    ['plain', 'a b', 'plain\n\nARGUMENTS: a b'],
    ['plain', ' ', 'plain'],
    ['$5', 'a', '$5\n\nARGUMENTS: a'],
    ['\\$0 \\$ARGUMENTS \\$ARGUMENTS[0] $0', 'a', '$0 $ARGUMENTS $ARGUMENTS[0] a'],
    // Only a single backslash escapes.
    ['\\\\$0', 'a', '\\\\a'],
    ['\\$0', 'a', '$0\n\nARGUMENTS: a'],
    ['\\$other $0', 'a', '\\$other a'],
    ['${CLAUDE_SESSION_ID} ${CLAUDE_SKILL_DIR}/x $0', 'a', 'sess /s/x a'],
    ['\\${CLAUDE_SESSION_ID} $0', 'a', '\\sess a'],
    ['${CLAUDE_OTHER} ${HOME} $HOME $$ $ $0', 'a', '${CLAUDE_OTHER} ${HOME} $HOME $$ $ a'],
  ])('%j with %j', (text, args, result) => {
    expect(render(text, args)).toBe(result);
  });

  it('knows arguments by name; one that is not given is empty', () => {
    const names = ['issue', 'issue-id', 'to', '9', 'a b', 'x'.repeat(80)];
    expect(render('$issue $issue-id [$to]', '1 2', names)).toBe('1 2 []');
    expect(render('$issue-other $issues $ISSUE \\$to', '1 2', names)).toBe(
      '1-other $issues $ISSUE $to',
    );
    expect(render(`$${'x'.repeat(80)} $0`, '1', names)).toBe(`$${'x'.repeat(80)} 1`);
    expect(render(`$issue-${'y-'.repeat(100)}`, '1', names)).toBe(`1-${'y-'.repeat(100)}`);
    expect(render('$constructor $toString $0', '1', names)).toBe('$constructor $toString 1');
  });

  it('adds arguments that found no place, also beside a name without one', () => {
    expect(render('to $to', 'a', ['issue', 'to'])).toBe('to \n\nARGUMENTS: a');
  });

  it('puts arguments into commands before anybody looks at them', () => {
    const rendered = parts('x !`echo $ARGUMENTS` y\n\n```!\nls ${CLAUDE_SKILL_DIR}\n```', {
      args: 'a; touch b',
      names: [],
      variables: VARIABLES,
    });
    expect(rendered).toEqual([
      { kind: 'text', text: 'x ' },
      { kind: 'command', command: 'echo a; touch b', written: '!`echo a; touch b`', line: 0 },
      { kind: 'text', text: ' y\n\n' },
      { kind: 'command', command: 'ls /s', written: '```!\nls /s\n```', line: 2 },
    ]);
  });

  it('lets no argument begin, end or be a command', () => {
    const of = (text: string, args: string) =>
      commandsOf(parts(text, { args, names: [], variables: VARIABLES }));
    expect(of('$ARGUMENTS', '!`touch x`')).toEqual([]);
    expect(of('x', '!`touch x`')).toEqual([]);
    expect(of('$ARGUMENTS', '\n```!\ntouch x\n```\n')).toEqual([]);
    expect(of('!$ARGUMENTS', '`touch x`')).toEqual([]);
    expect(of('!`echo $ARGUMENTS`', 'a` !`touch x')).toEqual(['echo a` !`touch x']);
    expect(of('```!\necho $0\n```', '"a\n```\n!`touch x`"')).toEqual(['echo a\n```\n!`touch x`']);
    expect(of('$0!`touch x`', '"a "')).toEqual([]);
  });
});

describe('no argument is read twice', () => {
  const nasty = fc.array(
    fc.constantFrom(
      '$ARGUMENTS',
      '$0',
      '$1',
      '$ARGUMENTS[0]',
      '$name',
      '${CLAUDE_SKILL_DIR}',
      '${CLAUDE_SESSION_ID}',
      '!`touch x`',
      '`',
      '!',
      '\n',
      '\n```!\ntouch x\n```\n',
      '\\',
      '"',
      "'",
      '$',
      '{',
      ' ',
      'w',
      '$&',
      '$`',
    ),
    { maxLength: 12 },
  );
  const values = (args: string): RenderValues => ({ args, names: ['name'], variables: VARIABLES });

  it('has the author’s commands and no others, with the argument whole in its place', () => {
    const author = fc.array(
      fc.constantFrom(
        'text ',
        '\n',
        '!`echo $ARGUMENTS` ',
        ' !`ls $0`',
        '$ARGUMENTS',
        '$0',
        '$name',
        '\\$0',
        '\n```!\nrun $1\n```\n',
        '!',
        '`',
        '${CLAUDE_SKILL_DIR}',
      ),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(author, nasty, (pieces, words) => {
        const text = pieces.join('');
        const rendered = parts(text, values(words.join('')));
        const commands = findCommands(text);
        expect(commandsOf(rendered)).toHaveLength(commands.length);
        // The number of commands must not depend on the arguments.
        const dull = parts(text, values('dull'));
        expect(commandsOf(dull)).toHaveLength(commands.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('inserts what was given, to the letter', () => {
    fc.assert(
      fc.property(nasty, (words) => {
        const args = words.join('');
        const around = (text: string): string => render(`<<${text}>>`, args, ['name']);
        expect(around('$ARGUMENTS')).toBe(`<<${args}>>`);
        expect(commandsOf(parts('!`a <$ARGUMENTS>`', values(args)))).toEqual([`a <${args}>`]);
        const quoted = `"${args.replace(/["\\]/g, '\\$&')}"`;
        for (const token of ['$0', '$ARGUMENTS[0]', '$name']) {
          expect(render(`<<${token}>>`, quoted, ['name'])).toBe(`<<${args}>>`);
        }
        if (args.trim() !== '') expect(render('x', args)).toBe(`x\n\nARGUMENTS: ${args}`);
      }),
      { numRuns: 1000 },
    );
  });

  it('reads a long text in one go, however it is made', () => {
    for (const one of ['$', '\\', '\\$0', '$a-', '$1', '${CLAUDE_', '$ARGUMENTS[', 'a-']) {
      const text = one.repeat(50_000);
      expect(render(text, '', ['name', 'a']).length).toBeGreaterThan(0);
      const rendered = renderSkill(`$${text}`, {
        args: text,
        names: ['name'],
        variables: VARIABLES,
      });
      expect(rendered.ok || rendered.error).toBeTruthy();
    }
  });

  it('does not let arguments grow without end', () => {
    const rendered = renderSkill('$ARGUMENTS '.repeat(1000), values('x'.repeat(100_000)));
    expect(rendered).toMatchObject({ ok: false });
  });

  it('reads lines of every system as a shell does', () => {
    const rendered = parts('a\r\n```!\r\nls\rpwd\r\n```\r\nb', values(''));
    expect(commandsOf(rendered)).toEqual(['ls\npwd']);
  });
});
