import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { describeWith } from '../support/programs.js';
import { PROGRAM } from './program.js';

const open: TempProject[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.remove();
});

function makeProject(files: ProjectFiles = {}): TempProject {
  const project = makeTempProject({ files });
  open.push(project);
  return project;
}

const environment = (project: TempProject) => ({
  PATH: `${path.join(project.root, 'bin')}:${process.env.PATH}`,
  HOME: project.home,
});

function run(
  project: TempProject,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | string | null | undefined; out: string; said: string }> {
  const [node = '', program = ''] = PROGRAM;
  return new Promise((resolve) => {
    const options = { cwd: project.directory, env: { ...environment(project), ...env } };
    const child = execFile(node, [program, ...args], options, (error, out, said) => {
      resolve({ code: error === null ? 0 : error.code, out, said });
    });
    child.stdin?.end();
  });
}

describe('portcullis doctor', () => {
  it('ends with 1 for problems and with 0 for warnings alone', async () => {
    const project = makeProject();
    const bad = await run(project, ['doctor']);
    expect(bad).toMatchObject({ code: 1, said: '' });
    expect(bad.out).toContain('✗ problem  No model is configured');
    const env = { ANTHROPIC_API_KEY: 'sk-ant-secret-of-the-test' };
    const fine = await run(project, ['doctor', '--json'], env);
    expect(fine).toMatchObject({ code: 0, said: '' });
    const { problems, warnings, areas } = JSON.parse(fine.out);
    expect({ problems, warnings }).toEqual({ problems: 0, warnings: 1 });
    expect(areas[0].checks[1]).toMatchObject({
      state: 'ok',
      message: expect.stringMatching(/^Node /),
    });
    expect(fine.out).not.toContain('secret');
  });
});

describe('portcullis init', () => {
  const FILES = { 'package.json': { json: { scripts: { test: 'x' } } } };

  it('shows what it would write, writes it with --yes, and runs the policy tests', async () => {
    const project = makeProject(FILES);
    const dry = await run(project, ['init', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, said: '' });
    expect(dry.out).toContain('Create AGENTS.md\n  + # project');
    expect(project.exists('AGENTS.md')).toBe(false);
    const piped = await run(project, ['init']);
    expect(piped).toMatchObject({
      code: 3,
      said: expect.stringMatching(/there is no terminal to ask on[\s\S]*--yes/),
    });
    expect(project.exists('AGENTS.md')).toBe(false);
    const done = await run(project, ['init', '--yes']);
    expect(done).toMatchObject({ code: 0, said: '' });
    expect(done.out).toMatch(/Written\.\nPolicy tests: \d+ passed, 0 failed/);
    expect(project.read('.claude/settings.json')).toContain('"Bash(npm test)"');
    expect((await run(project, ['policy', 'test'])).code).toBe(0);
    expect((await run(project, ['init'])).out).toContain('There is nothing to write.');
  });

  it('refuses an agent', async () => {
    const project = makeProject(FILES);
    const refused = await run(project, ['init', '--yes'], { CLAUDECODE: '1' });
    expect(refused).toMatchObject({
      code: 1,
      said: expect.stringMatching(/only a person may run portcullis init/),
    });
    expect(project.exists('AGENTS.md')).toBe(false);
  });
});

/** A project with `portcullis` on its PATH, and the script of a shell in a file. */
async function withScript(shell: string): Promise<TempProject> {
  const project = makeProject({ 'notes.txt': '' });
  const program = path.join(project.root, 'bin/portcullis');
  mkdirSync(path.dirname(program));
  writeFileSync(program, `#!/bin/sh\nexec ${PROGRAM.map((one) => `'${one}'`).join(' ')} "$@"\n`);
  chmodSync(program, 0o755);
  const { code, out } = await run(project, ['completion', shell]);
  expect(code).toBe(0);
  writeFileSync(path.join(project.root, 'script'), out);
  return project;
}

describe('portcullis completion bash', () => {
  /** The words that bash would offer for the last one. */
  function complete(project: TempProject, words: readonly string[]): readonly string[] {
    const list = words.map((word) => `'${word}'`).join(' ');
    const code = `source ../script
COMP_WORDS=(portcullis ${list}); COMP_CWORD=${words.length}; _portcullis; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = {
      cwd: project.directory,
      env: environment(project),
      encoding: 'utf8',
    } as const;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', code], options);
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  }

  it('completes commands, subcommands, options and their values', async () => {
    const project = await withScript('bash');
    expect(complete(project, ['do'])).toEqual(['doctor']);
    expect(complete(project, [''])).toEqual(expect.arrayContaining(['init', 'mcp', 'completion']));
    expect(complete(project, ['mcp', 'add'])).toEqual(['add', 'add-json']);
    expect(complete(project, ['completion', ''])).toEqual(['bash', 'zsh', 'fish']);
    expect(complete(project, ['doctor', '--'])).toEqual(
      expect.arrayContaining(['--online', '--json', '--help']),
    );
    expect(complete(project, ['doctor', '--print'])).toEqual([]);
    expect(complete(project, ['--perm'])).toContain('--permission-mode');
    expect(complete(project, ['--permission-mode', 'a'])).toEqual(['acceptEdits']);
    expect(complete(project, ['--permission-mode', '=', 'pl'])).toEqual(['plan']);
    expect(complete(project, ['--permission-mode', '='])).toContain('plan');
    expect(complete(project, ['mcp', 'add', '-s', ''])).toEqual(['local', 'project', 'user']);
    expect(complete(project, ['--model', 'op'])).toContain('opus');
  });

  it('leaves files to the shell', async () => {
    const project = await withScript('bash');
    expect(complete(project, ['--settings', ''])).toEqual([]);
    expect(complete(project, ['fix the bug', ''])).toEqual([]);
    const code = 'source ../script; complete -p portcullis';
    const { stdout } = spawnSync('bash', ['-c', code], {
      cwd: project.directory,
      encoding: 'utf8',
    });
    expect(stdout).toContain('complete -o default -F _portcullis portcullis');
  });

  it('looks up the sessions of the directory', async () => {
    const project = await withScript('bash');
    project.write('model.json', '["hello"]');
    expect((await run(project, ['-p', 'hi', '--script', 'model.json'])).code).toBe(0);
    const [id = '', ...others] = complete(project, ['--resume', '']);
    expect(others).toEqual([]);
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(complete(project, ['why', '--session', id.slice(0, 4)])).toEqual([id]);
  });
});

describeWith(['zsh'], 'portcullis completion zsh', () => {
  /** What an interactive zsh makes of a line when Tab is pressed behind it. */
  const complete = async (line: string): Promise<string> => {
    const project = await withScript('zsh');
    const code = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='' PS2='' RPS1=''; unsetopt prompt_cr prompt_sp zle_bracketed_paste; stty -echo"
zpty -w shell 'autoload -U compinit; compinit -u -D; source ../script; bindkey "^I" complete-word'
zpty -w shell 'show() { print -r -- "<$BUFFER>"; exit }; zle -N show; bindkey "^X" show; print ready""!'
zpty -r shell seen '*ready!*'
zpty -w -n shell $'${line}\\t\\C-x'
zpty -r shell seen '*<portcullis*>*'
print -r -- $seen`;
    const options = { cwd: project.directory, env: environment(project), timeout: 30_000 };
    const { stdout } = spawnSync('zsh', ['-f', '-c', code], { ...options, encoding: 'utf8' });
    return /<(portcullis.*)>/.exec(stdout)?.[1] ?? stdout;
  };

  it.each([
    ['portcullis doc', 'portcullis doctor '],
    ['portcullis mcp add-', 'portcullis mcp add-json '],
    ['portcullis --permission-mode acc', 'portcullis --permission-mode acceptEdits '],
  ])('completes %s', async (line, completed) => {
    expect(await complete(line)).toBe(completed);
  });
});

describeWith(['fish'], 'portcullis completion fish', () => {
  it('completes commands, options and values', async () => {
    const project = await withScript('fish');
    const complete = (line: string): readonly string[] => {
      const code = `source ../script; complete -C '${line}'`;
      const options = {
        cwd: project.directory,
        env: environment(project),
        encoding: 'utf8',
      } as const;
      return spawnSync('fish', ['--no-config', '-c', code], options)
        .stdout.split('\n')
        .flatMap((row) => row.split('\t')[0] || []);
    };
    expect(complete('portcullis do')).toEqual(['doctor']);
    expect(complete('portcullis mcp add')).toEqual(['add', 'add-json']);
    expect(complete('portcullis --permission-mode a')).toEqual(['acceptEdits']);
  });
});

describe('portcullis completion', () => {
  it('puts every word of zsh and fish into quotes that hold', async () => {
    const zsh = await run(makeProject(), ['completion', 'zsh']);
    expect(zsh.out).toContain("'doctor:Check that everything a session here needs works.'");
    expect(zsh.out).toContain('--setting-sources');
    // What zsh takes in single quotes bash takes, too.
    const arrays = zsh.out.split('\n').filter((line) => /^\s*(commands|options)=\(.*\)/.test(line));
    const code = arrays.map((line) => line.replace(/ ;;$/, '')).join('\n');
    expect(spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' }).stderr).toBe('');
    const fish = await run(makeProject(), ['completion', 'fish']);
    for (const line of fish.out.split('\n').filter((one) => one.startsWith('complete '))) {
      expect(
        line
          .replace(/\\./g, '')
          .replace(/"[^"]*"/g, '')
          .split("'").length % 2,
      ).toBe(1);
    }
  });

  it('names the shells where none is given', async () => {
    const none = await run(makeProject(), ['completion']);
    expect(none).toMatchObject({
      code: 2,
      said: expect.stringMatching(/portcullis completion bash\|zsh\|fish/),
    });
  });
});
