import { type Effect, reads, unknown } from '../effects/effect.js';
import { hazards } from '../effects/facts.js';
import { optionTable, parseOptions } from '../effects/options.js';
import { custom, type Program, program, rows, unmodelled } from '../effects/program.js';
import { literalWord, type ShellWord } from '../model.js';

/** Options that give an interpreter its code, or a file of it. */
export const CODE = /^--?[cemrpEf]/;

const WRAPS = { wraps: {} } as const;

/** Programs that run the program that their operands name. */
export const WRAPPER_PROGRAMS: Readonly<Record<string, Program>> = {
  nohup: program('', 'run', { facts: WRAPS }),
  builtin: program('', 'run', { facts: { ...WRAPS, steers: 'whole' } }),
  time: program('-p', 'run', { facts: { wraps: { flags: 'pv' } } }),
  nice: program('-n: -# adjustment:', 'run', { facts: WRAPS }),
  stdbuf: program('-ioe: input: output: error:', 'run', { facts: WRAPS }),
  timeout: program('-v -ks: kill-after: signal: foreground preserve-status verbose', 'skip-run', {
    facts: { wraps: { flags: 'v' } },
    also: ({ operands: [duration] }) =>
      duration?.literal === true && /^[\d.]+[smhd]?$/.test(duration.value)
        ? []
        : [unknown('operand', duration)],
  }),
  command: custom(effectsOfCommand, { facts: { wraps: { flags: 'pVv' } } }),
  env: custom(effectsOfEnv, { facts: { wraps: { flags: '0iv' } } }),
  xargs: custom(effectsOfXargs, { facts: { wraps: { flags: '0oprtx', feeds: true } } }),
};

/** Others, whose options are not modelled. */
export const RUNNERS: Readonly<Record<string, Program>> = {
  ...rows(
    `bwrap busybox caffeinate chrt firejail linux32 linux64 ltrace nocorrect noglob nsenter pkexec prlimit proot
    run0 runuser setarch setpriv strace systemd-run toybox unshare valgrind`,
    unmodelled(WRAPS),
  ),
  ...rows('eval trap', unmodelled({ ...WRAPS, steers: true })),
  ...rows('coproc ionice watch', unmodelled({ ...WRAPS, steers: 'whole' })),
  ...rows('chroot su taskset', unmodelled({ wraps: { operand: true } })),
  flock: unmodelled({ wraps: { operand: true }, steers: 'whole' }),
  exec: unmodelled({ wraps: { flags: 'cl' }, steers: 'whole' }),
  setsid: unmodelled({ wraps: { flags: 'cfw' }, steers: 'whole' }),
  doas: unmodelled({ wraps: { flags: 'Lns' } }),
  sudo: unmodelled({ wraps: { flags: 'AbEeHiKklnPSsVv' } }),
  parallel: unmodelled({ wraps: { feeds: true }, runsInput: { bare: true, unless: CODE } }),
  // The dynamic linker.
  'ld.so': unmodelled({ ...WRAPS, aliases: /^ld(-linux|-musl)?[\w.-]*\.so(\.\d+)*$/ }),
  ...rows(
    'sh bash dash ksh mksh ash rbash csh tcsh yash osh nu posh sash rc es elvish xonsh',
    unmodelled({ shell: true }),
  ),
  ...rows('zsh fish', unmodelled({ shell: true, interprets: 'bare' })),
  ...rows(
    `ansible autossh aws-vault bpftrace bunx catatonit chamber choom chpst clush cmd concurrently
    cross-env daemonize dbus-run-session doppler dotenv dotenvx dtrace dumb-init entr env-cmd envdir
    envuidgid fakeroot forever gosu gpg-agent guix heaptrack hyperfine i386 ifne infisical
    landrun lckdo libtool lima mispipe mosh nix-shell nocache nodemon nq nsjail onchange pdsh pee
    perf pm2 powershell pssh pwsh reflex rr run-parts s6-setuidgid salt sandbox-exec setlock
    setuidgid sg shx softlimit sshfs sshpass start-stop-daemon su-exec tini trace-cmd trickle
    ts tsp uftrace unbuffer uvx watchexec with-lock-ex wsl x86_64 xdotool xvfb-run zrun aa-exec capsh
    catchsegv cgexec chronic schroot systemd-cat systemd-inhibit cpulimit dbus-launch eatmydata faketime numactl proxychains
    proxychains4 rlwrap runcon schedtool sem ssh-agent torify torsocks vglrun xterm uclampset coresched pipesz enosys tsocks scriptlive
    gnome-terminal konsole x-terminal-emulator`,
    unmodelled({ launches: true }),
  ),
  ssh: unmodelled({
    launches: true,
    runsOption: { next: /^-o$/ },
    hazards: hazards('-oFESI', /ProxyCommand|LocalCommand/i),
  }),
};

/** Whether it changes nothing about what it runs. */
export function isTransparent(name: string): boolean {
  return name !== 'env' && Object.hasOwn(WRAPPER_PROGRAMS, name);
}

/** With `-v` and `-V` it tells what a name stands for. */
function effectsOfCommand(words: readonly ShellWord[]): readonly Effect[] {
  const [first] = words;
  if (first === undefined) return [unknown('operand')];
  if (/^-[vV]$/.test(first.value)) {
    return words.filter(({ literal }) => !literal).map((word) => unknown('word', word));
  }
  if (first.value.startsWith('-')) return [unknown('option', first)];
  return [{ kind: 'run', words }];
}

export const ENV = optionTable(
  '-i0v -u: -C:read -S:shell ignore-environment null unset: chdir:read split-string:shell',
);

function effectsOfEnv(words: readonly ShellWord[]): readonly Effect[] {
  const given = parseOptions(words, ENV, { leading: true });
  const from = given.operands.findIndex(({ value }) => !/^[A-Za-z_]\w*=/.test(value));
  const set = given.operands.slice(0, from === -1 ? undefined : from);
  const moved = given.values.filter(({ option }) => option === 'C' || option === 'chdir');
  const code = given.values.filter(({ kind }) => kind === 'shell');
  return [
    ...given.unknown,
    // fail-closed: which variables the program finds is up to these words.
    unknown('assignment', set[0]),
    ...moved.map(({ word }) => unknown('directory', word)),
    ...code.map(({ word }): Effect => ({ kind: 'shell', code: word })),
    // Alone it prints variables, and those hold secrets.
    ...(from === -1
      ? [unknown('operand')]
      : [{ kind: 'run', words: given.operands.slice(from) } as const]),
  ];
}

const XARGS =
  optionTable(`-0rtx -nPLsd: -a:read null no-run-if-empty verbose max-args: max-procs: max-lines:
  max-chars: delimiter: arg-file:read`);

/** It adds words out of its input to the command. */
function effectsOfXargs(words: readonly ShellWord[]): readonly Effect[] {
  const given = parseOptions(words, XARGS, { leading: true });
  const run = given.operands.length === 0 ? [literalWord('echo')] : given.operands;
  const files = given.values.filter(({ kind }) => kind === 'read').map(({ word }) => reads(word));
  return [...given.unknown, ...files, { kind: 'run', words: run, fed: 'input' }];
}
