import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

const START = path.resolve(import.meta.dirname, '../../scripts/start.mjs');

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm start` as npm runs it: from the project's root, with the caller's directory in INIT_CWD. */
function start(
  project: TempProject,
  options: { args?: readonly string[]; env?: Record<string, string>; stdin?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [START, ...(options.args ?? [])], {
    cwd: path.dirname(path.dirname(START)),
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      TMPDIR: project.root,
      TERM: 'dumb',
      INIT_CWD: project.directory,
      ...options.env,
    },
    stdio: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdin.end(options.stdin ?? '');
  const deadline = setTimeout(() => child.kill('SIGKILL'), 50_000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(deadline);
      resolve({ code, stdout, stderr });
    });
  });
}

async function inProject(test: (project: TempProject) => Promise<void>): Promise<void> {
  const project = makeTempProject({ files: { 'a.txt': 'alpha\n' } });
  try {
    await test(project);
  } finally {
    project.remove();
  }
}

describe('npm start', () => {
  it('without a model shows a whole session and leaves nothing behind', () =>
    inProject(async (project) => {
      const ended = await start(project);
      expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
      expect(ended.stdout).toContain('scripted model (no key, no network)');
      expect(ended.stdout).toMatch(/✓ Bash node --test[^\n]*\n +pass 1\n +fail 1\n/);
      expect(ended.stdout).toMatch(/✓ Bash node --test[^\n]*\n +pass 2\n +fail 0\n/);
      expect(ended.stdout).toMatch(/refused +Bash/);
      expect(ended.stdout).toContain('ANTHROPIC_API_KEY=…');
      expect(readdirSync(project.root).sort()).toEqual(['home', 'project']);
      expect(readdirSync(project.home)).toEqual([]);
    }));

  it('passes flags on', () =>
    inProject(async (project) => {
      const version = await start(project, { args: ['--version'] });
      expect(version).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/\(Portcullis\)\n$/),
      });
      const unset = await start(project, { args: ['-p', 'hello'] });
      expect(unset).toMatchObject({ code: 3, stdout: '' });
      expect(unset.stderr).toContain('ANTHROPIC_API_KEY');
    }));

  it('with a model opens the conversation, where npm was called', () =>
    inProject(async (project) => {
      const server = await startFakeModelServer({
        script: [{ tool: 'Read', input: { file_path: 'a.txt' } }, 'It says alpha.'],
      });
      try {
        const ended = await start(project, {
          env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'test-key' },
          stdin: 'hello\n',
        });
        expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
        expect(ended.stdout).toContain('It says alpha.');
        expect(ended.stdout).toContain(project.directory);
        server.assertDone();
      } finally {
        await server.close();
      }
    }));

  it('hands on the exit code', () =>
    inProject(async (project) => {
      const server = await startFakeModelServer({
        script: [{ tool: 'Bash', input: { command: 'touch made' } }, 'refused'],
      });
      try {
        const ended = await start(project, {
          args: ['-p', 'do it'],
          env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'test-key' },
        });
        expect(ended.code).toBe(4);
      } finally {
        await server.close();
      }
    }));
});
