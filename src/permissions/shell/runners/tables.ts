import { wordSet } from '../../../lib/patterns/word-set.js';

export const SHELLS = wordSet(
  'sh bash dash zsh ksh mksh ash fish rbash csh tcsh yash osh nu posh sash rc es elvish xonsh',
);

/** Programs that run the program named in their arguments, here and now. */
export const WRAPPERS = wordSet(
  `bwrap builtin busybox caffeinate chroot chrt command coproc doas env eval exec firejail flock
  ionice linux32 linux64 ltrace nice nocorrect noglob nohup nsenter parallel pkexec prlimit proot
  run0 runuser script setarch setpriv setsid stdbuf strace su sudo systemd-run taskset time timeout
  toybox trap unshare valgrind watch xargs`,
);

/** Wrappers with a word of their own in front of the program: a lock, a root, a user. */
export const TAKES_OPERAND = /^(chroot|flock|su|taskset)$/;

/** Letters of options without a value, by wrapper. */
export const WRAPPER_FLAGS: Readonly<Record<string, string>> = {
  command: 'pVv',
  doas: 'Lns',
  env: '0iv',
  exec: 'cl',
  setsid: 'cfw',
  sudo: 'AbEeHiKklnPSsVv',
  time: 'pv',
  timeout: 'v',
  xargs: '0oprtx',
};
export const LONG_WRAPPER_FLAG =
  /^--(foreground|preserve-status|verbose|null|no-run-if-empty|ignore-environment|non-interactive|preserve-env)?$/;

/** The same in a place of their own, or with arguments of their own: looked through by restrictions alone. */
export const LAUNCHERS = wordSet(
  `ansible arch autossh aws-vault bpftrace bunx catatonit chamber choom chpst clush cmd concurrently
  cross-env daemonize dbus-run-session doppler dotenv dotenvx dtrace dumb-init entr env-cmd envdir
  envuidgid expect fakeroot forever gosu gpg-agent guix heaptrack hyperfine i386 ifne infisical
  landrun lckdo libtool lima mispipe mosh nix-shell nocache nodemon npx nq nsjail onchange pdsh pee
  perf pm2 powershell pssh pwsh reflex rr run-parts s6-setuidgid salt sandbox-exec scp setlock
  setuidgid sftp sg shx softlimit ssh sshfs sshpass start-stop-daemon su-exec tini trace-cmd trickle
  ts tsp uftrace unbuffer uvx watchexec with-lock-ex wsl x86_64 xdotool xvfb-run zrun aa-exec capsh
  catchsegv cgexec chronic cpulimit dbus-launch eatmydata faketime logsave numactl proxychains
  proxychains4 rlwrap runcon schedtool sem ssh-agent torify torsocks vglrun xterm`,
);

/** A pattern for each program, of what is written behind its colon. */
function patterns(text: string, flags = ''): Readonly<Record<string, RegExp>> {
  return Object.fromEntries(
    text.split(/\s+/).map((item): [string, RegExp] => {
      const cut = item.indexOf(':');
      return [item.slice(0, cut), new RegExp(`^(?:${item.slice(cut + 1)})$`, flags)];
    }),
  );
}

/** Programs of which a subcommand runs what follows it. */
export const runsAfter = patterns(
  `adb:shell asdf:exec bun:x|run|exec bundle:exec cargo:run|r|xtask conda:run crictl:exec ctr:run|exec
  direnv:exec distrobox:enter docker:run|exec docker-compose:run|exec fly:ssh|console gdb:--args git:run|foreach
  heroku:run(:\\w+)? jobs:-\\w*x.* just:-c|--command kubectl:exec|run|debug lldb:-- lxc:exec mamba:run
  micromamba:run mise:exec|x|run nerdctl:run|exec nix:run|shell|develop nomad:exec npm:exec|x|set
  oc:exec|rsh|run|debug pdm:run pipenv:run pnpm:exec|dlx podman:run|exec podman-compose:run|exec poetry:run
  screen:-.* tmux:new|new-session|neww|new-window|split-window|splitw|respawn-pane|run-shell|run|send-keys|send
  toolbox:run uv:run|tool vagrant:ssh yarn:exec|dlx|node`,
  's',
);

/** Options whose value is run as a command, by whichever program has them. */
export const RUNS_VALUE =
  /^--(exec|pre|compress-p\w*|to-c\w*|use-comp[\w-]*|rsh|rsh-command|rsync-path|open-files-in-pager|unzip-command|upload-pack|receive-pack|checkpoint-a\w*|(tree|index|msg|env|commit|parent)-filter|run|command|call|pager|html|extcmd|sh-exec|filter|sendmail-cmd|(info|new-volume)-script|rmt-command|(pre|post)-invoke)$/;

/** The same for short options, which mean something else to every program. */
export const runsShort = patterns(
  `apt:-o apt-get:-o cargo:--config git:-x go:--?(exec|toolexec|vettool) man:-[PH] nc:-\\w*[ec] ncat:-\\w*[ec]
  netcat:-\\w*[ec] rsync:-\\w*e ssh:-o tar:-\\w*[IF] zip:-TT`,
);

/** Their value may be attached: `-H'lynx'`. */
export const runsAttached = patterns(
  `go:--?(?:exec|toolexec|vettool)=(.+) man:-[PH](.+) socat:(?:EXEC|SYSTEM|SHELL):([^,]+).* zip:-TT(.+)`,
  'is',
);

/** Wrappers that add arguments from their input. */
export const FEEDERS = new Set(['xargs', 'parallel']);

export const FINDERS = new Set(['find', 'fd', 'fdfind']);
