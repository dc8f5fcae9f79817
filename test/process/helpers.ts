import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import type { ProcessSupervisor, SpawnRequest } from '../../src/platform/process/process.js';

export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'portcullis-test-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function testSupervisor(options: { stateDirectory?: string } = {}): ProcessSupervisor {
  const supervisor = createProcessSupervisor(options);
  onTestFinished(() => supervisor.killAll());
  return supervisor;
}

export function shell(script: string, more: Partial<SpawnRequest> = {}): SpawnRequest {
  return {
    command: '/bin/sh',
    args: ['-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    label: 'test',
    ...more,
  };
}

/** True once the process has ended; one that waits to be reaped has. */
export function isGone(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return true;
  }
}

/**
 * What a command gave that prints so many numbers and is then ended at its deadline. One that a busy machine
 * did not let get that far is run once more, with more time.
 */
export async function atDeadline<Result>(
  run: (timeoutMs: number) => Promise<Result>,
  printed: { readonly numbers: number; in(result: Result): string },
): Promise<{ readonly result: Result; readonly pids: readonly number[] }> {
  for (let timeoutMs = 400; ; timeoutMs *= 4) {
    const result = await run(timeoutMs);
    const pids = pidsIn(printed.in(result));
    if (pids.length >= printed.numbers || timeoutMs > 20_000) return { result, pids };
  }
}

export async function until(condition: () => boolean, ms = 50_000): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    if (condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return condition();
}

export function pidsIn(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}
