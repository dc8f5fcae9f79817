import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { type ProcessTree, startTimeOf } from './process-tree.js';

/** The last word of its command line, by which others know a session. */
export const WATCHDOG_NAME = 'portcullis-watchdog';

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

  /** Nothing of ours runs any more. The next child starts another one. */
  end(): void {
    this.#program?.stdin?.end('bye\n');
    this.#program = undefined;
  }

  #tell(line: string): void {
    if (!this.#failed) this.#program?.stdin?.write(`${line}\n`);
  }

  #start(): ChildProcess {
    const program = spawn('/bin/sh', ['-c', SCRIPT, WATCHDOG_NAME], {
      cwd: '/',
      detached: true,
      // Its own environment carries no marker, so that it never finds itself.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const fail = (): void => {
      // No /bin/sh, or it was ended by someone: children are still ended by ordinary exits.
      if (this.#program === program) this.#failed = true;
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
 *
 * One look at all processes serves for all groups: with many of them, a look for each would take longer
 * than what is left to live. It finds the members of our groups, processes with a marker of ours, those
 * found before, and the descendants of all these, also after they changed group or environment. `grep -H` puts the pid in front of every line: a process may have a line break in its name.
 */
const SCRIPT = `
trap '' HUP INT TERM PIPE
list= owner= highest=0 family=
while read -r verb group start marker; do
  if [ "$verb" = own ]; then owner=$group; continue; fi
  if [ "$verb" = bye ]; then exit 0; fi
  number=\${marker%/}; number=\${number##*/}
  [ "$number" -gt "$highest" ] 2>/dev/null && highest=$number
  kept=
  for entry in $list; do
    case $entry in "$group,"*) ;; *) kept="$kept $entry" ;; esac
  done
  list=$kept
  [ "$verb" = add ] && list="$list $group,$start,$marker"
done
[ -n "$owner" ] || exit 0
groups() {
  for entry in $list; do
    group=\${entry%%,*}; rest=\${entry#*,}; start=\${rest%%,*}
    if [ "$start" != - ] && read -r stat 2>/dev/null </proc/$group/stat; then
      set -- \${stat##*) }
      shift 19
      [ "$1" = "$start" ] || continue
    fi
    kill -s $signal -- -$group 2>/dev/null
  done
}
look() {
  {
    for entry in $list; do echo "L $entry"; done
    for entry in $family; do echo "F $entry"; done
    grep -asoHE "$owner/[0-9]+/" /proc/[0-9]*/environ
    grep -asH '' /proc/[0-9]*/stat
  } 2>/dev/null | awk -v highest="$highest" '
    $1 == "L" { split($2, p, ","); begin[p[1]] = p[2]; split(p[3], m, "/"); live[m[2]] = 1; next }
    $1 == "F" { split($2, p, ","); before[p[1]] = p[2]; next }
    { split($0, p, "/"); pid = p[3] }
    p[4] ~ /^environ:/ { if (p[5] in live || p[5] + 0 > highest + 0) seed[pid] = 1; next }
    !/\\) / { next }
    {
      sub(/^.*\\) /, "")
      if ($1 == "Z") next
      parent[pid] = $2; group[pid] = $3; begun[pid] = $20
    }
    function ours(g) {
      return (g in begin) && (!(g in begun) || begin[g] == "-" || begin[g] == begun[g])
    }
    END {
      for (g in begin) if (ours(g)) print "-" g
      for (pid in begun)
        if ((pid in seed) || before[pid] == begun[pid] || ours(group[pid])) mine[pid] = 1
      do {
        grown = 0
        for (pid in begun)
          if (!(pid in mine) && (parent[pid] in mine)) { mine[pid] = 1; grown = 1 }
      } while (grown)
      for (pid in mine) if (pid + 0 > 1) print pid "," begun[pid]
    }'
}
sweep() {
  if ! command -v awk >/dev/null || ! [ -r /proc/self/stat ]; then groups; return; fi
  for entry in $(look); do
    kill -s $signal -- "\${entry%%,*}" 2>/dev/null
    case $entry in -*) ;; *) family="$family $entry" ;; esac
  done
}
signal=TERM; sweep
sleep 0.5 2>/dev/null || sleep 1
signal=KILL; sweep
sleep 0.1 2>/dev/null; sweep
sleep 0.2 2>/dev/null; sweep
`;
