import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('the public conformance suite', () => {
  it('passes, but for what is listed with a reason', { timeout: 180_000 }, async () => {
    const { code, text } = await run(['test/conformance/run.mjs'], 170_000);
    expect(code, text).toBe(0);
    expect(text).toMatch(/\n\d+ of \d+ scenarios passed, \d failed, 0 problems\n/);
  });

  it('fails for a list that says more than is true', async () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-stale-'));
    const file = path.join(directory, 'stale.yaml');
    writeFileSync(file, 'client:\n  - initialize\n  - no-such-scenario\n');
    const args = ['test/conformance/run.mjs', 'initialize', '--expected-failures', file];
    const { code, text } = await run(args, 50_000);
    rmSync(directory, { recursive: true });
    expect(code).toBe(1);
    expect(text).toContain('initialize passes; remove it from the list');
    expect(text).toContain('no scenario is called no-such-scenario');
  });

  it('has at most two failures that are expected, each with a reason above it', () => {
    const text = readFileSync(path.join(import.meta.dirname, 'expected-failures.yaml'), 'utf8');
    const names: readonly string[] = parse(text).client;
    expect(names.length).toBeLessThanOrEqual(2);
    for (const name of names) expect(text).toMatch(new RegExp(`\\n {2}# .*\\n {2}- ${name}\\n`));
  });
});

/** In a group of its own: the suite starts servers and clients, and none of them may stay behind. */
function run(args: readonly string[], ms: number): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...args], { cwd: ROOT, detached: true });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, ms);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, text });
    });
  });
}
