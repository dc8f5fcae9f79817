// One process at a time: who builds or installs holds a lock, the others wait for it. A lock belongs to a
// process, so one that was left by a killed process holds nobody up.
// Uses nothing but Node's own modules, because nothing else may be there yet.
import { randomUUID } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const LOOK_AGAIN_MS = 50;
/** A wait shorter than this needs no explanation. */
const SAY_SO_AFTER_MS = 1_000;
/** What takes longer has been given up. */
const FOREIGN_LOCK_MS = 10 * 60_000;

/** Waits for the lock and gives what releases it. `doing` tells those who wait what they wait for. */
export function takeLock(file, doing) {
  mkdirSync(path.dirname(file), { recursive: true });
  const own = JSON.stringify({ ...thisProcess(), doing, id: randomUUID() });
  const since = performance.now();
  let hasSaid = false;
  for (;;) {
    const holder = read(file);
    if (holder === undefined) {
      if (claim(file, own)) break;
      continue;
    }
    if (!isAlive(file, holder)) {
      removeExactly(file, holder);
      continue;
    }
    if (!hasSaid && performance.now() - since > SAY_SO_AFTER_MS) {
      process.stderr.write(`${waitingFor(file, holder)}\n`);
      hasSaid = true;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
  }
  const release = () => removeExactly(file, own);
  process.on('exit', release);
  return () => {
    process.off('exit', release);
    release();
  };
}

/** Whole or not at all: the file is written under another name first, and a link does not replace. */
function claim(file, own) {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, own);
  try {
    linkSync(draft, file);
    return true;
  } catch (thrown) {
    if (thrown.code === 'EEXIST') return false;
    throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes away this lock and no other: somebody else may have put a new one in its place meanwhile. */
function removeExactly(file, text) {
  if (read(file) !== text) return;
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch (thrown) {
    if (thrown.code === 'ENOENT') return;
    throw thrown;
  }
  try {
    if (read(aside) !== text) linkSync(aside, file);
  } catch (thrown) {
    if (thrown.code !== 'EEXIST') throw thrown;
  } finally {
    rmSync(aside, { force: true });
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function thisProcess() {
  return { host: os.hostname(), pid: process.pid, started: startOf(process.pid) };
}

/** A number is given to another process sooner or later; with the time of its start it is one process. */
function startOf(pid) {
  return statusOf(pid)?.started;
}

function statusOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { isZombie: fields[0] === 'Z', started: fields[19] };
  } catch {
    return undefined; // Not Linux, or not to be seen: its number alone has to do.
  }
}

/** What cannot be understood was not written by us, and holds nobody up. */
function isAlive(file, text) {
  const holder = parsed(text);
  if (holder === undefined) return false;
  // Of another machine's processes, or another container's, nothing is known from here but the time.
  if (holder.host !== os.hostname()) return ageOf(file) < FOREIGN_LOCK_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (thrown) {
    if (thrown.code !== 'EPERM') return false;
  }
  const status = statusOf(holder.pid);
  if (status === undefined || holder.started === undefined) return true;
  return !status.isZombie && status.started === holder.started;
}

function ageOf(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? 0 : Date.now() - stat.mtimeMs;
}

function parsed(text) {
  try {
    const holder = JSON.parse(text);
    return Number.isSafeInteger(holder?.pid) && holder.pid > 0 ? holder : undefined;
  } catch {
    return undefined; // The caller takes that for nobody's.
  }
}

function waitingFor(file, text) {
  const { doing, pid, host } = parsed(text);
  const where = host === os.hostname() ? '' : ` on ${host}; when it has ended, remove ${file}`;
  return `waiting for process ${pid} that is ${doing}${where} …`;
}
