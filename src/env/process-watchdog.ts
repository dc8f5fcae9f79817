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

  add(tree: ProcessTree): void {
    this.#tell(`add ${tree.group} ${startOf(tree.group)} ${tree.marker}`);
  }

  remove(tree: ProcessTree): void {
    if (this.#program !== undefined) this.#tell(`del ${tree.group}`);
  }

  #tell(line: string): void {
    if (this.#failed) return;
    this.#program ??= this.#start();
    this.#program.stdin?.write(`${line}\n`);
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

const SCRIPT = `
trap '' HUP INT TERM PIPE
list=
while read -r verb group start marker; do
  kept=
  for entry in $list; do
    case $entry in "$group,"*) ;; *) kept="$kept $entry" ;; esac
  done
  list=$kept
  [ "$verb" = add ] && list="$list $group,$start,$marker"
done
[ -n "$list" ] || exit 0
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
    for file in $(grep -slF "$marker" /proc/[0-9]*/environ 2>/dev/null); do
      pid=\${file#/proc/}
      kill -s $signal "\${pid%/environ}" 2>/dev/null
    done
  done
}
signal=TERM; sweep
sleep 1
signal=KILL; sweep
`;
