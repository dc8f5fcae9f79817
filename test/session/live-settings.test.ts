import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../build/generated/settings-table.js';
import { openInboxOf } from '../../src/app.js';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import type { SettingTable } from '../../src/protocol/settings/setting-node.js';
import {
  type AgentsOptions,
  type AgentsSession,
  agent,
  bash,
  definition,
  openAgentsSession,
} from '../agents/core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

interface Row {
  readonly key: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly options?: Partial<AgentsOptions>;
  /** Made before the session does anything. */
  prepare?(session: AgentsSession): void;
  /** What shows the effect; asked before the change and after it. */
  see(session: AgentsSession): Promise<unknown>;
  readonly before: unknown;
  readonly after: unknown;
}

const ALWAYS = (reply: Reply | ReplyFunction) => Array.from({ length: 8 }, () => reply);
/** Calls, each followed by an answer. */
const turns = (...calls: readonly (Reply | ReplyFunction)[]) =>
  Array.from({ length: 4 }, () => [...calls, 'end']).flat();

async function lastResult(session: AgentsSession): Promise<string> {
  await session.say('go');
  return session.result().text;
}
const isRefused = async (session: AgentsSession): Promise<boolean> => {
  await session.say('go');
  return session.result().isError;
};
/** Whether the newest request of an agent with this word in it holds another one. */
const showsAgent = (task: string, word: string) => async (session: AgentsSession) => {
  await session.say('go');
  return session
    .requests(task)
    .findLast((body) => !body.includes(`the ${task}`))
    ?.includes(word);
};

const NAMES = ['ann', 'bob'];

/** A program whose name stands for one that only reads. */
const BIN = mkdtempSync(path.join(tmpdir(), 'portcullis-bin-'));
writeFileSync(path.join(BIN, 'ls'), '#!/bin/sh\necho x > "surprise-$$.txt"; echo listed\n');
chmodSync(path.join(BIN, 'ls'), 0o755);
afterAll(() => rmSync(BIN, { recursive: true, force: true }));

const SKILL = definition('description: DESCRIBED-AT-LENGTH', 'x');
const SHELL_SKILL = definition('description: d\nallowed-tools: Bash', 'It says !`echo RAN-IT`.');
const HOOK = { type: 'command', command: 'exit 2' };
const FAILS = { type: 'command', command: 'exit 139' };
const skillCall = { tool: 'Skill', input: { skill: 'mine' } };

const ROWS: readonly Row[] = [
  {
    key: 'autoCompactEnabled',
    settings: { autoCompactEnabled: false },
    options: {
      env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '2000' },
      main: ALWAYS(`an answer ${'of many words '.repeat(600)}`),
    },
    async see(session) {
      const earlier = session.news('compacting').length;
      await session.say('go');
      await session.say('go');
      return session.news('compacting').length > earlier;
    },
    before: true,
    after: false,
  },
  {
    key: 'autoMemoryEnabled',
    settings: { autoMemoryEnabled: false },
    options: {
      files: {
        '.claude/agents/k.md': definition('name: keeper\ndescription: d\nmemory: user', 'KEEPER'),
      },
      home: { '.claude/agent-memory/keeper/MEMORY.md': 'REMEMBERED\n' },
      main: turns(agent('TASKWORD', { subagent_type: 'keeper' })),
      agents: { TASKWORD: ALWAYS('done') },
    },
    see: async (session) => {
      await session.say('go');
      return session.requests('KEEPER').at(-1)?.includes('REMEMBERED');
    },
    before: true,
    after: false,
  },
  {
    key: 'worktree',
    settings: { worktree: { symlinkDirectories: ['shared'] } },
    options: {
      files: { 'a.txt': 'a\n', '.gitignore': 'shared\n' },
      main: turns(agent('APART', { isolation: 'worktree' })),
      agents: { APART: turns(bash('ls')) },
    },
    prepare({ project }) {
      mkdirSync(project.at('shared'));
      const git = (...words: string[]) =>
        execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...words], {
          cwd: project.directory,
        });
      git('init', '-q', '-b', 'main');
      git('add', '-A');
      git('commit', '-qm', 'first');
    },
    async see(session) {
      await session.say('go');
      const results = session.news('child').flatMap(({ event }) => {
        return event.type === 'tool_result' ? [JSON.stringify(event.result.block.content)] : [];
      });
      return results.at(-1)?.includes('shared');
    },
    before: false,
    after: true,
  },
  {
    key: 'teammateMode',
    settings: { teammateMode: 'tmux' },
    options: {
      env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' },
      // A limit that only one process keeps: a pane of its own is refused in words.
      config: { team: { kind: 'lead', program: ['false'] }, maxBudgetUsd: 5 },
      // The mail of a teammate that rests may start a turn of its own at any time.
      main: ALWAYS(({ lastUser }) =>
        lastUser.endsWith('go') ? agent('MATE', { name: NAMES.shift() ?? 'none' }) : 'end',
      ),
      agents: { MATE: ALWAYS('done') },
    },
    see: async (session) => (await lastResult(session)).includes('a process of its own'),
    before: false,
    after: true,
  },
  {
    key: 'portcullis.limits',
    settings: { portcullis: { limits: { agentDepth: 0 } } },
    options: { main: turns(agent('TASKWORD')), agents: { TASKWORD: ALWAYS('done') } },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'portcullis.forks',
    settings: { portcullis: { forks: true } },
    options: {
      main: turns(agent('TASKWORD', { subagent_type: 'fork' })),
      agents: { TASKWORD: ALWAYS('done') },
    },
    see: async (session) => /unknown|no agent|there is no/i.test(await lastResult(session)),
    before: true,
    after: false,
  },
  {
    key: 'portcullis.passEnv',
    settings: { portcullis: { passEnv: ['MY_TOKEN'] } },
    options: {
      env: { MY_TOKEN: 'abc' },
      config: { allowedTools: ['Bash'] },
      main: turns(bash('printenv MY_TOKEN | wc -c')),
    },
    see: async (session) => (await lastResult(session)).trim(),
    before: '0',
    after: '4',
  },
  {
    key: 'portcullis.inbox.expiryMinutes',
    settings: { portcullis: { inbox: { expiryMinutes: 5 } } },
    options: {
      config: { asker: () => new Promise(() => undefined) },
      main: turns(agent('ASKING', { run_in_background: true })),
      agents: { ASKING: ALWAYS(bash('touch made.txt')) },
    },
    async see(session) {
      const inbox = openInboxOf({ HOME: session.project.home });
      const known = new Set(inbox.list().map(({ id }) => id));
      await session.say('go');
      for (;;) {
        const asked = inbox.list().find(({ id }) => !known.has(id));
        if (asked !== undefined) return (asked.expiresAt - asked.askedAt) / 60_000;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    before: 30,
    after: 5,
  },
  {
    key: 'portcullis.effects',
    settings: { portcullis: { effects: { onViolation: 'rollback' } } },
    options: {
      env: { PATH: `${BIN}:${process.env.PATH}` },
      main: turns(bash('ls')),
    },
    async see(session) {
      await session.say('go');
      return session.requests('has been undone').length > 0;
    },
    before: false,
    after: true,
  },
  {
    key: 'skillOverrides',
    settings: { skillOverrides: { mine: 'off' } },
    options: {
      files: { '.claude/skills/mine/SKILL.md': SKILL },
      config: { allowedTools: ['Skill'] },
      main: turns(skillCall),
    },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'skillListingMaxDescChars',
    settings: { skillListingMaxDescChars: 5 },
    options: {
      files: { '.claude/skills/mine/SKILL.md': SKILL },
      main: turns(agent('TASKWORD')),
      agents: { TASKWORD: ALWAYS('done') },
    },
    see: showsAgent('TASKWORD', 'DESCRIBED-AT-LENGTH'),
    before: true,
    after: false,
  },
  {
    key: 'skillListingBudgetFraction',
    settings: { skillListingBudgetFraction: 0.000_001 },
    options: {
      files: { '.claude/skills/mine/SKILL.md': SKILL },
      main: turns(agent('TASKWORD')),
      agents: { TASKWORD: ALWAYS('done') },
    },
    see: showsAgent('TASKWORD', 'DESCRIBED-AT-LENGTH'),
    before: true,
    after: false,
  },
  {
    key: 'disableSkillShellExecution',
    settings: { disableSkillShellExecution: true },
    options: {
      files: { '.claude/skills/mine/SKILL.md': SHELL_SKILL },
      config: { allowedTools: ['Skill'] },
      main: turns(skillCall),
    },
    async see(session) {
      const count = () => session.requests('It says').at(-1)?.split('It says RAN-IT').length ?? 1;
      const earlier = count();
      await session.say('go');
      return count() - earlier;
    },
    before: 1,
    after: 0,
  },
  {
    key: 'permissions.allow',
    settings: { permissions: { allow: ['Bash(touch *)'] } },
    options: { main: turns(bash('touch made')) },
    see: isRefused,
    before: true,
    after: false,
  },
  {
    key: 'permissions.deny',
    settings: { permissions: { deny: ['Bash(touch *)'] } },
    options: { config: { allowedTools: ['Bash'] }, main: turns(bash('touch made')) },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'permissions.ask',
    settings: { permissions: { ask: ['Bash(touch *)'] } },
    options: { config: { allowedTools: ['Bash'] }, main: turns(bash('touch made')) },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'permissions.denyInsteadOfPrompting',
    settings: { permissions: { denyInsteadOfPrompting: true } },
    options: {
      config: { asker: async () => ({ behavior: 'allow' }) },
      main: turns(bash('touch made')),
    },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'permissions.disableBypassPermissionsMode',
    settings: { permissions: { disableBypassPermissionsMode: 'disable' } },
    options: {
      env: { IS_SANDBOX: '1' },
      config: { permissionMode: 'bypassPermissions' },
      main: turns(bash('touch made')),
    },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'portcullis.askReadOnly',
    settings: { portcullis: { askReadOnly: true } },
    options: { main: turns(bash('ls')) },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'portcullis.agents',
    settings: { portcullis: { agents: { main: { deny: ['Bash'] } } } },
    options: { main: turns(bash('ls')) },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'hooks',
    settings: { hooks: { PreToolUse: [{ hooks: [HOOK] }] } },
    options: { main: turns(bash('ls')) },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'disableAllHooks',
    settings: { disableAllHooks: true },
    options: {
      home: { '.claude/settings.json': { json: { hooks: { PreToolUse: [{ hooks: [HOOK] }] } } } },
      main: turns(bash('ls')),
    },
    see: isRefused,
    before: true,
    after: false,
  },
  {
    key: 'portcullis.hookFailure',
    settings: { portcullis: { hookFailure: 'closed' } },
    options: {
      home: {
        '.claude/settings.json': {
          json: {
            portcullis: { hookFailure: 'open' },
            hooks: { PreToolUse: [{ hooks: [FAILS] }] },
          },
        },
      },
      main: turns(bash('ls')),
    },
    see: isRefused,
    before: false,
    after: true,
  },
  {
    key: 'portcullis.hookTimeouts',
    settings: { portcullis: { hookTimeouts: { PreToolUse: 1000 } } },
    options: {
      home: {
        '.claude/settings.json': {
          json: { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'sleep 1.5' }] }] } },
        },
      },
      main: turns(bash('ls')),
    },
    see: isRefused,
    before: false,
    after: true,
  },
];

/** Their effect is tested elsewhere, or is not to be seen from here. */
const OTHERS = [
  '$schema',
  'model',
  'disableAutoMode',
  'permissions.disableAutoMode',
  'allowedHttpHookUrls',
  'httpHookAllowedEnvVars',
  'portcullis.strict',
];

/** The keys that the schema declares live, dotted. */
function liveKeys(table: SettingTable, prefix = ''): readonly string[] {
  return Object.entries(table).flatMap(([name, node]) => {
    if (node.facts?.live === true) return [`${prefix}${name}`];
    return node.type === 'object' ? liveKeys(node.keys, `${prefix}${name}.`) : [];
  });
}

describe('a setting that the schema declares live takes effect in an open session', () => {
  it.each(ROWS)('$key', async ({ settings, options, prepare, see, before, after }) => {
    const session = await openAgentsSession({ main: [], ...options });
    open = session;
    prepare?.(session);
    expect(await see(session)).toEqual(before);
    const applied = await session.session.requests.applySettings(settings);
    expect(applied.ok ? undefined : applied.error).toBeUndefined();
    expect(await see(session)).toEqual(after);
  });

  it('and no other key is declared live', () => {
    expect([...liveKeys(SETTINGS)].sort()).toEqual(
      [...ROWS.map(({ key }) => key), ...OTHERS].sort(),
    );
  });
});

describe('a setting that is read when the session opens is refused later', () => {
  it.each([
    ['portcullis.checkpoints.maxFiles', { portcullis: { checkpoints: { maxFiles: 100 } } }],
    ['fileCheckpointingEnabled', { fileCheckpointingEnabled: false }],
    ['claudeMdExcludes', { claudeMdExcludes: ['x'] }],
    ['autoMemoryDirectory', { autoMemoryDirectory: '~/x' }],
    ['portcullis.teamMemory', { portcullis: { teamMemory: true } }],
    ['portcullis.teams', { portcullis: { teams: true } }],
    ['portcullis.inbox.unattended', { portcullis: { inbox: { unattended: true } } }],
    ['permissions.additionalDirectories', { permissions: { additionalDirectories: ['/tmp'] } }],
    ['disableBundledSkills', { disableBundledSkills: true }],
    ['sandbox.enabled', { sandbox: { enabled: true } }],
    ['apiKeyHelper', { apiKeyHelper: 'x' }],
  ])('%s', async (key, settings) => {
    open = await openAgentsSession({ main: [] });
    expect(await open.session.requests.applySettings(settings)).toEqual({
      ok: false,
      error: `${key} cannot be changed while the session is open`,
    });
  });
});
