import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanOf, listOf } from '../../lib/frontmatter/fields.js';
import { parseYaml as realYaml } from '../../lib/frontmatter/parse-yaml.js';
import { HEAD_FIELDS } from './fields.js';
import { readSkill } from './head.js';

const skill = (head: string, body = 'BODY\n'): string => `---\n${head}\n---\n${body}`;
/** JSON is valid YAML and sufficient for these tests. */
const parseYaml = (text: string): unknown => JSON.parse(text);

describe('a skill’s head', () => {
  it('has every documented field', async () => {
    const { head, problems, body, bodyLine } = await readSkill(
      skill(
        [
          'name: Deploy it',
          'description: Deploys',
          'when_to_use: When asked to deploy',
          'argument-hint: "[env] [tag]"',
          'arguments: env tag',
          'disable-model-invocation: yes',
          'user-invocable: off',
          'allowed-tools: Bash(git add *), Read Edit(src/**)',
          'disallowed-tools:',
          '  - Bash(rm, *)',
          '  - Write',
          'model: haiku',
          'effort: high',
          'context: fork',
          'agent: Explore',
          'background: 0',
          'paths: src/*.{ts,tsx}, docs',
          'shell: bash',
          'license: MIT',
        ].join('\n'),
      ),
    );
    expect(problems).toEqual([]);
    expect(body).toBe('BODY\n');
    expect(bodyLine).toBe(22);
    const { keys, lines, ...fields } = head;
    expect(lines).toMatchObject({ name: 2, description: 3, 'disallowed-tools': 10, license: 20 });
    expect(fields).toEqual({
      displayName: 'Deploy it',
      description: 'Deploys',
      whenToUse: 'When asked to deploy',
      argumentHint: '[env] [tag]',
      arguments: ['env', 'tag'],
      disableModelInvocation: true,
      userInvocable: false,
      allowedTools: ['Bash(git add *)', 'Read', 'Edit(src/**)'],
      disallowedTools: ['Bash(rm, *)', 'Write'],
      model: 'haiku',
      effort: 'high',
      context: 'fork',
      agent: 'Explore',
      background: false,
      paths: ['src/*.{ts,tsx}', 'docs'],
      shell: 'bash',
    });
    expect(keys).toContain('license');
  });

  it('takes hooks and the fence as they are written', async () => {
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'x' }] }] };
    const head = JSON.stringify({
      description: 'd',
      hooks,
      portcullis: { 'fence-tools': 'Read, Grep' },
    });
    const read = await readSkill(skill(head), { parseYaml });
    expect(read.head).toMatchObject({ hooks, fenceTools: ['Read', 'Grep'] });
    expect(read.refusal).toBeUndefined();
  });

  it.each(['{}', '{"fence-tools": null}', '{"fence-tools": []}'])(
    'an empty fence is not none: %s',
    async (map) => {
      const { head } = await readSkill(skill(`{"portcullis": ${map}}`), { parseYaml });
      expect(head.fenceTools).toEqual(map === '{}' ? undefined : []);
    },
  );

  it.each([
    ['portcullis: 7', 'portcullis'],
    ['portcullis: {fence-tools: [', 'portcullis'],
    ['disallowed-tools: Bash(rm', 'bracket'],
    ['description: a: b\ndisallowed-tools: "Bash', 'disallowed-tools'],
    ['disallowed-tools: Bash\ndisallowedTools: Write', 'twice'],
    ['description: a: b\n  disallowed-tools: Bash', 'disallowed-tools'],
    ['{description: x, disallowed-tools: Bash', 'disallowed-tools'],
    ['description: a: b\n"fence-tool": Bash', 'write fence-tools'],
    ['disallowed-tools:Bash', 'disallowed-tools'],
    ['description: a: b\ndisalowed-tools: "Bash', 'disalowed-tools'],
    ['description: d\nfence-tools:Read', 'fence-tools'],
    ['portcullis.fence-tools: Read', 'portcullis'],
    ['hook: x', 'write hooks'],
    ['disallowed-tools: Bash\ndisalowed-tools: Write', 'write disallowed-tools'],
    ['disalowed-tool: Bash', 'write disallowed-tools'],
    ['disallowed-tool: Bash', 'write disallowed-tools'],
    ['fence_tool: Read', 'write fence-tools'],
    ['allowedTools: Bash', 'write allowed-tools'],
    ['allowed_tools: Bash', 'write allowed-tools'],
    ['allow-tools: Bash', 'write allowed-tools'],
    ['portculis: {fence-tools: Read}', 'write portcullis'],
    ['portcullis: {fence-toolz: Read}', 'a skill knows fence-tools'],
  ])('refuses a restriction that cannot be read: %s', async (head, word) => {
    const { refusal } = await readSkill(skill(head));
    expect(refusal?.message).toContain(word);
    expect(refusal?.line).toBeGreaterThan(1);
  });

  it.each([
    ['disallowedTools: Bash', { disallowedTools: ['Bash'] }],
    ['disable_model_invocation: true', { disableModelInvocation: true }],
    ['fence-tools: Read', { fenceTools: ['Read'] }],
    ['description: a: b\n"fence-tools": Bash', { fenceTools: ['Bash'] }],
    ['description: a: b\ndisallowed-tools:\n\t- Bash', { disallowedTools: ['Bash'] }],
    ['disable-model-invokation: true', { disableModelInvocation: true }],
    ['d\u0456sable-model-invocation: yes', { disableModelInvocation: true }],
    [
      'disable-model-invocation: false\ndisable-model-invocaton: true',
      { disableModelInvocation: true },
    ],
    ['disable-model-invocation:true', { disableModelInvocation: true }],
    ['user-invokable: false', { userInvocable: false }],
    ['disable-model-invocation: maybe', { disableModelInvocation: true }],
    ['disable-model-invocation:', { disableModelInvocation: true }],
    ['user-invocable: 3', { userInvocable: false }],
    ['user-invocable: true\nuserInvocable: false', { userInvocable: false }],
    ['description: a: b\ndisable-model-invocation: "yes', { disableModelInvocation: true }],
  ])('reads a restriction generously: %s', async (head, expected) => {
    expect((await readSkill(skill(head))).head).toMatchObject(expected);
  });

  it('refuses a restriction that stands where it means nothing', async () => {
    const read = async (head: object) =>
      await readSkill(skill(JSON.stringify(head)), { parseYaml });
    for (const head of [
      { portcullis: { fence: 'Read' } },
      { hooks: { PreTooluse: [] } },
      { hooks: { __proto: [] } },
      { '<<': { portcullis: { 'fence-tools': 'Read' } } },
      { '<<': [{ 'disable-model-invocation': true }] },
    ]) {
      expect((await read(head)).refusal?.message, JSON.stringify(head)).toContain('restriction');
    }
    for (const head of [
      { tools: 'Read' },
      { version: 1 },
      { '<<': { x: 1 } },
      { 'a.b': 1 },
      { hooks: { Stop: [] } },
    ]) {
      expect((await read(head)).refusal, JSON.stringify(head)).toBeUndefined();
    }
  });

  it('reads grants and hooks beside a field that YAML refuses', async () => {
    const head = [
      'argument-hint: [file] [mode]',
      'description: Use when: asked',
      'allowed-tools: Bash(git log:*), Read',
      'hooks:',
      '  PreToolUse:',
      '    - matcher: Bash',
      '      hooks: [{type: command, command: ./guard.sh}]',
    ];
    const read = await readSkill(skill(head.join('\n')));
    expect(read.refusal).toBeUndefined();
    expect(read.head).toMatchObject({
      argumentHint: '[file] [mode]',
      description: 'Use when: asked',
      allowedTools: ['Bash(git log:*)', 'Read'],
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ command: './guard.sh' }] }] },
    });
  });

  it.each([
    'allowed-tools: *a',
    'allowed-tools: "Bash',
    'allowed-tools: [Bash',
    'allowed-tools: !x Bash',
  ])('grants nothing that cannot be read: %s', async (head) => {
    const read = await readSkill(skill(`description: a: b\n${head}`));
    expect(read.head.allowedTools).toBeUndefined();
    expect(read.problems.map(({ message }) => message).join()).toContain('does not count');
  });

  it('reads what people write that is no YAML, with a warning', async () => {
    const { head, problems } = await readSkill(
      skill('description: Use when: asked\npaths: **/*.ts'),
    );
    expect(head).toMatchObject({ description: 'Use when: asked', paths: ['**/*.ts'] });
    expect(problems[0]).toMatchObject({ line: 2 });
  });

  it.each([
    ['First words\nof it.\n\nMore.', 'First words of it.'],
    ['# Title\n\nThe text.', 'The text.'],
    ['# Title\nThe text.', 'The text.'],
    ['# Title', 'Title'],
    ['\n\n<!-- hidden -->\n\nText', 'Text'],
    ['', undefined],
  ])('takes its description from the body: %j', async (body, description) => {
    expect((await readSkill(body)).head.description).toBe(description);
    expect((await readSkill(skill('name: x', body))).head.description).toBe(description);
  });

  it('a head that is not closed leaves a skill for people', async () => {
    const text = '---\ndescription: S\nallowed-tools: Bash\nText of it';
    const { head, body, problems } = await readSkill(text);
    expect(head).toMatchObject({ disableModelInvocation: true });
    expect(head.allowedTools).toBeUndefined();
    expect(head.keys).toContain('allowed-tools');
    expect(body).toBe(text);
    expect(problems[0]?.line).toBe(1);
    expect((await readSkill('---\nfence-tools: Read\nText')).refusal?.line).toBe(2);
  });

  it('names keys that it does not know', async () => {
    const { problems, head } = await readSkill(skill('descripton: x\n__proto: y'));
    expect(problems[0]).toEqual({
      line: 2,
      message: '"descripton" is not a field of a skill; did you mean description?',
    });
    expect(head.keys).toEqual(['descripton', '__proto']);
  });

  it('understands byte order marks, foreign line ends and folded texts', async () => {
    const text =
      '\uFEFF---\r\ndescription: >\r\n  Größe\r\n  zählt\r\nuser-invocable: No\r\n---\r\nBODY\r\n';
    const { head, body, problems } = await readSkill(text);
    expect(head).toMatchObject({ description: 'Größe zählt', userInvocable: false });
    expect({ body, problems }).toEqual({ body: 'BODY\n', problems: [] });
  });

  it('is not stopped by anything that can be written', async () => {
    const key = fc.oneof(
      fc.constantFrom(...HEAD_FIELDS, 'x', '__proto__', 'constructor'),
      fc.string(),
    );
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '|',
        '>',
        '[a, "b',
        '{a: ',
        '&a [*a]',
        '!!js/function x',
        '\t- x',
        'a: b: c',
        '',
        '"',
        "'",
      ),
      fc.array(fc.string()).map((items) => items.map((item) => `\n  - ${item}`).join('')),
      fc.string().map((text) => ` |\n  ${text}\n  ${text}`),
    );
    const line = fc.tuple(key, value).map(([name, text]) => `${name}: ${text}`);
    const file = fc
      .tuple(
        fc.constantFrom('', '\uFEFF', '\n\n'),
        fc.array(line),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
      )
      .map(([start, lines, end, closed]) =>
        [`${start}---`, ...lines, ...(closed ? ['---'] : []), 'BODY'].join(end),
      );
    await fc.assert(
      fc.asyncProperty(file, async (text) => {
        const { head, bodyLine, body } = await readSkill(text);
        expect(bodyLine).toBeGreaterThan(0);
        expect(body).toContain('BODY');
        for (const list of [head.allowedTools, head.disallowedTools, head.paths, head.fenceTools])
          for (const item of list ?? []) expect(typeof item).toBe('string');
        expect(Object.getPrototypeOf(head)).toBe(Object.prototype);
      }),
    );
  });

  it('reads a megabyte', async () => {
    const big = 'x'.repeat(1_000_000);
    const { head, body } = await readSkill(skill('description: d', big));
    expect({ length: body.length, description: head.description }).toEqual({
      length: 1_000_000,
      description: 'd',
    });
    const { problems } = await readSkill(skill(`description: ${big}`));
    expect(problems[0]?.message).toContain('not closed');
  });

  it('is not blown up by aliases', async () => {
    const bomb = ['a: &a [x,x,x,x]', 'b: &b [*a,*a,*a,*a]', 'c: [*b,*b,*b,*b]'].join('\n');
    const { head } = await readSkill(skill(bomb));
    expect(JSON.stringify(head).length).toBeLessThan(1_000);
  });
});

describe('values of a head', () => {
  it.each([
    ...['true', 'True', 'YES', 'on', '1', 1, true, ' yes '].map((value) => [value, true] as const),
    ...['false', 'No', 'OFF', '0', 0, false].map((value) => [value, false] as const),
    ...['', 'y', 2, null, undefined, [], {}].map((value) => [value, undefined] as const),
  ])('%j is %s', (value, expected) => {
    expect(booleanOf(value)).toBe(expected);
  });

  it.each([
    ['a, b c,,d', ['a', 'b', 'c', 'd']],
    ['Bash(git add:*), Bash(npm run x, y) Read', ['Bash(git add:*)', 'Bash(npm run x, y)', 'Read']],
    ['Bash(a (b c) d) E', ['Bash(a (b c) d)', 'E']],
    [
      ['Bash(a, b)', ' Read '],
      ['Bash(a, b)', 'Read'],
    ],
    [null, []],
    ['', []],
    [
      ['a', 7],
      ['a', '7'],
    ],
  ])('%j', (value, expected) => {
    expect(listOf(value)).toEqual({ ok: true, value: expected });
  });

  it.each([['Bash(a, b'], [{}], [[{}]]])('refuses %j', (value) => {
    expect(listOf(value).ok).toBe(false);
  });

  it('joins to what it was split from', () => {
    const rule = fc
      .tuple(fc.stringMatching(/^[A-Z][a-z]{0,6}$/), fc.stringMatching(/^[ ,a-z*]{0,9}$/))
      .map(([tool, inside]) => `${tool}(${inside})`);
    fc.assert(
      fc.property(fc.array(rule), fc.constantFrom(', ', ' ', ','), (rules, between) => {
        expect(listOf(rules.join(between))).toEqual({ ok: true, value: rules });
      }),
    );
  });
});

describe('matchers of hooks', () => {
  const hooked = (matcher: string, event = 'PreToolUse'): string =>
    `---\ndescription: d\nhooks:\n  ${event}:\n    - matcher: ${JSON.stringify(matcher)}\n      hooks: []\n---\nBODY`;

  it.each([
    ['Bsh', 'Did you mean Bash?'],
    ["'Bash'", 'matches no tool'],
    ['Wrote|Edit', 'names Wrote'],
  ])('a guard for %s, which no tool is called, takes the skill out', async (matcher, why) => {
    const { refusal } = await readSkill(hooked(matcher), { parseYaml: realYaml });
    expect(refusal).toMatchObject({ line: 5, message: expect.stringContaining(why) });
  });

  it.each([
    ['Deployer', 'PreToolUse', 'there is no such tool now'],
    ['Bash[', 'PreToolUse', 'is not a regular expression'],
    ['Bash(git push:*)', 'PreToolUse', 'is a rule'],
  ])('%s at %s is told with its line', async (matcher, event, why) => {
    const { refusal, problems } = await readSkill(hooked(matcher, event), { parseYaml: realYaml });
    expect(refusal).toBe(undefined);
    expect(problems).toEqual([
      { line: 5, field: 'hooks', message: expect.stringContaining(why) as string },
    ]);
  });

  it.each(['Bash', 'bash|Edit', '*', '', 'mcp__.*', 'mcp__a__b', 'Task'])(
    '%j is fine',
    async (matcher) => {
      const { refusal, problems } = await readSkill(hooked(matcher), { parseYaml: realYaml });
      expect([refusal, problems]).toEqual([undefined, []]);
    },
  );
});
