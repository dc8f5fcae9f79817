import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from 'vitest';
import { openSession, type SessionConfig, type SessionNews } from '../../src/app.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

/** A file that exists only if an attack worked. */
export const MARK = 'PWNED_MARK';

export interface Call {
  readonly tool: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** Sent in place of `input`: broken JSON. */
  readonly rawInput?: string;
}

export interface Attempt {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  readonly git?: boolean;
  /** The directory that the project is made in, where that must not be one for temporary files. */
  readonly under?: string;
  /** Last touches to the project before the session is opened. */
  readonly prepare?: (project: TempProject) => void;
  /** Of the user, trusted. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: (project: TempProject) => Readonly<Record<string, string>>;
  readonly config?: Partial<SessionConfig>;
  /** What the model asks for, one call after the other; strings are shell commands. */
  readonly calls?: readonly (string | Call)[];
}

export interface Outcome {
  readonly project: TempProject;
  /** Why the session did not start. */
  readonly refusedStart: string | undefined;
  /** What became of each call. */
  readonly results: readonly { readonly text: string; readonly ran: boolean }[];
  readonly news: readonly SessionNews[];
  /** Whether the attack left its mark anywhere. */
  readonly marked: boolean;
}

const projects: TempProject[] = [];
afterAll(() => {
  for (const project of projects.splice(0)) project.remove();
});

/**
 * Opens a real session over a throw-away project, in this process, and lets a scripted model make
 * the calls. Nobody is there to be asked unless the attempt brings somebody.
 */
export async function attempt(given: Attempt): Promise<Outcome> {
  const user: ProjectFiles =
    given.settings === undefined ? {} : { '.claude/settings.json': { json: given.settings } };
  const project = makeTempProject({
    files: given.files ?? {},
    home: { ...user, ...given.home },
    ...(given.git === undefined ? {} : { git: given.git }),
    ...(given.under === undefined ? {} : { under: given.under }),
  });
  projects.push(project);
  given.prepare?.(project);
  const calls = (given.calls ?? []).map((call) =>
    typeof call === 'string' ? { tool: 'Bash', input: { command: call } } : call,
  );
  const script = path.join(project.root, 'script.json');
  writeFileSync(script, JSON.stringify([...calls, 'done']));
  const results: { text: string; ran: boolean }[] = [];
  const news: SessionNews[] = [];
  const config: SessionConfig = {
    cwd: project.directory,
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      ...(given.under === undefined ? { TMPDIR: project.root } : {}),
      LANG: 'C.UTF-8',
      IS_SANDBOX: '1',
      ...given.env?.(project),
    },
    entrypoint: 'test',
    start: { kind: 'new', id: undefined },
    fork: false,
    persist: false,
    trust: false,
    script,
    ...given.config,
    emit(event) {
      if (event.type === 'tool_result') {
        const { block } = event.result;
        const text =
          typeof block.content === 'string' ? block.content : JSON.stringify(block.content);
        results.push({ text, ran: block.is_error !== true });
      } else news.push(event as SessionNews);
    },
  };
  const refusedStart = await play(config);
  return { project, refusedStart, results, news, marked: isMarked(project) };
}

async function play(config: SessionConfig): Promise<string | undefined> {
  try {
    const session = await openSession(config);
    const content = [{ type: 'text' as const, text: 'go' }];
    await session.run([{ uuid: '00000000-0000-4000-8000-000000000000', content }]);
    await session.close();
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function isMarked(project: TempProject): boolean {
  return [project.directory, project.home, project.root].some((directory) =>
    project.exists(path.relative(project.directory, path.join(directory, MARK))),
  );
}
