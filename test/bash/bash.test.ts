import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { atDeadline, isGone, temporaryDirectory, until } from '../process/helpers.js';
import { bashBench } from './helpers.js';

describe('Bash', () => {
  it('shows both streams in the order written', async () => {
    const seen = await bashBench().bash('echo one; echo two >&2; echo three');
    expect(seen).toEqual({
      text: 'one\ntwo\nthree',
      isError: false,
      structured: { stdout: 'one\ntwo\nthree', stderr: '', interrupted: false, isImage: false },
    });
  });

  it('says so when there is no output', async () => {
    expect((await bashBench().bash('true')).text).toBe('(no output)');
  });

  it.each([
    ['exit 3', 'Exit code 3'],
    ['echo why; exit 4', 'Exit code 4\nwhy'],
    ['set -e; false; echo never', 'Exit code 1'],
    ['false', 'Exit code 1'],
    [
      'sh -c "kill -SEGV \\$\\$" 2>/dev/null',
      'Exit code 139\n(a command in it was ended by SIGSEGV)',
    ],
  ])('reports %j as an error', async (command, text) => {
    const seen = await bashBench().bash(command);
    expect(seen.isError).toBe(true);
    expect(seen.text.startsWith(text)).toBe(true);
    expect(seen.text).not.toContain('never');
  });

  it('names the signal that ended the shell itself', async () => {
    const seen = await bashBench().bash('echo begun; kill -KILL $$');
    expect(seen).toMatchObject({ isError: true, text: 'The command was ended by SIGKILL.\nbegun' });
  });

  it.each([
    ['exec true', '(no output)'],
    ['exec echo replaced', 'replaced'],
    ['cat <<END\nhere $((1 + 1))\nEND', 'here 2'],
    ["cat <<'END'\nhere $x\nEND", 'here $x'],
    ['echo a # a comment', 'a'],
    ['echo "[$1] $# $0"', '[] 0 bash'],
    ['echo \'single\' "double $HOME_NOT_SET" \\$x', 'single double  $x'],
    ['exec 3>&1; echo mine >&3', 'mine'],
    ['echo by name > /dev/stderr', 'by name'],
    ['f() { echo function; }; f', 'function'],
    ['[[ a == a ]] && echo bash', 'bash'],
    ['echo "# $(echo nested)" | tr n N', '# Nested'],
    ["printf '\\033[31mred\\033[0m'", '\u001b[31mred\u001b[0m'],
    ["printf 'a\\377b\\000c'", 'a\ufffdb\0c'],
    ['cat; echo no input', 'no input'],
  ])('runs %j as it is', async (command, text) => {
    expect(await bashBench().bash(command)).toMatchObject({ isError: false, text });
  });

  it('reports a syntax error with the line it is in', async () => {
    const seen = await bashBench().bash('echo ok\nif then');
    expect(seen.isError).toBe(true);
    expect(seen.text).toMatch(/^Exit code [12]\n/);
    expect(seen.text).toContain('line 2: syntax error');
  });

  it('takes a command that starts with a dash for a command', async () => {
    const seen = await bashBench().bash('-no-such-command');
    expect(seen.text).toBe('Exit code 127\nbash: line 1: -no-such-command: command not found');
  });

  it('does not trace its own wrapper', async () => {
    const seen = await bashBench().bash('set -x; echo hi; cd /');
    expect(seen.text).not.toContain('pwd');
    expect(seen.text).toContain('echo hi');
  });

  it('takes exit code 1 of a search or comparison for an answer', async () => {
    const seen = await bashBench().bash('echo abc | grep xyz');
    expect(seen).toMatchObject({
      isError: false,
      text: '(No matches found; exit code 1)',
      structured: { returnCodeInterpretation: 'No matches found' },
    });
    expect((await bashBench().bash('cd nowhere && grep x y')).isError).toBe(true);
    expect((await bashBench().bash('grep')).isError).toBe(true);
  });

  it('refuses NUL, an empty command, and one that is too long', async () => {
    const bench = bashBench();
    expect((await bench.bash('echo a\0b')).text).toContain('NUL');
    expect((await bench.bash(' \n ')).text).toBe('The command is empty.');
    const long = await bench.bash(`: ${'x'.repeat(300_000)}`);
    expect(long.isError).toBe(true);
    expect(long.text).toContain('too long for the system');
  });

  it('does not wait for what it leaves in the background, and says that it runs', async () => {
    const seen = await bashBench().bash('sleep 100 & echo $!');
    expect(seen.isError).toBe(false);
    expect(seen.text).toMatch(
      /^\d+\n\(processes it started are still running in the background\)$/,
    );
  });

  it('keeps secrets out of the environment and nothing between calls', async () => {
    const bench = bashBench({
      env: {
        PATH: process.env.PATH,
        ANTHROPIC_API_KEY: 'leak1',
        GITHUB_TOKEN: 'leak2',
        BASH_ENV: '/nonexistent/leak3',
        PORTCULLIS_HOME: 'leak4',
        MY_SETTING: 'kept',
      },
    });
    const seen = await bench.bash('export CARRIED=1; env');
    expect(seen.text).toContain('MY_SETTING=kept');
    expect(seen.text).toContain('CLAUDECODE=1');
    expect(seen.text).not.toContain('leak');
    expect((await bench.bash('echo "[$CARRIED]"')).text).toBe('[]');
  });
});

describe('the working directory', () => {
  it('carries over, whichever way the command ends', async () => {
    const bench = bashBench();
    await bench.bash('mkdir -p a/b "with space"');
    await bench.bash('cd a');
    expect(bench.cwd()).toBe(path.join(bench.root, 'a'));
    await bench.bash('cd b; exit 7');
    expect((await bench.bash('pwd')).text).toBe(path.join(bench.root, 'a/b'));
    await bench.bash('set -e; cd ../../"with space"; false');
    expect(bench.cwd()).toBe(path.join(bench.root, 'with space'));
    await bench.bash('exec true');
    await bench.bash('(cd /)');
    expect(bench.cwd()).toBe(path.join(bench.root, 'with space'));
  });

  it('goes back, with a notice, when it left the workspace', async () => {
    const bench = bashBench();
    const seen = await bench.bash('cd / && echo there');
    expect(seen).toMatchObject({
      isError: false,
      text: `there\nShell cwd was reset to ${bench.root}`,
    });
    expect(bench.cwd()).toBe(bench.root);
    // A link that leads out is no way out.
    symlinkSync('/usr', path.join(bench.root, 'link'));
    expect((await bench.bash('cd link')).text).toBe(`Shell cwd was reset to ${bench.root}`);
  });

  it('may be in any root, and keeps the name by which a root is known', async () => {
    const real = temporaryDirectory();
    mkdirSync(path.join(real, 'inner'));
    const link = path.join(temporaryDirectory(), 'link');
    symlinkSync(real, link);
    const bench = bashBench({ extraRoots: [link] });
    await bench.bash(`cd ${link}/inner`);
    expect(bench.cwd()).toBe(path.join(link, 'inner'));
    expect((await bench.bash('pwd')).text).toBe(path.join(link, 'inner'));
    expect(bench.cwd()).toBe(path.join(link, 'inner'));
  });

  it('is left when it has been deleted', async () => {
    const bench = bashBench();
    await bench.bash('mkdir gone; cd gone');
    rmSync(path.join(bench.root, 'gone'), { recursive: true });
    const seen = await bench.bash('pwd');
    expect(seen.isError).toBe(true);
    expect(seen.text).toContain('gone no longer exists');
    expect(seen.text).toContain(`reset to ${bench.root}`);
    expect((await bench.bash('pwd')).text).toBe(bench.root);
    // Deleted by the command that stands in it.
    await bench.bash('mkdir x; cd x; rmdir ../x');
    expect(bench.cwd()).toBe(bench.root);
  });
});

describe('a command that is ended', () => {
  it('at its deadline is an error with the output so far', async () => {
    const command = "echo begun; sh -c 'sleep 100 & echo $!; sleep 100'";
    let timeout = 0;
    const run = (ms: number) => {
      timeout = ms;
      return bashBench().bash(command, { timeout });
    };
    const { result: seen, pids } = await atDeadline(run, {
      numbers: 1,
      in: ({ text }) => text.split('begun')[1] ?? '',
    });
    expect(seen.isError).toBe(true);
    expect(seen.text).toContain(`timed out after ${timeout / 1_000} s`);
    expect(seen.text).toContain('begun');
    expect(seen.structured).toMatchObject({ timedOutAfterMs: timeout, interrupted: false });
    expect(pids[0] && isGone(pids[0])).toBe(true);
  });

  it('is held to the longest time allowed', async () => {
    const limits = { defaultTimeoutMs: 100, maxTimeoutMs: 300, inlineCharacters: 30_000 };
    const bench = bashBench({ limits });
    expect((await bench.bash('sleep 100')).text).toContain('timed out after 0.1 s');
    const seen = await bench.bash('sleep 100', { timeout: 999_999 });
    expect(seen.text).toContain('timed out after 0.3 s');
    expect(seen.text).not.toContain('longer `timeout`');
  });

  it('by an abort is interrupted', async () => {
    const controller = new AbortController();
    const bench = bashBench({ signal: controller.signal });
    const running = bench.bash('echo begun; touch started; sleep 100');
    await until(() => existsSync(path.join(bench.root, 'started')));
    controller.abort();
    const seen = await running;
    expect(seen.isError).toBe(true);
    expect(seen.structured.interrupted).toBe(true);
    expect(seen.text).toContain('interrupted');
    expect(seen.text).toContain('begun');
  });
});

describe('long output', () => {
  it('of a success is shown whole up to the cap and saved beyond it', async () => {
    const bench = bashBench();
    const fits = await bench.bash("head -c 30000 /dev/zero | tr '\\0' x");
    expect(fits.text).toHaveLength(30_000);
    expect(existsSync(bench.spill)).toBe(false);
    const saved = await bench.bash("head -c 30001 /dev/zero | tr '\\0' x");
    const file = path.join(bench.spill, 'toolu_1.txt');
    expect(saved.text).toContain(`saved to ${file}`);
    expect(saved.text.length).toBeLessThan(2300);
    expect(saved.structured).toMatchObject({
      persistedOutputPath: file,
      persistedOutputSize: 30_001,
    });
    expect(readFileSync(file, 'utf8')).toHaveLength(30_001);
  });

  it('counts characters, not bytes', async () => {
    const seen = await bashBench().bash("head -c 20000 /dev/zero | sed 's/\\x0/ä/g'");
    expect(seen.text).toBe('ä'.repeat(20_000));
  });

  it('of ten megabytes goes to the file as it comes', async () => {
    const bench = bashBench({ toolUseId: '../../evil id' });
    const seen = await bench.bash("head -c 10000000 /dev/zero | tr '\\0' x; echo end");
    const file = path.join(bench.spill, '______evil_id.txt');
    expect(seen.isError).toBe(false);
    expect(seen.text).toContain('9.5 MB');
    expect(seen.text.length).toBeLessThan(2300);
    expect(readFileSync(file).length).toBe(10_000_004);
  });

  it('of a failure keeps its head and tail', async () => {
    const seen = await bashBench().bash('seq 1 20000; echo the reason; exit 2');
    expect(seen.isError).toBe(true);
    expect(seen.text.startsWith('Exit code 2\n1\n2\n')).toBe(true);
    expect(seen.text).toContain('the reason\nWhole output');
    expect(seen.text.length).toBeLessThan(10_400);
  });
});

describe('without bash', () => {
  it('falls back to sh and says so', async () => {
    const bin = temporaryDirectory();
    symlinkSync('/bin/sh', path.join(bin, 'sh'));
    const bench = bashBench({ env: { PATH: bin } });
    for (const round of [1, 2]) {
      const seen = await bench.bash(`echo ${round}; cd /`);
      expect(seen.text).toContain(`${round}\n(run by sh: there is no bash here)`);
      expect(seen.text).toContain('Shell cwd was reset');
    }
    const started = await bench.bash('echo background', { run_in_background: true });
    expect(started.isError).toBe(false);
  });
});
