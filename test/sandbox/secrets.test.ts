import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { StderrLog } from '../../src/mcp/transport/stderr-log.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import type { TempProject } from '../../src/testing/temp-project.js';
import { attempt } from '../security/attempt.js';

/** What a person may have in his environment, each with a mark of its own. */
const KEYS = {
  ANTHROPIC_API_KEY: 'sk-ant-api03-AAAA1111bbbb2222cccc3333',
  OPENAI_API_KEY: 'MARK-openai-00000001',
  GITHUB_TOKEN: 'MARK-github-00000002',
  AWS_SECRET_ACCESS_KEY: 'MARK-aws-000000003',
  DATABASE_URL: 'postgres://me:MARK-db-0000000004@db.example/app',
  CI_JOB_JWT: 'MARK-jwt-000000005',
  SLACK_WEBHOOK_URL: 'https://hooks.example/MARK-hook-0000006',
};
const MARKED = /MARK-|sk-ant-/;

const env = () => KEYS;
const settings = { permissions: { allow: ['Bash', 'Skill', 'Grep'] } };

/** The environment that a child wrote down. */
const dumped = (project: TempProject, name: string): string => project.read(name);

describe('keys of ours never reach', () => {
  it('shells and what they start', async () => {
    const outcome = await attempt({
      settings,
      env,
      calls: ['env > shell.txt; sh -c env >> shell.txt'],
    });
    expect(dumped(outcome.project, 'shell.txt')).toContain('PATH=');
    expect(dumped(outcome.project, 'shell.txt')).not.toMatch(MARKED);
  });

  it('hooks, neither one-shot nor persistent ones', async () => {
    const persistent =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: code of a shell
      'env > persistent.txt; while read line; do id=${line#*:}; echo "{\\"id\\":${id%%,*},\\"output\\":null}"; done';
    const outcome = await attempt({
      settings: {
        ...settings,
        hooks: {
          PreToolUse: [
            {
              hooks: [
                { type: 'command', command: 'env > hook.txt' },
                { type: 'command', command: persistent, persistent: true },
              ],
            },
          ],
        },
      },
      env,
      calls: ['true'],
    });
    for (const name of ['hook.txt', 'persistent.txt']) {
      expect(dumped(outcome.project, name)).toContain('PATH=');
      expect(dumped(outcome.project, name)).not.toMatch(MARKED);
    }
  });

  it('the shell of skills', async () => {
    const outcome = await attempt({
      home: {
        '.claude/skills/look/SKILL.md':
          '---\nname: look\ndescription: looks\n---\n!`env > skill.txt; echo done`\n',
      },
      settings,
      env,
      calls: [{ tool: 'Skill', input: { skill: 'look' } }],
    });
    expect(dumped(outcome.project, 'skill.txt')).toContain('PATH=');
    expect(dumped(outcome.project, 'skill.txt')).not.toMatch(MARKED);
  });

  it('servers', async () => {
    const outcome = await attempt({
      settings: { ...settings, env: { MCP_TIMEOUT: '3000' } },
      env,
      config: {
        mcpConfig: [
          JSON.stringify({
            mcpServers: { dump: { command: 'sh', args: ['-c', 'env > server.txt; cat'] } },
          }),
        ],
      },
      calls: ['true'],
    });
    expect(dumped(outcome.project, 'server.txt')).toContain('PATH=');
    expect(dumped(outcome.project, 'server.txt')).not.toMatch(MARKED);
  });

  it('helpers that we start ourselves: searching and git', async () => {
    const spy = '#!/bin/sh\nenv >> "$(dirname "$0")/../project/helpers.txt"\nexit 1\n';
    const outcome = await attempt({
      settings,
      prepare(project) {
        for (const name of ['rg', 'git']) {
          project.write(`../bin/${name}`, spy);
        }
      },
      env: (project) => ({
        ...KEYS,
        PATH: `${path.join(project.root, 'bin')}:${process.env.PATH}`,
      }),
      calls: ['true', { tool: 'Grep', input: { pattern: 'x' } }],
    });
    if (outcome.project.exists('helpers.txt')) {
      expect(dumped(outcome.project, 'helpers.txt')).not.toMatch(MARKED);
    }
  });

  it('anybody who was not granted them by name', async () => {
    const outcome = await attempt({
      settings: {
        ...settings,
        portcullis: { passEnv: ['GITHUB_TOKEN'] },
        hooks: {
          PreToolUse: [
            {
              hooks: [
                {
                  type: 'command',
                  command: 'env > hook.txt',
                  allowedEnvVars: ['DATABASE_URL'],
                },
              ],
            },
          ],
        },
      },
      env,
      calls: ['env > shell.txt'],
    });
    const marks = (name: string) => dumped(outcome.project, name).match(/^\w+(?==.*MARK-)/gm);
    expect(marks('shell.txt')).toEqual(['GITHUB_TOKEN']);
    expect(marks('hook.txt')).toEqual(['DATABASE_URL']);
  });

  it('a project that grants them to itself', async () => {
    const outcome = await attempt({
      files: {
        '.claude/settings.json': {
          json: { portcullis: { passEnv: ['GITHUB_TOKEN'] }, env: { EXTRA: 'x' } },
        },
      },
      config: { trust: true },
      settings,
      env,
      calls: ['env > shell.txt'],
    });
    expect(dumped(outcome.project, 'shell.txt')).not.toMatch(MARKED);
  });

  it('shells by the env block of settings either', async () => {
    const outcome = await attempt({
      settings: { ...settings, env: { MY_TOKEN: 'MARK-block-0000007', PLAIN: 'plain' } },
      calls: ['env > shell.txt'],
    });
    expect(dumped(outcome.project, 'shell.txt')).toContain('PLAIN=plain');
    expect(dumped(outcome.project, 'shell.txt')).not.toMatch(MARKED);
  });
});

/** All that was written below a directory. */
function written(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(directory, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

describe('what is written down', () => {
  const shapes = [
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'AKIAIOSFODNN7EXAMPLE',
    'xoxb-123456789012-abcdefghijkl',
    'sk-ant-api03-zzzz1111yyyy2222xxxx3333',
  ];

  it('holds no secrets: transcript, journal, and the values of our own keys', async () => {
    const seen: string[] = [];
    const outcome = await attempt({
      settings,
      env,
      config: { persist: true },
      prepare: (project) =>
        project.write(
          'leak.txt',
          [...shapes, KEYS.AWS_SECRET_ACCESS_KEY, 'MARK-db-0000000004'].join('\n'),
        ),
      calls: ['cat leak.txt', `echo ${shapes[0]} | wc -c`, 'git rev-parse HEAD 2>/dev/null; true'],
    });
    seen.push(...outcome.results.map(({ text }) => text));
    // The model sees what the command printed.
    expect(seen[0]).toContain(shapes[0]);
    const kept = [
      written(path.join(outcome.project.home, '.claude', 'projects')),
      written(path.join(outcome.project.home, '.portcullis')),
    ];
    for (const text of kept) {
      expect(text).toContain('[redacted]');
      for (const secret of [...shapes, 'MARK-aws', 'MARK-db']) expect(text).not.toContain(secret);
    }
  });

  it('is gone on with by the same words each time', async () => {
    const outcome = await attempt({
      settings,
      config: { persist: true },
      prepare: (project) => project.write('leak.txt', `${shapes[0]}\n`),
      calls: ['cat leak.txt'],
    });
    const text = written(path.join(outcome.project.home, '.claude', 'projects'));
    const lines = text.split('\n').filter((line) => line !== '');
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThan(0);
  });

  it('of a server’s errors has none either, over several lines', async () => {
    const { project } = await attempt({ calls: [] });
    const file = path.join(project.root, 'server.log');
    const log = new StderrLog(file);
    const processes = createProcessSupervisor();
    const child = processes.open({
      command: 'sh',
      args: [
        '-c',
        `printf '%s\\n' '-----BEGIN PRIVATE KEY-----' MARKBODY '-----END PRIVATE KEY-----' 'Authorization: Bearer ${shapes[0]}' fine >&2`,
      ],
      cwd: project.directory,
      env: { PATH: process.env.PATH ?? '' },
      label: 'x',
      onStderr: (chunk) => log.push(chunk),
    });
    await child.exited;
    log.close();
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('fine');
    expect(text).not.toMatch(/MARKBODY|ghp_/);
  });
});
