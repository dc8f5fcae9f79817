import { memoised } from '../../util/memo.js';
import { evaluatedIn } from './evaluated-words.js';
import { builtinCode, gitCode } from './hidden-code.js';
import { programOf, type ShellWord, UNKNOWN_WORD } from './model.js';

const SHELLS = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'fish',
  'rbash',
  'csh',
  'tcsh',
  'yash',
  'osh',
  'nu',
]);

/** Programs that run the program named in their arguments, here and now. */
const WRAPPERS = new Set(
  `bwrap builtin busybox caffeinate chroot chrt command coproc doas env eval exec firejail flock
  ionice linux32 linux64 ltrace nice nocorrect noglob nohup nsenter parallel pkexec prlimit proot
  runuser script setarch setpriv setsid stdbuf strace su sudo systemd-run taskset time timeout toybox
  trap unshare valgrind watch xargs`.split(/\s+/),
);

/** The same in a place of their own, or with arguments of their own: looked through by restrictions alone. */
const LAUNCHERS = new Set(
  `ansible bunx choom chpst cmd daemonize dbus-run-session dumb-init entr expect fakeroot gosu
  hyperfine lima mosh nix-shell npx nsjail perf powershell pwsh run-parts sg ssh start-stop-daemon
  su-exec tini uftrace unbuffer uvx wsl xvfb-run aa-exec capsh catchsegv cgexec chronic cpulimit
  dbus-launch eatmydata faketime logsave numactl proxychains proxychains4 rlwrap runcon schedtool sem
  ssh-agent torify torsocks vglrun xterm`.split(/\s+/),
);

/** Programs of which a subcommand runs what follows it. */
const RUNS_AFTER: Readonly<Record<string, RegExp>> = {
  adb: /^shell$/,
  bun: /^(x|run|exec)$/,
  bundle: /^exec$/,
  cargo: /^(run|r|xtask)$/,
  direnv: /^exec$/,
  docker: /^(run|exec)$/,
  git: /^(run|foreach)$/,
  jobs: /^-\w*x/,
  kubectl: /^(exec|run|debug)$/,
  lxc: /^exec$/,
  mise: /^(exec|x|run)$/,
  nix: /^(run|shell|develop)$/,
  npm: /^(exec|x)$/,
  pdm: /^run$/,
  pipenv: /^run$/,
  pnpm: /^(exec|dlx)$/,
  podman: /^(run|exec)$/,
  poetry: /^run$/,
  screen: /^-/,
  tmux: /^(new|new-session|neww|new-window|split-window|splitw|respawn-pane|run-shell|run|send-keys|send)$/,
  uv: /^(run|tool)$/,
  vagrant: /^ssh$/,
  yarn: /^(exec|dlx|node)$/,
};

/** Options whose value is run as a command, by whichever program has them. */
const RUNS_VALUE =
  /^--(exec|pre|compress-p\w*|to-c\w*|use-comp[\w-]*|rsh|rsh-command|rsync-path|open-files-in-pager|unzip-command|upload-pack|receive-pack|checkpoint-a\w*|(tree|index|msg|env|commit|parent)-filter|run|command|call|pager|html|extcmd)$/;

/** The same for short options, which mean something else to every program. */
const RUNS_SHORT: Readonly<Record<string, RegExp>> = {
  git: /^-x$/,
  man: /^-[PH]$/,
  rsync: /^-[a-zA-Z]*e$/,
  ssh: /^-o$/,
  tar: /^-[a-zA-Z]*[IF]$/,
};

/** Wrappers that add arguments from their input. */
const FEEDERS = new Set(['xargs', 'parallel']);

const FINDERS = new Set(['find', 'fd', 'fdfind']);

const EXEC_ACTIONS = new Set([
  '-exec',
  '-execdir',
  '-ok',
  '-okdir',
  '-x',
  '-X',
  '--exec',
  '--exec-batch',
]);

export interface Disguises {
  readonly views: readonly (readonly ShellWord[])[];
  /** Strings that a shell will read as code. */
  readonly scripts: readonly string[];
  /** Strings that a shell may read as code. */
  readonly suspects: readonly string[];
  /** Why it is not known what would run. */
  readonly opaque?: string;
}

/** What a command runs by way of other programs. */
export function disguisesOf(words: readonly ShellWord[]): Disguises {
  const views = [words, ...innerCommands(words)];
  const scripts: string[] = [];
  const suspects: string[] = [];
  // What another program may run is no certain code of this command line.
  const program = programOf(words) ?? '';
  const isLaunched = !isWrapper(program) && !FINDERS.has(program);
  let opaque: string | undefined;
  views.forEach((view, index) => {
    const code = shellCode(view);
    suspects.push(...suspectCode(view));
    if (index > 0 && isLaunched) suspects.push(...code.scripts);
    else {
      scripts.push(...code.scripts);
      opaque ??= code.opaque;
    }
  });
  opaque ??= hiddenHead(words) ?? evaluatedIn(words);
  return { views, scripts, suspects, ...(opaque === undefined ? {} : { opaque }) };
}

/** Any later word may be the program that is run; options of wrappers are too many to know. */
function innerCommands(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const program = programOf(words) ?? '';
  if (FINDERS.has(program)) {
    return words.flatMap((word, index) =>
      EXEC_ACTIONS.has(word.value) ? [[...words.slice(index + 1), UNKNOWN_WORD]] : [],
    );
  }
  const from = firstRun(words, program);
  if (from === undefined) return optionCommands(words);
  const fed = words.some((word) => FEEDERS.has(word.value.split('/').at(-1) ?? ''));
  return words
    .map((_, index) => words.slice(index))
    .slice(from)
    .filter((view) => !(view[0]?.value ?? '').startsWith('-'))
    .map((view) => (fed ? [...view, UNKNOWN_WORD] : view));
}

/** From which word on a program may name another one that it runs. */
function firstRun(words: readonly ShellWord[], program: string): number | undefined {
  if (isWrapper(program) || LAUNCHERS.has(program)) return 1;
  const trigger = Object.hasOwn(RUNS_AFTER, program) ? RUNS_AFTER[program] : undefined;
  if (trigger === undefined) return undefined;
  const at = words.findIndex((word, index) => index > 0 && trigger.test(word.value));
  return at === -1 ? undefined : at + 1;
}

function isWrapper(program: string): boolean {
  // The dynamic linker runs what it is given.
  return WRAPPERS.has(program) || /^ld(-linux|-musl)?[\w.-]*\.so(\.\d+)*$/.test(program);
}

/** `--exec=x` and `-x x`: the value is a program and its arguments, or a piece of shell code. */
function optionCommands(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const program = programOf(words) ?? '';
  return words.slice(1).flatMap((word, index) => {
    const attached = /^(--[\w-]+)=(?:exec=)?(.+)$/s.exec(word.value);
    if (attached !== null && RUNS_VALUE.test(attached[1] ?? '')) {
      return [[{ ...word, value: attached[2] ?? '' }, UNKNOWN_WORD]];
    }
    const next = words[index + 2];
    return takesCommand(word.value, program) && next !== undefined ? [[next, UNKNOWN_WORD]] : [];
  });
}

function takesCommand(option: string, program: string): boolean {
  const short = Object.hasOwn(RUNS_SHORT, program) ? RUNS_SHORT[program] : undefined;
  return RUNS_VALUE.test(option) || short?.test(option) === true;
}

function shellCode(words: readonly ShellWord[]): { scripts: readonly string[]; opaque?: string } {
  const program = programOf(words) ?? '';
  if (SHELLS.has(program)) return codeOfShell(words);
  if (program === 'eval') return codeOf(words.slice(1), { joined: true });
  if (program === 'trap') {
    const from = words[1]?.value === '--' ? 2 : 1;
    return codeOf(words.slice(from, from + 1), { joined: false });
  }
  if (program === 'source' || program === '.') {
    return { scripts: [], opaque: `${program} runs the content of a file in this shell` };
  }
  if (!isWrapper(program)) return { scripts: [] };
  // `env -S "…"`, `script -c "…"`, `watch "…"`, `flock f -c "…"`: an argument with blanks may be code.
  return { scripts: textsIn(words.slice(1)) };
}

/** Arguments of other programs that may be shell code too: `ssh h "…"`, `git -c alias.x="!…"`, `man -P "…"`. */
function suspectCode(words: readonly ShellWord[]): readonly string[] {
  const program = programOf(words) ?? '';
  const aliases = [...builtinCode(program, words), ...(program === 'git' ? gitCode(words) : [])];
  if (isWrapper(program) || SHELLS.has(program)) return aliases;
  const runs = firstRun(words, program);
  const isGiven = words.some((word) => takesCommand(word.value.replace(/=.*$/s, ''), program));
  if (runs === undefined && !isGiven && program !== 'alias') return aliases;
  return [...aliases, ...textsIn(words.slice(runs ?? 1))];
}

/** Arguments with blanks in them; of `name=value` the value. */
function textsIn(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap((word) => {
    if (!word.literal || !/\s/.test(word.value)) return [];
    const value =
      /^(?:--)?[\w-]+=(?:exec=|sh=)?(.*)$/s.exec(word.value)?.[1] ??
      /^(?:-[a-zA-Z]|\w*Command\s)(.+)$/s.exec(word.value)?.[1];
    return value === undefined ? [word.value] : [word.value, value];
  });
}

function codeOfShell(words: readonly ShellWord[]): { scripts: readonly string[]; opaque?: string } {
  const rest = words.slice(1);
  const flag = rest.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.value));
  if (flag !== -1) {
    const code = rest.slice(flag + 1).find((word) => !/^[-+]/.test(word.value) || !word.literal);
    return codeOf(code === undefined ? [] : [code], { joined: false });
  }
  const file = rest.find((word) => !word.literal || !/^[-+]/.test(word.value));
  if (file !== undefined && /^\/(dev|proc\/(self|\d+))\/(stdin|fd\b)/.test(file.value)) {
    return { scripts: [], opaque: 'a shell reads its commands from its input' };
  }
  if (file !== undefined && !file.literal) {
    return { scripts: [], opaque: 'a shell runs a file that is decided at run time' };
  }
  const asksOnly = rest.length > 0 && rest.every((word) => /^--(version|help)$/.test(word.value));
  const readsInput = rest.every((word) => word.literal && /^[-+]/.test(word.value));
  if (readsInput && !asksOnly) {
    return { scripts: [], opaque: 'a shell reads its commands from its input' };
  }
  return { scripts: [] };
}

function codeOf(
  words: readonly ShellWord[],
  { joined }: { joined: boolean },
): { scripts: readonly string[]; opaque?: string } {
  if (words.some((word) => !word.literal || word.pattern !== undefined)) {
    return { scripts: [], opaque: 'code is put together at run time' };
  }
  const texts = words.map((word) => word.value);
  return { scripts: joined ? [texts.join(' ')] : texts };
}

/** A wrapper whose program is decided at run time. */
function hiddenHead(words: readonly ShellWord[]): string | undefined {
  if (words.length > 0 && programOf(words) === undefined) {
    return 'the name of a command is decided at run time';
  }
  if (!isWrapper(programOf(words) ?? '')) return undefined;
  for (const word of words.slice(1)) {
    if (!word.literal || word.pattern !== undefined) {
      return 'the name of a command is decided at run time';
    }
    const isOptional =
      /^[-+]/.test(word.value) || /=/.test(word.value) || /^[\d.]+\w?$/.test(word.value);
    if (!isOptional && !isWrapper(word.value.split('/').at(-1) ?? '')) return undefined;
  }
  return undefined;
}

const GRANT_WRAPPERS = new Set([
  'timeout',
  'nice',
  'nohup',
  'stdbuf',
  'command',
  'builtin',
  'xargs',
  'time',
]);

export interface Unwrapped {
  readonly words: readonly ShellWord[];
  /** Further arguments come from the input. */
  readonly fed: boolean;
}

/**
 * The command behind wrappers that change nothing about what it does. For grants, so only forms
 * that are fully understood; anything else keeps its wrapper.
 */
export const unwrapForGrant = memoised(unwrap);

function unwrap(words: readonly ShellWord[]): Unwrapped {
  let rest = words;
  let fed = false;
  for (;;) {
    const name = rest[0]?.literal === true ? rest[0].value : '';
    if (!GRANT_WRAPPERS.has(name)) return { words: rest, fed };
    const count = wrapperLength(
      name,
      rest.map((word) => (word.literal && word.pattern === undefined ? word.value : '$')),
    );
    if (count === undefined || count >= rest.length) return { words: rest, fed };
    if (name === 'xargs') fed = true;
    rest = rest.slice(count);
  }
}

/** How many words the wrapper itself takes, or undefined when that is not plain. */
function wrapperLength(name: string, words: readonly string[]): number | undefined {
  let at = 1;
  switch (name) {
    case 'nohup':
    case 'builtin':
    case 'command':
    case 'xargs':
      return words[1]?.startsWith('-') === true ? undefined : 1;
    case 'time':
      return words[1] === '-p' ? 2 : words[1]?.startsWith('-') === true ? undefined : 1;
    case 'nice':
      if (words[1] === '-n' && /^[-+]?\d+$/.test(words[2] ?? '')) return 3;
      if (/^-n?-?\d+$/.test(words[1] ?? '')) return 2;
      return words[1]?.startsWith('-') === true ? undefined : 1;
    case 'stdbuf':
      while (/^-[ioe](0|L|\d+[KMG]?)$/.test(words[at] ?? '')) at++;
      return at > 1 && words[at]?.startsWith('-') !== true ? at : undefined;
    case 'timeout':
      for (; words[at]?.startsWith('-') === true; at++) {
        const option = words[at] ?? '';
        if (/^(-[ks]|--signal|--kill-after)$/.test(option)) at++;
        else if (
          !/^(-[ks]\w+|--(signal|kill-after)=[\w.]+|--(foreground|preserve-status|verbose)|-v)$/.test(
            option,
          )
        ) {
          return undefined;
        }
      }
      return /^[\d.]+[smhd]?$/.test(words[at] ?? '') ? at + 1 : undefined;
    default:
      return undefined;
  }
}

/** The string a shell gets when words are put back together; words with blanks stay recognisable. */
export const canonicalText = memoised((words: readonly ShellWord[]): string =>
  words.map((word) => quoteIfNeeded(word.value)).join(' '),
);

function quoteIfNeeded(value: string): string {
  return value === '' || /[\s'"\\]/.test(value) ? `'${value.replaceAll("'", "'\\''")}'` : value;
}
