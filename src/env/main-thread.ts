import { readdirSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';

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
  if (process.platform !== 'linux' || availableParallelism() > FEW_CORES) return;
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
