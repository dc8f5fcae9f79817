import { err, ok, type Result } from '../../lib/result.js';
import { minimalEnvironment } from '../../platform/environment.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { type ConfigFileSystem, repositoryTrap } from './config.js';

export interface GitDeps {
  readonly fs: ConfigFileSystem;
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person trusts the folder. Asked only where the repository names programs. */
  isTrusted(): Promise<boolean>;
}

interface GitCall {
  readonly cwd: string;
  readonly input?: string;
  /** Exit codes besides 0 that are answers. */
  readonly answers?: readonly number[];
  readonly timeoutMs?: number;
}

/** Runs git and gives what it printed, or what went wrong in one line. */
export type Git = (args: readonly string[], call: GitCall) => Promise<Result<string, string>>;

/** Checking a large repository out takes a while. */
const LONGEST_MS = 120_000;
const LONGEST_OUTPUT = 16 * 1024 * 1024;

/** Switches off what the repository's configuration could have git start, and what git starts by itself. */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=',
  'core.sshCommand=false',
  'credential.helper=',
  'diff.external=false',
  'gc.auto=0',
  'gpg.program=false',
  'log.showSignature=false',
  'maintenance.auto=false',
  'protocol.allow=never',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

const VARIABLES: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  // Holds against `protocol.<name>.allow` of the repository, which `protocol.allow` does not.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_ASKPASS: 'false',
  GIT_EDITOR: 'false',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_SEQUENCE_EDITOR: 'false',
  GIT_SSH_COMMAND: 'false',
  GIT_TERMINAL_PROMPT: '0',
};

/**
 * The one way in which the program itself runs git. Nothing that the repository names is started: where
 * its configuration names programs git is not run at all in a folder that is not trusted, and runs
 * without these programs in one that is. What the user's own configuration names stays in force.
 */
export function createGit({ fs, processes, env, isTrusted }: GitDeps): Git {
  const clean = Object.fromEntries(
    Object.entries(minimalEnvironment(env)).filter(([name]) => !name.startsWith('GIT_')),
  );
  const run: Git = async (args, { cwd, input, answers = [], timeoutMs = LONGEST_MS }) => {
    const command = args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-c') ?? '';
    const { exitCode, stdout, stderr, startError, timedOut, stdoutTruncated } = await processes.run(
      {
        command: 'git',
        args: ['--no-pager', ...SETTINGS, ...args],
        cwd,
        env: { ...clean, ...VARIABLES },
        timeoutMs,
        maxOutputBytes: LONGEST_OUTPUT,
        label: `git ${command}`,
        input,
      },
    );
    if (startError !== undefined) return err(`git could not be started: ${startError}`);
    if (timedOut) return err(`git ${command} took longer than ${timeoutMs / 1000} s`);
    // fail-closed: half a list of files is none.
    if (stdoutTruncated === true) return err(`git ${command} had too much to say`);
    if (exitCode === 0 || (exitCode !== null && answers.includes(exitCode))) return ok(stdout);
    const said = stderr.trim().split('\n').filter(Boolean).join('; ');
    return err(said === '' ? `git ${command} ended with ${exitCode ?? 'a signal'}` : said);
  };
  return async (args, call) => {
    const trap = await repositoryTrap(fs, call.cwd);
    if (trap === undefined) return await run(args, call);
    // fail-closed: the author of an archive may have written its git configuration.
    if (!(await isTrusted())) {
      return err(
        `git could start programs of a folder that is not trusted: ${trap}. Remove the setting, move it to your own ~/.gitconfig, or start with --trust if the folder is yours`,
      );
    }
    const off = await switchedOff(run, call.cwd);
    return off.ok ? await run([...off.value, ...args], call) : off;
  };
}

/** The options that take the filters of a repository's own configuration out of force. */
async function switchedOff(run: Git, cwd: string): Promise<Result<readonly string[], string>> {
  const listed = await run(['config', '--list', '--show-scope', '--name-only', '-z'], { cwd });
  if (!listed.ok) return listed;
  const fields = zeroSeparated(listed.value);
  const filters = new Set<string>();
  for (let at = 0; at < fields.length; at += 2) {
    const key = fields[at + 1] ?? '';
    if (fields[at] !== 'local' && fields[at] !== 'worktree') continue;
    // fail-closed: what a branch of the new tree would include is not known before it is there.
    if (/^includeif\./.test(key)) {
      return err(
        `the configuration of the repository includes files by condition (${key}), so its filters cannot be switched off. Move the include to your own ~/.gitconfig`,
      );
    }
    const filter = /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1];
    if (filter !== undefined) filters.add(filter);
  }
  const options: string[] = [];
  for (const name of filters) {
    // fail-closed: `-c` ends a key at the first equals sign, so such a filter would stay in force.
    if (/[=\n]/.test(name)) return err(`the filter ${JSON.stringify(name)} cannot be switched off`);
    for (const setting of ['clean=', 'smudge=', 'process=', 'required=false']) {
      options.push('-c', `filter.${name}.${setting}`);
    }
  }
  return ok(options);
}

/** The parts of an answer in which each ends with a zero. */
export function zeroSeparated(text: string): readonly string[] {
  return text.split('\0').filter((part) => part !== '');
}
