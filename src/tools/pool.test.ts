import { describe, expect, it } from 'vitest';
import { createPool } from './pool.js';
import { createToolMatcher } from './pool-patterns.js';
import type { AnyTool } from './tool.js';

function builtin(name: string, aliases?: readonly string[]): AnyTool {
  return {
    name,
    aliases,
    kind: 'read',
    definition: { name, description: `does ${name}`, input_schema: { type: 'object' } },
    validate: async () => [],
    subject: () => ({ paths: [], summary: name }),
    concurrencySafe: () => true,
    run: async () => ({ content: name }),
  };
}

function served(server: string, tool: string, name = `mcp__${server}__${tool}`): AnyTool {
  const origin = { server, key: server, source: 'project', tool, alwaysLoad: false };
  return { ...builtin(name), origin };
}

const namesOf = (list: readonly { readonly name: string }[]): string[] =>
  list.map(({ name }) => name);

describe('the order of a pool', () => {
  it('has built-in tools first, then those of servers without regard to case', () => {
    const pool = createPool([
      served('zeta', 'a'),
      builtin('Write'),
      served('alpha', 'Y'),
      served('alpha', 'x'),
      builtin('Bash'),
    ]);
    const wanted = ['Bash', 'Write', 'mcp__alpha__x', 'mcp__alpha__Y', 'mcp__zeta__a'];
    expect(namesOf(pool.definitions)).toEqual(wanted);
    expect(namesOf(pool.tools)).toEqual(wanted);
    expect(Object.isFrozen(pool.definitions)).toBe(true);
  });

  it('appends what is added, and moves nothing', () => {
    const pool = createPool([builtin('Write'), served('srv', 'm')]);
    const before = pool.definitions;
    expect(pool.definitions).toBe(before);
    pool.add([served('srv', 'z'), served('srv', 'b')]);
    expect(namesOf(pool.definitions)).toEqual([
      'Write',
      'mcp__srv__m',
      'mcp__srv__b',
      'mcp__srv__z',
    ]);
    expect(before.every((one, index) => pool.definitions[index] === one)).toBe(true);
    expect(namesOf(before)).toEqual(['Write', 'mcp__srv__m']);
  });
});

describe('names that two tools want', () => {
  it('lets the built-in tool win and names the other', () => {
    const pool = createPool([served('x', 'Read', 'Read'), builtin('Read')]);
    expect(pool.resolve('Read')?.origin).toBeUndefined();
    expect(pool.problems).toHaveLength(1);
    expect(pool.problems[0]).toContain('"x"');
  });

  it.each(['read', 'TaskOutput', 'KillShell'])('knows %s for a name of a built-in tool', (name) => {
    const pool = createPool([
      builtin('Read'),
      builtin('BashOutput', ['TaskOutput']),
      builtin('TaskStop'),
      served('x', 't', name),
    ]);
    expect(pool.problems).toHaveLength(1);
    expect(pool.tools).toHaveLength(3);
  });

  it('keeps the first of two tools of servers, also when the second comes later', () => {
    const first = served('a', 'b__c', 'mcp__a__b__c');
    const second = served('a__b', 'c', 'mcp__a__b__c');
    const pool = createPool([first, second]);
    expect(pool.tools).toEqual([first]);
    expect(pool.problems[0]).toContain('"a__b"');
    expect(pool.add([second]).added).toEqual([]);
    expect(pool.problems).toHaveLength(2);
  });

  it.each([
    ['mcp__github', ['mcp__github__x']],
    ['mcp__github__*', ['mcp__github__x']],
    ['mcp__github__x', ['mcp__github__x']],
    ['mcp__github_', ['mcp__github___x']],
    ['MCP__GitHub___X', ['mcp__github___x']],
    ['mcp__git__hub__*', ['mcp__git__hub__x']],
    ['mcp__git', []],
    ['mcp__git__*', []],
    ['mcp__git*', ['mcp__git__hub__x', 'mcp__github___x', 'mcp__github__x']],
    ['*', ['mcp__git__hub__x', 'mcp__github___x', 'mcp__github__x']],
  ])('lets in by %s what is of that server alone', (pattern, wanted) => {
    const servers = ['github', 'github_', 'git__hub'].map((key) => served(key, 'x'));
    const pool = createPool(servers).view({ allow: [pattern] });
    expect(namesOf(pool.tools)).toEqual(wanted);
  });

  it('has mcp__srv__Read beside Read', () => {
    const pool = createPool([builtin('Read'), served('srv', 'Read')]);
    expect(pool.tools).toHaveLength(2);
    expect(pool.problems).toEqual([]);
  });
});

describe('tools that are taken away', () => {
  it.each([['mcp__srv'], ['mcp__srv__*'], ['mcp__s*'], ['mcp__*'], ['MCP__SRV__one']])(
    'takes the tool away by %s, for good',
    (pattern) => {
      const isBanned = createToolMatcher([pattern]);
      const pool = createPool([builtin('Read'), served('srv', 'one')], { isBanned });
      expect(namesOf(pool.tools)).toEqual(['Read']);
      pool.add([served('srv', 'one')]);
      expect(pool.resolve('mcp__srv__one')).toBeUndefined();
      pool.view({}).add([served('srv', 'one')]);
      expect(namesOf(pool.definitions)).toEqual(['Read']);
    },
  );

  it('lends two tools of an editor and no other', () => {
    const pool = createPool([
      served('ide', 'getDiagnostics'),
      served('ide', 'executeCode'),
      served('ide', 'openDiff'),
    ]);
    expect(namesOf(pool.tools)).toEqual(['mcp__ide__executeCode', 'mcp__ide__getDiagnostics']);
    expect(pool.problems[0]).toContain('openDiff');
  });
});

describe('deferred tools', () => {
  const defer = ({ origin }: AnyTool): boolean => origin !== undefined;

  it('are callable and not defined, until they are loaded, in the order of loading', () => {
    const tools = [builtin('Read'), ...['a', 'b', 'c'].map((name) => served('srv', name))];
    const pool = createPool(tools, { defer });
    expect(namesOf(pool.definitions)).toEqual(['Read']);
    expect(pool.resolve('mcp__srv__b')?.name).toBe('mcp__srv__b');
    const before = pool.definitions;
    const loaded = pool.load(['mcp__srv__c', 'mcp__srv__a', 'mcp__srv__c', 'Read', 'nothing']);
    expect(namesOf(loaded.loaded)).toEqual(['mcp__srv__c', 'mcp__srv__a']);
    expect(namesOf(loaded.already)).toEqual(['Read']);
    expect(loaded.unknown).toEqual(['nothing']);
    expect(namesOf(pool.definitions)).toEqual(['Read', 'mcp__srv__c', 'mcp__srv__a']);
    expect(before).toHaveLength(1);
    expect(pool.loaded).toEqual(['mcp__srv__c', 'mcp__srv__a']);
    expect(namesOf(pool.deferred)).toEqual(['mcp__srv__b']);
  });

  it('may be added later', () => {
    const pool = createPool([builtin('Read')]);
    pool.add([served('srv', 'late')], { defer });
    expect(namesOf(pool.definitions)).toEqual(['Read']);
    pool.load(['mcp__srv__late']);
    expect(namesOf(pool.definitions)).toEqual(['Read', 'mcp__srv__late']);
  });
});

describe('views', () => {
  const whole = () =>
    createPool([
      builtin('Bash'),
      builtin('Read'),
      builtin('Write'),
      served('srv', 'one'),
      served('srv', 'two'),
    ]);

  it.each([
    [{ allow: ['Read', 'Bash(git *)'] }, ['Bash', 'Read']],
    [{ allow: ['*'] }, ['Bash', 'Read', 'Write', 'mcp__srv__one', 'mcp__srv__two']],
    [{ allow: [] }, []],
    [{ allow: ['mcp__srv'], deny: ['mcp__srv__two'] }, ['mcp__srv__one']],
    [{ deny: ['mcp__*', 'write'] }, ['Bash', 'Read']],
    [{ allow: ['nothing'] }, []],
  ])('of %j hold %j', (selection, wanted) => {
    const pool = whole();
    const view = pool.view(selection);
    expect(namesOf(view.tools)).toEqual(wanted);
    expect(view.definitions.every((one) => pool.definitions.includes(one))).toBe(true);
    expect(namesOf(view.definitions)).toEqual(wanted);
  });

  it('load and add for themselves, and see what the whole is given', () => {
    const pool = createPool([builtin('Read'), served('srv', 'one')], {
      defer: ({ origin }) => origin !== undefined,
    });
    const view = pool.view({});
    view.load(['mcp__srv__one']);
    view.add([served('own', 'tool')]);
    pool.add([served('late', 'tool')]);
    expect(namesOf(view.definitions)).toEqual([
      'Read',
      'mcp__srv__one',
      'mcp__late__tool',
      'mcp__own__tool',
    ]);
    expect(namesOf(pool.definitions)).toEqual(['Read', 'mcp__late__tool']);
    expect(pool.resolve('mcp__own__tool')).toBeUndefined();
    expect(view.add([served('late', 'tool')]).problems).toHaveLength(1);
  });

  it('choose anew by the same selection once the whole has or tells more', () => {
    const selection = { allow: ['Read', 'mcp__srv'], deny: ['mcp__srv__two'] };
    const pool = createPool([builtin('Read'), served('srv', 'one')], {
      defer: ({ origin }) => origin !== undefined,
    });
    const before = pool.view(selection);
    pool.load(['mcp__srv__one']);
    const loaded = pool.view(selection);
    expect(namesOf(loaded.definitions)).toEqual(['Read', 'mcp__srv__one']);
    expect(loaded.loaded).toEqual(['mcp__srv__one']);
    expect(namesOf(before.definitions)).toEqual(['Read']);
    pool.add([served('srv', 'two'), served('srv', 'three')]);
    const wanted = ['Read', 'mcp__srv__one', 'mcp__srv__three'];
    expect(namesOf(pool.view(selection).definitions)).toEqual(wanted);
    expect(namesOf(pool.view(selection).tools)).toEqual(wanted);
    expect(namesOf(before.tools)).toEqual(wanted);
  });

  it('ask anew what is hidden, also by the same selection and in views of views', () => {
    let hidden = 'Bash';
    const selection = { isHidden: (names: readonly string[]) => names.includes(hidden) };
    const pool = whole();
    const below = {};
    const first = pool.view(selection);
    expect(namesOf(first.view(below).tools).slice(0, 2)).toEqual(['Read', 'Write']);
    hidden = 'Read';
    expect(namesOf(pool.view(selection).tools).slice(0, 2)).toEqual(['Bash', 'Write']);
    expect(namesOf(first.view(below).definitions)).not.toContain('Read');
  });

  it('of a view have what that one is given later', () => {
    const view = whole().view({ deny: ['Write'] });
    const below = view.view({ deny: ['Bash'] });
    view.add([served('own', 'tool')]);
    expect(namesOf(below.tools)).toEqual([
      'Read',
      'mcp__srv__one',
      'mcp__srv__two',
      'mcp__own__tool',
    ]);
  });

  it('of a view are never wider than it', () => {
    const view = whole().view({ deny: ['Write'] });
    expect(namesOf(view.view({ allow: ['Write', 'Read'] }).tools)).toEqual(['Read']);
  });
});
