import { readdirSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';
import { engine } from './builtins.js';

/** With more cores the others are not in its way. */
const FEW_CORES = 4;
/** Of a core that both want, the others get a quarter. */
const NICENESS = 5;
const HIGHEST = 19;

/**
 * Lets the thread that runs everything go before those on which V8 compiles and collects. By a little only: it
 * waits for those that help it to collect, and on a machine where others work they would be long in coming.
 * To be called before other threads are made; children and threads that are made later are as before.
 */
export function preferMainThread(): void {
  hasFewCores = availableParallelism() <= FEW_CORES;
  if (process.platform !== 'linux' || !hasFewCores) return;
  try {
    const threads = readdirSync('/proc/self/task');
    // Where that lists the ids of another namespace, they are somebody else's here.
    if (!threads.includes(String(process.pid))) return;
    const niceness = Math.min(HIGHEST, getPriority() + NICENESS);
    for (const id of threads) if (Number(id) !== process.pid) setPriority(Number(id), niceness);
  } catch {
    // Nothing but speed depends on it.
  }
}

/** False also where the process is a host's, which decides such things itself. */
let hasFewCores = false;
let optimisesLater = false;
const MANY_AGENTS = 5;
/** The versions for which that was measured: by default it is half of the first and six times the second. */
const KNOWN_ENGINE = '11.3.';
const LATER_AND_LESS = '--interrupt-budget=135168 --max-inlined-bytecode-size-cumulative=150';

/**
 * With many agents at work, V8 finds more that runs often than one core can optimise, and takes it from those who
 * wait for an answer. It is told to wait until a function has run for twice as long, to which half of them never
 * come, and to take less of others into each: the thread that compiles is done in half the time. Packs that are
 * read later are compiled anew, as the code beside them was made with other settings.
 */
export function areAtWork(agents: number): void {
  if (!hasFewCores || optimisesLater || agents < MANY_AGENTS) return;
  optimisesLater = true;
  if (process.versions.v8.startsWith(KNOWN_ENGINE)) engine().setFlagsFromString(LATER_AND_LESS);
}
