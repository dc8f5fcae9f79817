import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { runPortcullis } from '../support/run-command.js';

const cwd = process.cwd();
let project: TempProject | undefined;
beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(ANTHROPIC|OPENAI|PORTCULLIS|CLAUDE|SLASH)/.test(name)) vi.stubEnv(name, undefined);
  }
});
afterEach(() => {
  process.chdir(cwd);
  vi.unstubAllEnvs();
  project?.remove();
});

/** With a linked skill and a linked agent that a rule may hide, and such that none does. */
function enter(more: ProjectFiles): void {
  const text = (name: string, word: string) =>
    `---\nname: ${name}\ndescription: ${word}\n---\n${word}\n`;
  project = makeTempProject({
    files: {
      'secrets/s/SKILL.md': text('kept', 'SECRET'),
      'secrets/agent.md': text('hidden', 'SECRET'),
      'open/s/SKILL.md': text('shown', 'OPEN'),
      'open/agent.md': text('seen', 'OPEN'),
      ...more,
    },
  });
  const { at } = project;
  const link = (from: string, to: string): void => {
    mkdirSync(path.dirname(at(from)), { recursive: true });
    symlinkSync(at(to), at(from));
  };
  link('.claude/skills/kept', 'secrets/s');
  link('.claude/skills/shown', 'open/s');
  link('.claude/agents/hidden.md', 'secrets/agent.md');
  link('.claude/agents/seen.md', 'open/agent.md');
  process.chdir(project.directory);
  vi.stubEnv('HOME', project.home);
}

const DENY = JSON.stringify({ permissions: { deny: ['Read(./secrets/**)'] } });
const REASON = 'which a permission rule keeps from being read';

const PLACES: readonly (readonly [string, ProjectFiles])[] = [
  ['settings', { '.claude/settings.json': DENY }],
  [
    'an instruction file',
    { 'CLAUDE.md': '```portcullis\n{ "deny": ["Read(./secrets/**)"] }\n```\n' },
  ],
];

describe.each(PLACES)('a linked file that a rule of %s hides', (_, files) => {
  it('is no skill for skills list and skills show, and they say why', async () => {
    enter(files);
    const { text } = await runPortcullis('skills', 'list');
    expect(text).toContain('shown  (project)');
    expect(text).toContain('OPEN');
    expect(text).not.toContain('SECRET');
    expect(text).toContain(REASON);
    await expect(runPortcullis('skills', 'show', 'kept')).rejects.toThrow(REASON);
    expect((await runPortcullis('skills', 'show', 'shown')).text).toContain('OPEN');
  });

  it('is not looked into by skills validate', async () => {
    enter({ ...files, 'secrets/s/SKILL.md': '---\nname: SECRET\n---\n' });
    const { code, text } = await runPortcullis('skills', 'validate');
    expect(code).toBe(1);
    expect(text).toContain(`.claude/skills/kept/SKILL.md:1: error: it leads to `);
    expect(text).toContain(REASON);
    expect(text).not.toContain('SECRET');
    expect(text).toContain('2 skills, 1 errors');
  });

  it('is no agent for agents list, show and validate, and they say why', async () => {
    enter(files);
    for (const command of ['list', 'validate']) {
      const { text } = await runPortcullis('agents', command);
      expect(text, command).toContain(REASON);
      expect(text, command).not.toContain('SECRET');
    }
    expect((await runPortcullis('agents', 'list')).text).toContain('seen  (project)');
    await expect(runPortcullis('agents', 'show', 'hidden')).rejects.toThrow('hidden');
    expect((await runPortcullis('agents', 'show', 'seen')).text).toContain('OPEN');
  });
});

describe('a linked file where no rule hides it', () => {
  it('is shown', async () => {
    enter({});
    expect((await runPortcullis('skills', 'list')).text).toContain('SECRET');
    expect((await runPortcullis('agents', 'list')).text).toContain('SECRET');
    expect((await runPortcullis('skills', 'validate')).text).toContain('2 skills, 0 errors');
  });
});

describe('a restriction that cannot be read', () => {
  it.each<readonly [string, ProjectFiles, string]>([
    [
      'in settings',
      { '.claude/settings.json': JSON.stringify({ permissions: { deny: ['Read(./secrets/**'] } }) },
      'settings.json',
    ],
    ['in an instruction file', { 'CLAUDE.md': '```portcullis\n{ "deny": [\n```\n' }, 'CLAUDE.md'],
  ])('%s shows no linked file, and is named', async (_, files, file) => {
    enter(files);
    for (const command of ['skills', 'agents']) {
      const { text, warned } = await runPortcullis(command, 'list');
      expect(text).not.toContain('SECRET');
      expect(text).not.toContain('OPEN');
      expect(warned).toContain(file);
    }
  });
});
