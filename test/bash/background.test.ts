import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BackgroundShell } from '../../src/tools/bash/shells.js';
import { isGone, pidsIn, until } from '../process/helpers.js';
import { type BashBench, bashBench } from './helpers.js';

async function start(bench: BashBench, command: string, timeout?: number): Promise<string> {
  const seen = await bench.bash(command, {
    run_in_background: true,
    ...(timeout !== undefined && { timeout }),
  });
  expect(seen.isError).toBe(false);
  return String(seen.structured.backgroundTaskId);
}

function ended(bench: BashBench, id: string): Promise<BackgroundShell> {
  return new Promise((resolve) => {
    const shell = bench.shells.get(id);
    if (shell !== undefined && shell.status !== 'running') return resolve(shell);
    bench.shells.onFinished((finished) => {
      if (finished.id === id) resolve(finished);
    });
  });
}

describe('a background command', () => {
  it('returns at once with an id and its output file, and announces its end once', async () => {
    const bench = bashBench();
    const finished: string[] = [];
    bench.shells.onFinished((shell) => finished.push(`${shell.id} ${shell.status}`));
    const id = await start(bench, 'echo one; echo two >&2; exit 3');
    expect(id).toMatch(/^b[0-9a-f]{8}$/);
    const shell = await ended(bench, id);
    expect(shell).toMatchObject({
      status: 'failed',
      exitCode: 3,
      signal: null,
      toolUseId: 'toolu_1',
    });
    expect(readFileSync(shell.outputFile, 'utf8')).toBe('one\ntwo\n');
    expect(finished).toEqual([`${id} failed`]);
    expect((await bench.output({ task_id: id })).text).toBe(`${id}: failed, exit code 3\none\ntwo`);
  });

  it('shows new output only, with a filter when asked', async () => {
    const bench = bashBench();
    const id = await start(
      bench,
      'echo error 1; echo fine; while [ ! -e go ]; do sleep 0.05; done; echo error 2',
    );
    await until(() => statSync(bench.shells.get(id)?.outputFile ?? '').size > 12);
    expect((await bench.output({ task_id: id, filter: '^error' })).text).toBe(
      `${id}: running\nerror 1`,
    );
    expect((await bench.output({ task_id: id })).text).toBe(`${id}: running\n(no new output)`);
    await bench.bash('touch go');
    await ended(bench, id);
    expect((await bench.output({ task_id: id })).text).toBe(
      `${id}: completed, exit code 0\nerror 2`,
    );
  });

  it('loses nothing to a filter that cannot be used', async () => {
    const bench = bashBench();
    const id = await start(bench, 'echo kept');
    await ended(bench, id);
    for (const filter of ['(', '(.)\\1']) {
      expect(await bench.output({ task_id: id, filter })).toMatchObject({ isError: true });
    }
    expect((await bench.output({ task_id: id })).text).toContain('kept');
  });

  it('is ended by TaskStop with everything it started', async () => {
    const bench = bashBench();
    const id = await start(bench, "sh -c 'sleep 100 & echo $!; sleep 100'");
    const file = bench.shells.get(id)?.outputFile ?? '';
    await until(() => statSync(file).size > 1);
    const [pid = 0] = pidsIn(readFileSync(file, 'utf8'));
    const seen = await bench.stop({ shell_id: id });
    expect(seen.structured).toMatchObject({ task_id: id, task_type: 'local_bash' });
    expect(isGone(pid)).toBe(true);
    expect(bench.shells.get(id)).toMatchObject({ status: 'killed', exitCode: null });
    expect((await bench.stop({ task_id: id })).text).toContain('had already ended (killed)');
  });

  it('is ended at its deadline', async () => {
    const bench = bashBench();
    const shell = await ended(bench, await start(bench, 'exec sleep 100', 200));
    expect(shell).toMatchObject({ status: 'timed_out', exitCode: null, signal: 'SIGTERM' });
  });

  it('is ended when it writes too much, and the latest output is what is kept', async () => {
    const bench = bashBench();
    const id = await start(bench, 'yes');
    const shell = await ended(bench, id);
    expect(shell).toMatchObject({ status: 'killed', note: 'ended for writing more than 64 MiB' });
    expect(statSync(shell.outputFile).size).toBe(64 * 1024 * 1024);
    const seen = await bench.output({ task_id: id });
    expect(seen.text).toContain('earlier characters are only in');
    expect(seen.text.length).toBeLessThan(31_000);
  });

  it('does not move the working directory', async () => {
    const bench = bashBench();
    await ended(bench, await start(bench, 'mkdir -p sub; cd sub'));
    expect(bench.cwd()).toBe(bench.root);
  });

  it('that cannot start is an error', async () => {
    const bench = bashBench();
    const seen = await bench.bash(`: ${'x'.repeat(300_000)}`, { run_in_background: true });
    expect(seen.isError).toBe(true);
    expect(bench.shells.list()).toEqual([]);
  });

  it('goes with all the others', async () => {
    const bench = bashBench();
    const ids = await Promise.all([start(bench, 'sleep 100'), start(bench, 'sleep 100')]);
    await bench.shells.killAll();
    expect(ids.map((id) => bench.shells.get(id)?.status)).toEqual(['killed', 'killed']);
  });

  it('that is unknown is answered with those that are known', async () => {
    const bench = bashBench();
    expect((await bench.stop({ task_id: 'b0' })).text).toContain('There are none.');
    const id = await start(bench, 'true');
    await ended(bench, id);
    const seen = await bench.output({ task_id: 'toString' });
    expect(seen).toMatchObject({ isError: true });
    expect(seen.text).toContain(`Known: ${id} (completed).`);
    expect((await bench.stop({})).isError).toBe(true);
  });
});
