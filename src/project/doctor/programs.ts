import { minimalEnvironment } from '../../platform/environment.js';
import { hostFacts, nodeVersion } from '../../platform/host.js';
import { createProcessSupervisor } from '../../platform/process/node-process.js';
import { ripgrepProgram } from '../../tools/search/grep.js';
import { VERSION } from '../../version.js';
import { type AreaCheck, type DoctorCheck, ok, problem, warning } from './report.js';

const TIMEOUT_MS = 10_000;
/** As `engines` of package.json has it. */
const OLDEST_NODE = [20, 19] as const;

interface Program {
  readonly name: string;
  readonly command: string;
  readonly version: readonly string[];
  /** The check where it does not start. */
  readonly missing: DoctorCheck;
}

/** Checks the versions of this program, of Node, and of the programs that sessions start. */
export const checkPrograms: AreaCheck = async ({ places }, { signal }) => {
  const processes = createProcessSupervisor();
  const env = minimalEnvironment(places.env);
  const check = async ({ name, command, version, missing }: Program): Promise<DoctorCheck> => {
    const { exitCode, stdout } = await processes.run({
      command,
      args: version,
      cwd: places.cwd,
      env,
      timeoutMs: TIMEOUT_MS,
      signal,
      label: `doctor: ${name}`,
    });
    if (exitCode !== 0) return missing;
    const [number] = /\d+(?:\.\w+)+/.exec(stdout) ?? /\d\S*/.exec(stdout) ?? [];
    return ok([name, number].filter((word) => word !== undefined).join(' '));
  };
  const ripgrep = await ripgrepProgram(places.fs);
  return [
    ok(`portcullis ${VERSION}`),
    nodeCheck(),
    ...(await Promise.all([...programs(hostFacts().os), search(ripgrep)].map(check))),
  ];
};

function nodeCheck(): DoctorCheck {
  const version = nodeVersion();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest, least] = OLDEST_NODE;
  return major > oldest || (major === oldest && minor >= least)
    ? ok(`Node ${version}`)
    : problem(`Node ${version} is too old.`, `Install Node ${oldest}.${least} or newer.`);
}

function search(command: string): Program {
  const missing = problem(
    'ripgrep does not start, so the Grep tool fails.',
    'Reinstall portcullis with its optional dependencies, or install rg.',
  );
  return { name: 'ripgrep', command, version: ['--version'], missing };
}

function programs(os: string): readonly Program[] {
  const version = ['--version'];
  return [
    {
      name: 'git',
      command: 'git',
      version,
      missing: warning(
        'git was not found: sessions see no branch, and agents cannot have worktrees.',
        'Install git.',
      ),
    },
    {
      name: 'bash',
      command: 'bash',
      version,
      missing: problem(
        'bash was not found, so the Bash tool fails.',
        os === 'win32' ? 'Install Git for Windows.' : 'Install bash.',
      ),
    },
    {
      name: 'tmux',
      command: 'tmux',
      version: ['-V'],
      missing: ok('tmux is not installed. Only teammates in split panes need it.'),
    },
  ];
}
