import { describe, expect, it } from 'vitest';
import { patternProblem } from '../../permissions/rules/agent-rules.js';
import { parseRule } from '../../permissions/rules/rules.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { parseLocatedJson } from '../files/json.js';
import type { SettingsFile } from '../types.js';
import { checkFiles } from './check.js';

function fileOf(content: unknown, over: Partial<SettingsFile>): SettingsFile {
  const json = parseLocatedJson(JSON.stringify(content, null, 1));
  if (!json.ok) throw new Error(json.message);
  return {
    source: 'user',
    file: '/u/settings.json',
    root: '/u',
    trusted: true,
    content: json.value as Record<string, unknown>,
    duplicates: json.duplicates,
    lineOf: json.lineOf,
    ...over,
  };
}

/** As the program does. */
function checkRule(text: string): string | undefined {
  const origin = { value: { text, root: '/p' }, source: 'user', trusted: true } as const;
  const parsed = parseRule('ask', origin, { cwd: '/p', home: '/h' });
  return 'why' in parsed ? `${parsed.why}. ${parsed.remedy}` : undefined;
}

function check(content: unknown, over: Partial<SettingsFile> = {}): readonly string[] {
  const { problems } = checkFiles([fileOf(content, over)], {
    knownTools: Object.keys(RULE_TOOLS),
    checkRule,
    checkAgents: patternProblem,
  });
  return problems.map(
    ({ severity, line, message, remedy }) => `${severity} ${line}: ${message} ${remedy}`,
  );
}

const hook = { type: 'command', command: './guard.sh' };
const http = { type: 'http', url: 'https://guard.example/x' };

const braced = (name: string): string => `\${${name}}`;

function checkOne(event: string, handler: object, group: object = {}): readonly string[] {
  return check({ hooks: { [event]: [{ ...group, hooks: [handler] }] } });
}

describe('hooks that cannot work stop the start', () => {
  it.each([
    [{ hooks: [] }, '`hooks` must be an object of events.'],
    [
      { hooks: { PreTooluse: [] } },
      '`hooks.PreTooluse` never runs: there is no event PreTooluse. Did you mean PreToolUse?',
    ],
    [{ hooks: { preToolUse: [] } }, 'Did you mean PreToolUse?'],
    [{ hooks: { WhenIWantTo: [] } }, 'there is no event WhenIWantTo.'],
    [{ hooks: { PreToolUse: hook } }, '`hooks.PreToolUse` must be a list'],
    [{ hooks: { PreToolUse: [hook] } }, '`hooks.PreToolUse[0]` is a hook without its group.'],
    [{ hooks: { PreToolUse: [{ matcher: 'Bash' }] } }, '`hooks.PreToolUse[0].hooks` is missing.'],
    [
      { hooks: { PreToolUse: [{ matchers: 'Bash', hooks: [hook] }] } },
      '`hooks.PreToolUse[0].matchers` is not a setting. Did you mean matcher?',
    ],
    [
      { hooks: { PreToolUse: [{ matcher: ['Bash'], hooks: [hook] }] } },
      '`hooks.PreToolUse[0].matcher` must be a string',
    ],
    [
      { hooks: { PreToolUse: [{ hooks: [{ command: 'x' }] }] } },
      '`hooks.PreToolUse[0].hooks[0].type` is missing.',
    ],
    [
      { hooks: { PreToolUse: [{ hooks: [{ type: 'comand', command: 'x' }] }] } },
      'it is "comand". Did you mean "command"?',
    ],
    [
      { hooks: { PreToolUse: [{ hooks: [{ type: 'command', comand: 'x' }] }] } },
      '`hooks.PreToolUse[0].hooks[0].command` is missing.',
    ],
    [
      { hooks: { PreToolUse: [{ hooks: [{ ...hook, command: '' }] }] } },
      '`hooks.PreToolUse[0].hooks[0].command` is empty.',
    ],
    [
      { hooks: { PreToolUse: [{ hooks: [{ ...hook, onFailure: 'deny' }] }] } },
      'must be one of "block", "continue"',
    ],
    [
      { hooks: { PreToolUse: [{ hooks: [{ ...hook, timeout: '5' }] }] } },
      'must be a number above 0',
    ],
    [
      { hooks: { UserPromptSubmit: [{ hooks: [{ ...hook, if: 'Bash' }] }] } },
      'at this event the hook would never run.',
    ],
    [
      { hooks: { PreToolUse: [{ matcher: 'Ba(?=sh)', hooks: [hook] }] } },
      'the matcher "Ba(?=sh)" is not a regular expression that can be used here',
    ],
    [
      { hooks: { PreToolUse: [{ matcher: 'Bsh', hooks: [hook] }] } },
      'the matcher "Bsh" names Bsh, and there is no such tool. Did you mean Bash?',
    ],
    ...[
      '"Bash"',
      "'Bash'",
      '/Bash/',
      '{Write,Edit}',
      'Ba\u017fh',
      'Write|"Bash"',
      'Bash Write',
    ].map((matcher): [object, string] => [
      { hooks: { PreToolUse: [{ matcher, hooks: [hook] }] } },
      'the matcher "',
    ]),
    [
      { hooks: { PreToolUse: [{ matcher: '/Bash/', hooks: [hook] }] } },
      'the matcher "/Bash/" matches no tool. Write names joined by |',
    ],
    [
      { hooks: { PreToolUse: [{ matcher: 'Bsh.*', hooks: [hook] }] } },
      'the matcher "Bsh.*" matches no tool. Did you mean Bash?',
    ],
    [
      { hooks: { PreToolUse: [{ matcher: 'Bsh(rm *)|Write', hooks: [hook] }] } },
      'there is no such tool. Did you mean Bash?',
    ],
    [
      { hooks: { PreToolUse: [{ matcher: 'Edit(', hooks: [hook] }] } },
      'the matcher "Edit(" is not a regular expression',
    ],
  ])('%j', (content, problem) => {
    const found = check(content).join('\n');
    expect(found).toContain(problem);
    expect(found).toMatch(/^fatal /m);
  });

  it.each([
    ['PreToolUse', 'bash'],
    ['PreToolUse', 'Write|edit, Task'],
    ['PreToolUse', 'mcp__server__.*'],
    ['PreToolUse', '*'],
    ['PreToolUse', ''],
    ['SessionStart', 'startup'],
    ['SessionStart', '^(startup|resume)$'],
    ['PreToolUse', '^(Bash|Write)$|Edit'],
    ['PreToolUse', 'mcp__(github|gitlab)__(?:create|update)_\\w+'],
    ['PreToolUse', '^mcp__[^_]+__delete$'],
    ['PreToolUse', 'mcp__.*'],
    ['PreToolUse', '.*'],
    ['FileChanged', '*.env|config.json'],
    ['Stop', ''],
    ['Stop', '*'],
  ])('but not %s on %j', (event, matcher) => {
    expect(check({ hooks: { [event]: [{ matcher, hooks: [hook] }] } })).toEqual([]);
  });

  it.each([
    [{ BeforeTool: [] }, 'an event of another program'],
    [{ Notification: [{ hooks: [{ type: 'command' }] }] }, 'command` is missing'],
    [{ PreToolUse: [{ matcher: 'SomeFutureTool', hooks: [hook] }] }, 'there is no such tool now'],
    [{ Notification: [{ hooks: [{ ...hook, command: ' ' }] }] }, 'command` is empty'],
    [{ PermissionDenied: [{ hooks: [{ ...hook, if: 'Bash(' }] }] }, 'must be one permission rule'],
  ])('and only warn where nothing is held back: %j', (hooks, problem) => {
    expect(check({ hooks })).toEqual([expect.stringMatching(`^warning .*${problem}`)]);
  });

  it('and only warn in a folder that is not trusted, where they are not in force', () => {
    const found = check({ hooks: { PreTolUse: [] } }, { trusted: false, source: 'project' });
    expect(found).toEqual([expect.stringMatching(/^warning /)]);
  });
});

describe('a kind of hook that an event does not take', () => {
  it.each([
    ['SessionStart', http, 'command, mcp_tool'],
    ['Setup', { type: 'prompt', prompt: 'x' }, 'command, mcp_tool'],
    ['PreCompact', { type: 'agent', prompt: 'x' }, 'command, http, mcp_tool'],
    ['Notification', { type: 'prompt', prompt: 'x' }, 'command, http, mcp_tool'],
  ])('stops the start, at %s too: %j', (event, handler, kinds) => {
    expect(checkOne(event, handler)).toEqual([
      `fatal 7: \`hooks.${event}[0].hooks[0].type\` is "${handler.type}", and ${event} takes no such hooks. It takes ${kinds}.`,
    ]);
  });

  it('does so beside another fault, and only warns where it is not in force', () => {
    const hooks = { SessionStart: [{ hooks: [{ type: 'command' }, http] }] };
    expect(check({ hooks }).map((text) => text.split(' ')[0])).toEqual(['warning', 'fatal']);
    const found = check({ hooks }, { trusted: false, source: 'project' });
    expect(found.every((text) => text.startsWith('warning '))).toBe(true);
  });
});

describe('a hook that could not mean what is written', () => {
  it.each([
    ['PreToolUse', { ...hook, if: 'Bash(rm *' }, '"Bash(rm *" is none: the closing parenthesis'],
    ['PreToolUse', { ...hook, if: 'Bash(a), Edit(b)' }, 'it holds several rules'],
    ['PostToolUse', { ...hook, if: 'Bsah(rm *)' }, 'there is no tool Bsah. Did you mean Bash?'],
    ['PreToolUse', { ...hook, persistent: true, async: true }, '`async` exclude each other'],
    ['Stop', { ...hook, persistent: true, asyncRewake: true }, '`asyncRewake` exclude'],
    ['PreToolUse', { ...hook, persistent: true, once: true }, '`once` exclude each other'],
    ['PreToolUse', { ...http, url: 'guard.example' }, '.url` cannot be called: it is no URL'],
    ['PreToolUse', { ...http, url: 'file:///x' }, 'file: is neither http nor https'],
    ['PreToolUse', { ...http, headers: { 'a b': 'x' } }, 'cannot be the name of a header'],
  ])('stops the start, %s %j', (event, handler, says) => {
    expect(checkOne(event, handler)).toEqual([expect.stringMatching(/^fatal \d+: /)]);
    expect(checkOne(event, handler)[0]).toContain(says);
  });

  it('says nothing of the secret in a URL', () => {
    const [found] = checkOne('PreToolUse', { ...http, url: 'https://me:hunter2@guard.example/' });
    expect(found).toContain('it holds a user name or password');
    expect(found).not.toContain('hunter2');
  });

  it('that only watches is lost with a warning', () => {
    expect(checkOne('SessionEnd', { ...http, url: 'guard.example' })).toEqual([
      expect.stringMatching(/^warning .*it is no URL/),
    ]);
  });

  it.each(['', 'sub/*', 'a b', 'main//x', 'main|reviewer', '.*', 'mian'])(
    'for no agent there could be: %j',
    (agents) => {
      expect(checkOne('PreToolUse', hook, { agents })).toEqual([
        expect.stringMatching(/^fatal 5: `hooks.PreToolUse\[0\].agents` names no agent: /),
      ]);
    },
  );

  it('is none of these', () => {
    for (const one of ['Bash', 'Bash(git push *)', 'Edit(*.ts)', 'mcp__srv__*', 'bash(rm *)']) {
      expect(checkOne('PreToolUse', { ...hook, if: one })).toEqual([]);
    }
    for (const matcher of ['Ba(sh)', 'Web(Fetch|Search)', 'Wr(?:ite)']) {
      expect(checkOne('PreToolUse', hook, { matcher })).toEqual([]);
    }
    const agents = ['main', 'main/*', '**/reviewer#*', 'reviewer'];
    for (const pattern of agents) {
      expect(checkOne('PreToolUse', hook, { agents: pattern })).toEqual([]);
    }
    const more = { allowedEnvVars: ['TOKEN'], persistent: true, args: ['a'], onFailure: 'block' };
    expect(checkOne('PreToolUse', { ...hook, ...more })).toEqual([]);
    const headers = {
      Authorization: `Bearer ${braced('TOKEN')}`,
      'X-Price': '5$',
      'X-Also': '$TOKEN',
    };
    const listed = { ...http, headers, allowedEnvVars: ['TOKEN'] };
    expect(checkOne('PreToolUse', listed)).toEqual([]);
  });
});

describe('what a hook says in vain is told', () => {
  it.each([
    ['Stop', hook, { matcher: 'Bash' }, 'Stop is about nothing that a matcher could name'],
    ['UserPromptSubmit', hook, { matcher: 'x(' }, 'the hook runs every time'],
    ['PreToolUse', hook, { matcher: 'mcp__git' }, 'names no tool; it is taken to mean every tool'],
    ['PreToolUse', hook, { matcher: 'Bash|mcp__git' }, 'Write mcp__git__.* to say so.'],
    ['PreToolUse', hook, { matcher: '|' }, 'names nothing; it is taken to mean everything'],
    ['PreToolUse', hook, { matcher: '.*frobnicate.*' }, 'may match tools of MCP servers'],
    ['PreToolUse', hook, { matcher: 'Bash(rm *)|Write' }, 'every call of Bash'],
    ['PreToolUse', hook, { matcher: 'Bash(rm *)' }, 'every call of Bash. Write "Bash", and the'],
    ['PreToolUse', { ...hook, args: [], shell: 'bash' }, {}, 'with `args` no shell is used'],
    ['Stop', { ...hook, onFailure: 'block' }, {}, 'a Stop hook never holds anything up'],
    ['TaskCompleted', { ...hook, onFailure: 'block' }, {}, 'never holds anything up'],
    ['PreToolUse', { ...hook, async: true, onFailure: 'block' }, {}, 'decides nothing'],
    [
      'PreToolUse',
      { ...http, headers: { 'X-A': `$A ${braced('B')} $A` }, allowedEnvVars: ['B'] },
      {},
      'uses $A, which is sent as nothing: `allowedEnvVars` does not list it. Add "A"',
    ],
  ])('%s %j %j', (event, handler, group, says) => {
    expect(checkOne(event, handler, group)).toEqual([expect.stringMatching(/^warning \d+: /)]);
    expect(checkOne(event, handler, group)[0]).toContain(says);
  });

  it('and nothing is said of events that fire', () => {
    const hooks = { TeammateIdle: [{ hooks: [hook] }, { hooks: [hook, hook] }] };
    expect(check({ hooks })).toEqual([]);
  });

  it('and so are timeouts that look like seconds, or are of another program', () => {
    const hookTimeouts = { PreToolUse: 5, Stop: 100, BeforeTool: 1000, _note: 1 };
    expect(check({ portcullis: { hookTimeouts } })).toEqual([
      'warning 4: `portcullis.hookTimeouts.PreToolUse` is 5 milliseconds, in which hardly a hook answers. For seconds write thousands: 5000 is five seconds.',
      'warning 6: `portcullis.hookTimeouts.BeforeTool` has no effect: BeforeTool is an event of another program. docs/reference/settings.md lists the events.',
    ]);
  });
});
