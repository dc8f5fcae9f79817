import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { shellProgram } from '../../src/tools/bash/shells.js';
import { STUB_NAMES } from './stub-names.js';

/** A program that a script started, as its stand-in saw it. */
export interface StartedProgram {
  /** As typed: a bare name, or a path. */
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The watched file that its standard input is, if any. */
  readonly input: string | undefined;
}

export interface JailedRun {
  readonly started: readonly StartedProgram[];
  /** It went on until its time, or what it may write, was used up. */
  readonly hung: boolean;
  /** Undefined where it was ended. */
  readonly exitCode: number | undefined;
  /** What the script itself and its stand-ins wrote, messages of the shell included. */
  readonly output: string;
}

export interface Jail {
  /** Runs a script in bash, and ends it when it takes too long. */
  run(script: string): Promise<JailedRun>;
  close(): void;
}

export interface JailOptions {
  /** The only directory that can be written to; files of the jail itself go beside it. */
  readonly scratch: string;
  readonly project: string;
  readonly home: string;
  /** Files outside this list are not noticed when a program gets them as its standard input. */
  readonly watched: readonly string[];
  /** A directory for the files of the jail. */
  readonly place: string;
}

/** Longer than any script takes on a busy machine; one that hangs costs this much. */
const LONGEST_RUN_MS = 5000;
/** SIGXCPU and SIGXFSZ end a script without end, in the middle of what it writes. */
const LIMITS_REACHED = new Set([128 + 24, 128 + 25]);
const PATH_IN_JAIL = '/jail/path';
/** They do nothing but start others, or remove files, so they are real behind their stand-ins. */
const REAL_LAUNCHERS = ['env', 'find', 'nice', 'nohup', 'setsid', 'timeout', 'xargs'];
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64'];

/** Why scripts cannot be run here; undefined when they can. */
export function jailUnavailable(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  const tried = spawnSync(
    'bwrap',
    ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
    { stdio: 'ignore' },
  );
  if (tried.status !== 0) return 'needs bwrap';
  const missing = ['bash', ...REAL_LAUNCHERS].find((name) => !existsSync(`/usr/bin/${name}`));
  return missing === undefined ? undefined : `needs /usr/bin/${missing}`;
}

/** One process without network that runs scripts one after the other; every program is a stand-in that writes a log. */
export function openJail(options: JailOptions): Jail {
  const { place } = options;
  const bin = path.join(place, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(path.join(bin, 'stub'), stub(options), { mode: 0o755 });
  for (const name of STUB_NAMES) symlinkSync('/jail/bin/stub', path.join(bin, name));
  writeFileSync(path.join(place, 'driver'), driver(options.project));
  let jails = 0;
  let log = '';
  let out = '';
  let child: ChildProcess | undefined;
  return {
    async run(script) {
      if (child === undefined) {
        // What a killed jail still writes is not taken for what the next script did.
        log = path.join(place, `log-${++jails}`);
        out = path.join(place, `out-${jails}`);
        writeFileSync(log, '');
        writeFileSync(out, '');
        child = start(options, { log, out });
      }
      truncateSync(log);
      truncateSync(out);
      const exitCode = await runIn(child, script);
      const isEnded = exitCode === undefined;
      const started = readLog(readFileSync(log, 'utf8'));
      const output = readFileSync(out, 'utf8');
      if (isEnded) {
        child.kill('SIGKILL');
        child = undefined;
      }
      return { started, hung: isEnded || LIMITS_REACHED.has(exitCode), exitCode, output };
    },
    close() {
      child?.kill('SIGKILL');
      child = undefined;
    },
  };
}

function start(
  { place, scratch, project, home }: JailOptions,
  { log, out }: { readonly log: string; readonly out: string },
): ChildProcess {
  const bin = path.join(place, 'bin');
  const programs = ['/jail/bin', PATH_IN_JAIL, '/usr/bin', '/usr/local/bin', '/bin', '/sbin'];
  return spawn(
    'bwrap',
    [
      ...['--unshare-all', '--die-with-parent', '--new-session', '--clearenv'],
      ...LIBRARIES.flatMap((directory) => ['--ro-bind-try', directory, directory]),
      ...['--ro-bind', '/usr/bin/bash', '/jail/bash'],
      ...programs.flatMap((directory) => ['--ro-bind', bin, directory]),
      ...REAL_LAUNCHERS.flatMap((name) => ['--ro-bind', `/usr/bin/${name}`, `/jail/real/${name}`]),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...['--bind', scratch, scratch, '--bind', log, '/jail/log', '--bind', out, '/jail/out'],
      ...['--ro-bind', path.join(place, 'driver'), '/jail/driver'],
      ...['--setenv', 'PATH', PATH_IN_JAIL, '--setenv', 'HOME', home, '--setenv', 'FUNCNEST', '40'],
      ...['--setenv', 'LANG', 'C.UTF-8', '--chdir', project, '/jail/bash', '/jail/driver'],
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
}

/** The exit code of the script; undefined when it did not end by itself. */
function runIn(child: ChildProcess, script: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    let said = '';
    const settle = (exitCode?: number) => {
      clearTimeout(timer);
      child.stdout?.removeAllListeners('data');
      child.removeAllListeners('exit');
      child.stdin?.removeAllListeners('error');
      resolve(exitCode);
    };
    const timer = setTimeout(settle, LONGEST_RUN_MS);
    child.stdout?.on('data', (chunk) => {
      said += String(chunk);
      if (said.endsWith('.')) settle(Number.parseInt(said, 10));
    });
    child.once('exit', () => settle());
    child.stdin?.on('error', () => settle());
    child.stdin?.write(`${script}\0`);
  });
}

function readLog(log: string): readonly StartedProgram[] {
  // Every field ends in a NUL. A script without end fills the log up to its limit, which cuts the last record.
  const fields = log.split('\0').slice(0, -1);
  const started: StartedProgram[] = [];
  for (let at = 0; at + 4 <= fields.length; ) {
    const [input = '', cwd = '', count = '', name = ''] = fields.slice(at, at + 4);
    if (at + 4 + Number(count) > fields.length) break;
    const args = fields.slice(at + 4, at + 4 + Number(count));
    const typed = name.startsWith(`${PATH_IN_JAIL}/`) ? path.basename(name) : name;
    started.push({ name: typed, args, cwd, input: input === '' ? undefined : input });
    at += 4 + Number(count);
  }
  return started;
}

/** With -p bash takes neither start-up files nor functions nor options from the environment of the script. */
function stub({ watched }: JailOptions): string {
  return `#!/jail/bash -p
[[ $- == *p* ]] || exit 0
input=
for file in ${watched.map(quote).join(' ')}; do [[ /dev/stdin -ef $file ]] && input=$file; done
printf '%s\\0' "$input" "$PWD" "$#" "$0" "$@" >>/jail/log
case \${0##*/} in
  bash | sh) exec -a "$0" /jail/bash "$@" ;;
  ${REAL_LAUNCHERS.join(' | ')}) exec /jail/real/\${0##*/} "$@" ;;
  cat) if (($# == 0)); then IFS= read -r -d '' text; printf %s "$text"; fi ;;
esac
exit 0
`;
}

/**
 * Runs what comes in on standard input, each text ended by a NUL, as the Bash tool would. The substitution ends
 * when the last process of a script has closed descriptor 200, so what a script leaves behind is in the log too.
 */
function driver(project: string): string {
  const { args } = shellProgram('bash', '', { reportCwd: true });
  return `exec 201<&0 202>&1
command_not_found_handle() {
  printf '%s\\0' '' "$PWD" "$(($# - 1))" "$@" >>/jail/log
  return 127
}
export -f command_not_found_handle
ulimit -c 0 -f 64 -t 2 -v 2000000
while IFS= read -r -u 201 -d '' script; do
  ended=$(
    exec 200>&1 201<&- 202>&- >>/jail/out 2>&1 3>&1 </dev/null
    cd ${quote(project)} && /jail/bash ${args.slice(0, -1).map(quote).join(' ')} "$script"
  )
  printf '%s.' $? >&202
done
`;
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
