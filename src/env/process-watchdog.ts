import type { ChildProcess } from 'node:child_process';
import { childProcess } from './builtins.js';
import { type ProcessTree, startTimeOf } from './process-tree.js';

/**
 * Ends our children when we die without a chance to do so ourselves (`kill -9`, a crash, the
 * out-of-memory killer). A small shell program that knows what runs and reads from a pipe whose only
 * writer is us: end of file means that we are gone.
 */
export class ProcessWatchdog {
  #program: ChildProcess | undefined;
  #failed = false;

  /** Before the first child is started: from then on none is out of sight for a moment. */
  begin(owner: string): void {
    if (this.#program !== undefined || this.#failed) return;
    this.#program = this.#start();
    this.#tell(`own ${owner}`);
  }

  add(tree: ProcessTree): void {
    this.#tell(`add ${tree.group} ${startOf(tree.group)} ${tree.marker}`);
  }

  remove(tree: ProcessTree): void {
    this.#tell(`del ${tree.group} - ${tree.marker}`);
  }

  #tell(line: string): void {
    if (!this.#failed) this.#program?.stdin?.write(`${line}\n`);
  }

  #start(): ChildProcess {
    const program = childProcess().spawn('/bin/sh', ['-c', SCRIPT, 'portcullis-watchdog'], {
      cwd: '/',
      detached: true,
      // Its own environment carries no marker, so that it never finds itself.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const fail = (): void => {
      // No /bin/sh, or it was ended by someone: children are still ended by ordinary exits.
      this.#failed = true;
    };
    program.once('error', fail);
    program.once('exit', fail);
    program.stdin?.on('error', fail);
    // Neither the program nor its pipe keeps us running.
    program.unref();
    if (program.stdin !== null && 'unref' in program.stdin) {
      (program.stdin as unknown as { unref(): void }).unref();
    }
    return program;
  }
}

/**
 * Guards against a pid that has been given out again by then. A leader that is gone already matches
 * no later process; `-` stands for a system that does not tell.
 */
function startOf(group: number): string {
  return startTimeOf(group) ?? (process.platform === 'linux' ? 'gone' : '-');
}

/**
 * Knows what runs by `add` and `del`. A marker is `<owner>/<number>/`: what carries our owner's name
 * and a higher number than any that was named was started in the last moment before the end. Daemons
 * of commands that are finished carry lower numbers and stay.
 */
const SCRIPT = `
trap '' HUP INT TERM PIPE
list= owner= highest=0
while read -r verb group start marker; do
  if [ "$verb" = own ]; then owner=$group; continue; fi
  number=\${marker%/}; number=\${number##*/}
  [ "$number" -gt "$highest" ] 2>/dev/null && highest=$number
  kept=
  for entry in $list; do
    case $entry in "$group,"*) ;; *) kept="$kept $entry" ;; esac
  done
  list=$kept
  [ "$verb" = add ] && list="$list $group,$start,$marker"
done
carriers() { grep -slF "$1" /proc/[0-9]*/environ 2>/dev/null; }
end() {
  pid=\${1#/proc/}
  kill -s $signal "\${pid%/environ}" 2>/dev/null
}
sweep() {
  for entry in $list; do
    group=\${entry%%,*}; rest=\${entry#*,}; start=\${rest%%,*}; marker=\${rest#*,}
    ours=yes
    if [ "$start" != - ] && read -r stat 2>/dev/null </proc/$group/stat; then
      set -- \${stat##*) }
      shift 19
      [ "$1" = "$start" ] || ours=no
    fi
    [ $ours = yes ] && kill -s $signal -- -$group 2>/dev/null
    for file in $(carriers "$marker"); do end "$file"; done
  done
  for file in $(carriers "$owner/"); do
    number=$(tr '\\0' '\\n' 2>/dev/null <"$file" | sed -n "s|.*$owner/\\([0-9]*\\)/.*|\\1|p" | head -n 1)
    [ "\${number:-0}" -gt "$highest" ] && end "$file"
  done
}
[ -n "$owner" ] || exit 0
signal=TERM; sweep
sleep 1
signal=KILL; sweep
`;
