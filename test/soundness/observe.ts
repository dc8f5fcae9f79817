import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { quote } from '../differential/jail.js';

/** Something that a program was seen to do. */
export type Observation =
  /** `list`: a directory was opened. */
  | {
      readonly kind: 'path';
      readonly access: 'read' | 'write' | 'delete' | 'list';
      readonly path: string;
    }
  | { readonly kind: 'run'; readonly path: string }
  | { readonly kind: 'network'; readonly to: string };

export interface Observer {
  /** Runs a program with its arguments; undefined when it took too long. */
  run(argv: readonly string[]): Promise<readonly Observation[] | undefined>;
  close(): void;
}

const CALLS = [
  ...['execve', 'execveat', 'open', 'openat', 'openat2', 'creat', 'unlink', 'unlinkat', 'rmdir'],
  ...[
    'rename',
    'renameat',
    'renameat2',
    'link',
    'linkat',
    'symlink',
    'symlinkat',
    'mkdir',
    'mkdirat',
  ],
  ...['mknod', 'mknodat', 'truncate', 'chmod', 'fchmod', 'fchmodat', 'chown', 'lchown', 'fchownat'],
  ...[
    'utimensat',
    'utime',
    'utimes',
    'setxattr',
    'lsetxattr',
    'removexattr',
    'connect',
    'bind',
    'chdir',
    'fchdir',
  ],
];
const LONGEST_RUN_SECONDS = 3;

/** Why programs cannot be observed here; undefined when they can. */
export function observerUnavailable(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  for (const name of ['strace', 'bwrap', 'bash', 'timeout']) {
    if (!existsSync(`/usr/bin/${name}`)) return `needs /usr/bin/${name}`;
  }
  const tried = spawnSync('bwrap', [...MOUNTS, 'strace', '-f', '-o', '/dev/null', 'true'], {
    stdio: 'ignore',
  });
  return tried.status === 0 ? undefined : 'needs strace inside of bwrap';
}

const MOUNTS = [
  '--unshare-all',
  '--die-with-parent',
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
];

/** One sandbox without network in which nothing but the scratch tree can be written; every call is traced. */
export function openObserver(
  scratch: string,
  { project, home, place }: { project: string; home: string; place: string },
): Observer {
  const logs = path.join(place, 'logs');
  mkdirSync(logs);
  writeFileSync(path.join(place, 'driver'), driver(project, logs));
  let child: ChildProcess | undefined;
  return {
    async run(argv) {
      child ??= start(scratch, { home, place, logs });
      await runIn(child, argv);
      const byNumber = (one: string, other: string) =>
        Number(one.slice(4)) - Number(other.slice(4));
      const names = readdirSync(logs).toSorted(byNumber);
      const texts = names.map((name) => readFileSync(path.join(logs, name), 'utf8'));
      for (const name of names) rmSync(path.join(logs, name));
      if (texts.some((text) => text.includes('+++ killed by SIGTERM'))) return undefined;
      return texts.flatMap((text, at) => observationsIn(text, { cwd: project, isFirst: at === 0 }));
    },
    close() {
      child?.kill('SIGKILL');
    },
  };
}

function start(
  scratch: string,
  { home, place, logs }: { home: string; place: string; logs: string },
): ChildProcess {
  return spawn(
    'bwrap',
    [
      ...[...MOUNTS, '--new-session', '--clearenv', '--tmpfs', '/tmp', '--bind', scratch, scratch],
      ...['--ro-bind', place, place, '--bind', logs, logs],
      ...[
        '--setenv',
        'PATH',
        '/usr/bin:/bin',
        '--setenv',
        'HOME',
        home,
        '--setenv',
        'LC_ALL',
        'C.UTF-8',
      ],
      ...['bash', path.join(place, 'driver')],
    ],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
}

function driver(project: string, logs: string): string {
  const trace = `strace -ff -qq -y -s 4096 -e signal=none -e trace=${CALLS.map((name) => `?${name}`).join(',')} -o ${quote(`${logs}/log`)}`;
  return `exec 201<&0 202>&1
while IFS= read -r -u 201 -d '' words; do
  # Each time: the directory is made anew after a command that changed it.
  cd ${quote(project)} || exit 1
  eval "timeout -k 1 ${LONGEST_RUN_SECONDS} ${trace} $words" </dev/null >/dev/null 2>&1 201<&- 202>&-
  printf . >&202
done
`;
}

function runIn(child: ChildProcess, argv: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', () => {
      child.removeAllListeners('exit');
      resolve();
    });
    child.once('exit', () => reject(new Error('the sandbox ended')));
    child.stdin?.write(`${argv.map(quote).join(' ')}\0`);
  });
}

const CALL = /^(\w+)\((.*)\)\s+= (-?\d+|\?)(?:<([^>]*)>)?(?: (E[A-Z]+))?/;
/** The sandbox refused it, or the user may not: it was tried all the same. */
const TRIED = new Set(['EROFS', 'EACCES', 'EPERM', 'EXDEV']);

function observationsIn(
  text: string,
  about: { readonly cwd: string; readonly isFirst: boolean },
): Observation[] {
  const found: Observation[] = [];
  let cwd = about.cwd;
  let isFirst = about.isFirst;
  for (const line of text.split('\n')) {
    const [, name = '', args = '', result = '', opened, error] = CALL.exec(line) ?? [];
    if (name === '' || (Number(result) < 0 && !TRIED.has(error ?? ''))) continue;
    cwd = /AT_FDCWD<([^>]*)>/.exec(args)?.[1] ?? cwd;
    if (name === 'chdir' || name === 'fchdir') {
      cwd = pathsIn(args, cwd)[0] ?? cwd;
      continue;
    }
    if (name.startsWith('exec')) {
      // The first one is the program itself.
      if (!isFirst && error === undefined)
        found.push({ kind: 'run', path: pathsIn(args, cwd)[0] ?? '' });
      isFirst = false;
      continue;
    }
    found.push(...observationsOf({ name, args, opened, cwd }));
  }
  return found;
}

interface Call {
  readonly name: string;
  readonly args: string;
  /** Where the descriptor leads that it returned. */
  readonly opened: string | undefined;
  readonly cwd: string;
}

function observationsOf({ name, args, opened, cwd }: Call): readonly Observation[] {
  const paths = pathsIn(args, cwd).map(real);
  const [first = '', second = ''] = paths;
  const at = (access: 'read' | 'write' | 'delete' | 'list', where: string): Observation => ({
    kind: 'path',
    access,
    path: where,
  });
  switch (name.replace(/at2?$/, '')) {
    case 'open':
    case 'creat': {
      const where = opened ?? first;
      if (/O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)/.test(args) || name === 'creat')
        return [at('write', where)];
      if (/O_PATH/.test(args)) return [];
      return [at(/O_DIRECTORY/.test(args) || isDirectory(where) ? 'list' : 'read', where)];
    }
    case 'unlink':
    case 'rmdir':
      return [at('delete', first)];
    case 'rename':
      return [at('delete', first), at('write', second)];
    case 'link':
      return [at('read', first), at('write', second)];
    case 'symlink':
      return [at('write', paths.at(-1) ?? '')];
    case 'connect':
    case 'bind':
      return /AF_(INET|INET6|PACKET|VSOCK)/.test(args) ? [{ kind: 'network', to: args }] : [];
    default:
      return [at('write', first)];
  }
}

/** The paths that a call names, from where its descriptors lead. */
function pathsIn(args: string, cwd: string): string[] {
  const found: string[] = [];
  let base = cwd;
  for (const match of args.matchAll(/(?:AT_FDCWD|\d+)<([^>]*)>|"((?:[^"\\]|\\.)*)"/g)) {
    const [whole, directory, text] = match;
    if (directory === undefined) {
      found.push(path.resolve(base, text ?? ''));
      continue;
    }
    base = directory;
    const isAlone = /^\d/.test(whole) && !args.startsWith(', "', match.index + whole.length);
    if (isAlone) found.push(directory);
  }
  return found;
}

/** With links in its directory resolved, not a link that it is itself. */
function real(where: string): string {
  try {
    return path.join(realpathSync(path.dirname(where)), path.basename(where));
  } catch {
    return where;
  }
}

function isDirectory(where: string): boolean {
  return statSync(where, { throwIfNoEntry: false })?.isDirectory() === true;
}
