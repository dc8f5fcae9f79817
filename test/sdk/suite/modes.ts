import type { PermissionMode } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Client, ClientOptions } from './client.js';
import { toolResults } from './look.js';
import { play } from './play.js';

type Outcome = 'run' | 'ask' | 'deny';

interface Call {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly outcomes: Readonly<Record<Mode, Outcome>>;
}

type Mode = Extract<
  PermissionMode,
  'default' | 'acceptEdits' | 'plan' | 'dontAsk' | 'bypassPermissions'
>;

const MODES: readonly Mode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

/** One outcome per mode, in the order of `MODES`. */
const by = (...outcomes: readonly Outcome[]): Record<Mode, Outcome> =>
  Object.fromEntries(MODES.map((mode, index) => [mode, outcomes[index]])) as Record<Mode, Outcome>;

const bash = (command: string) => ({ tool: 'Bash', input: { command } });
const always = by('run', 'run', 'run', 'run', 'run');
const outside = by('ask', 'ask', 'ask', 'deny', 'run');
const edits = by('ask', 'run', 'ask', 'deny', 'run');

const CALLS: Readonly<Record<string, Call>> = {
  'Read in the project': {
    tool: 'Read',
    input: { file_path: 'inside.txt' },
    outcomes: always,
  },
  'Read outside': { tool: 'Read', input: { file_path: '../outside.txt' }, outcomes: outside },
  'Write in the project': {
    tool: 'Write',
    input: { file_path: 'new.txt', content: 'x' },
    outcomes: edits,
  },
  'Write outside': {
    tool: 'Write',
    input: { file_path: '../new.txt', content: 'x' },
    outcomes: outside,
  },
  // The reference lets these through in bypass mode: what could undo every later decision is asked about.
  'Write to the settings': {
    tool: 'Write',
    input: { file_path: '.claude/settings.json', content: '{}' },
    outcomes: by('ask', 'ask', 'ask', 'deny', 'ask'),
  },
  "Write to git's internals": {
    tool: 'Write',
    input: { file_path: '.git/config', content: '' },
    outcomes: by('ask', 'ask', 'ask', 'deny', 'ask'),
  },
  'a command that only reads': { ...bash('ls'), outcomes: always },
  'a pipe that only reads': { ...bash('cat inside.txt | wc -l'), outcomes: always },
  'a command that makes a directory': { ...bash('mkdir made'), outcomes: edits },
  'a redirection': { ...bash('echo x > redirected.txt'), outcomes: edits },
  'another command': {
    ...bash('python3 -c "print(1)"'),
    outcomes: outside,
  },
  'a tool of a server': { tool: 'mcp__kit__peek', input: {}, outcomes: outside },
};

/** Row 17 of the checklist: what runs, asks or is refused in which mode, and what the rules change. */
export function modes(client: Client): void {
  describe.each(MODES)('in mode %s', (mode) => {
    it('each kind of call comes out as the table says', async () => {
      const outcomes = await outcomesOf(client, Object.values(CALLS), {
        permissionMode: mode,
        ...(mode === 'bypassPermissions'
          ? { allowDangerouslySkipPermissions: true, env: { IS_SANDBOX: '1' } }
          : {}),
      });
      const expected = Object.entries(CALLS).map(([name, call]) => [name, call.outcomes[mode]]);
      expect(Object.fromEntries(Object.keys(CALLS).map((name, i) => [name, outcomes[i]]))).toEqual(
        Object.fromEntries(expected),
      );
    });
  });
  rules(client);
}

/** Plays the calls in one session with a host that says no to everything, and tells what became of each. */
async function outcomesOf(
  client: Client,
  calls: readonly { tool: string; input: Record<string, unknown> }[],
  options: ClientOptions,
): Promise<readonly Outcome[]> {
  const prompted = new Set<string>();
  const peek = client.tool(
    'peek',
    'looks',
    { at: z.string().optional() },
    async () => ({
      content: [{ type: 'text', text: 'seen' }],
    }),
    { annotations: { readOnlyHint: true } },
  );
  const played = await play(client, {
    files: {
      'inside.txt': 'in\n',
      '../outside.txt': 'out\n',
      '.env': 'SECRET=1\n',
      'src/a.ts': 'a\n',
    },
    script: [
      ...calls.map(({ tool, input }, index) => ({ tool, input, id: `toolu_${index}` })),
      'end',
    ],
    options: {
      ...options,
      mcpServers: { kit: client.createSdkMcpServer({ name: 'kit', tools: [peek] }) },
      canUseTool: async (_tool, _input, { toolUseID }) => {
        prompted.add(toolUseID);
        return { behavior: 'deny', message: 'NO' };
      },
    },
  });
  const results = toolResults(played);
  return calls.map((_call, index) => {
    const id = `toolu_${index}`;
    if (prompted.has(id)) return 'ask';
    return results.find((result) => result.id === id)?.isError === false ? 'run' : 'deny';
  });
}

/** A rule, a call, and what becomes of the call. */
type RuleRow = readonly [
  kind: 'allow' | 'deny' | 'ask',
  rule: string,
  call: Omit<Call, 'outcomes'>,
  outcome: Outcome,
];

const write = (file_path: string) => ({ tool: 'Write', input: { file_path, content: 'x' } });
const read = (file_path: string) => ({ tool: 'Read', input: { file_path } });
const peek = { tool: 'mcp__kit__peek', input: {} };

const RULES: readonly RuleRow[] = [
  ['allow', 'Bash', bash('python3 -c "1"'), 'run'],
  ['allow', 'Bash(*)', bash('python3 -c "1"'), 'run'],
  ['allow', 'Bash(python3 --version)', bash('python3 --version'), 'run'],
  ['allow', 'Bash(python3 --version)', bash('python3 -c 1'), 'ask'],
  ['allow', 'Bash(python3 -c:*)', bash('python3 -c 1'), 'run'],
  ['allow', 'Bash(python3 -c:*)', bash('python3 -cx'), 'ask'],
  ['allow', 'Bash(true *)', bash('true && python3 -c 1'), 'ask'],
  ['allow', 'Bash(python3 *)', bash('python3 -c "$(id)"'), 'ask'],
  ['deny', 'Bash(ls *)', bash('echo a && ls -l'), 'deny'],
  ['deny', 'Bash(ls *)', bash('/bin/ls -l'), 'deny'],
  ['deny', 'Read(.env)', read('.env'), 'deny'],
  ['deny', 'Read(.env)', bash('cat .env'), 'deny'],
  ['deny', 'Edit(src/**)', write('src/b.ts'), 'deny'],
  ['deny', 'Edit(src/**)', bash('echo x > src/c.ts'), 'deny'],
  ['allow', 'Edit(src/**)', write('src/d.ts'), 'run'],
  ['allow', 'Edit(src/**)', write('other.ts'), 'ask'],
  ['allow', 'Edit(*.ts)', write('src/e.ts'), 'run'],
  ['ask', 'Bash(ls)', bash('ls'), 'ask'],
  ['allow', 'mcp__kit', peek, 'run'],
  ['allow', 'mcp__kit__*', peek, 'run'],
  ['allow', 'mcp__kit__peek', peek, 'run'],
  ['allow', 'mcp__kit__other', peek, 'ask'],
  ['deny', 'mcp__kit__peek', peek, 'deny'],
];

function rules(client: Client): void {
  describe('rules', () => {
    it.each(RULES)('%s %s', async (kind, rule, call, outcome) => {
      const outcomes = await outcomesOf(client, [call], {
        settings: { permissions: { [kind]: [rule] } },
      });
      expect(outcomes).toEqual([outcome]);
    });

    it('deny before ask before allow, whatever is more special', async () => {
      const outcomes = await outcomesOf(
        client,
        [bash('ls'), bash('ls src'), bash('python3 --version')],
        {
          settings: {
            permissions: {
              allow: ['Bash(ls src)', 'Bash(python3 *)'],
              ask: ['Bash(ls)'],
              deny: ['Bash(ls *)'],
            },
          },
        },
      );
      expect(outcomes).toEqual(['deny', 'deny', 'run']);
    });

    it('allowedTools and disallowedTools are rules; a bare name takes the tool away', async () => {
      const outcomes = await outcomesOf(
        client,
        [write('f.txt'), bash('python3 --version'), read('inside.txt')],
        {
          allowedTools: ['Write', 'Bash(python3 --version)'],
          disallowedTools: ['Read'],
        },
      );
      expect(outcomes).toEqual(['run', 'run', 'deny']);
    });
  });
}
