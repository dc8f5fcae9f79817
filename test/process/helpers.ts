import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createProcessSupervisor } from '../../src/env/node-process.js';
import type { ProcessSupervisor, SpawnRequest } from '../../src/env/process.js';

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

export async function until(condition: () => boolean, ms = 10_000): Promise<boolean> {
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
