import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { cases } from '../support/counts.js';
import { readTranscriptLines, runBuilt as run, transcriptPaths } from './worlds.js';

const RUNS = cases(8, 40);
const AT_ONCE = 4;
/** The kill falls anywhere between the first frame and this long after it. */
const LATEST_KILL_MS = 400;

const SCRIPT = [
  { tool: 'Write', input: { file_path: 'a.txt', content: 'one\ntwo\n' } },
  { tool: 'Edit', input: { file_path: 'a.txt', old_string: 'two', new_string: 'three' } },
  {
    blocks: [
      'Several at once.',
      { tool: 'Read', input: { file_path: 'a.txt' } },
      { tool: 'Read', input: { file_path: 'a.txt' } },
      { tool: 'Bash', input: { command: 'sleep 0.05; cat a.txt' } },
    ],
  },
  { tool: 'Bash', input: { command: 'sleep 300 & echo started', run_in_background: true } },
  { tool: 'Bash', input: { command: 'sleep 0.1; echo x; sleep 300' } },
];

describe.skipIf(process.platform !== 'linux')('a program that is killed (needs /proc)', () => {
  it(`loses nothing it has shown and leaves nothing running, ${RUNS} times`, async () => {
    const moments = Array.from({ length: RUNS }, (_, n) => (n * LATEST_KILL_MS) / RUNS);
    const problems: string[] = [];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let moment = moments.pop(); moment !== undefined; moment = moments.pop()) {
          const found = await killedAt(moment + Math.random() * (LATEST_KILL_MS / RUNS));
          problems.push(...found.map((text) => `killed after ${moment} ms: ${text}`));
        }
      }),
    );
    expect(problems).toEqual([]);
  }, 300_000);
});

/** Everything that was wrong after a kill at that moment. */
async function killedAt(moment: number): Promise<readonly string[]> {
  const done = await run({
    args: ['--allowedTools', 'Write', 'Edit', 'Bash'],
    prompt: 'THE FIRST PROMPT',
    stdin: '',
    script: SCRIPT,
    onStart(program) {
      let armed = false;
      program.onLine(() => {
        if (armed) return;
        armed = true;
        setTimeout(() => program.kill('SIGKILL'), moment);
      });
    },
  });
  const problems: string[] = [];
  if (done.signal !== 'SIGKILL') problems.push(`ended by itself: ${done.exitCode} ${done.stderr}`);
  problems.push(...lostFrames(done));
  problems.push(...(await goesOn(done)));
  problems.push(...(await leftRunning(done)));
  return problems;
}

function lostFrames(done: ScenarioRun): readonly string[] {
  const lines = transcriptPaths(done).flatMap((file) => readTranscriptLines(file));
  const written = new Set(lines.map((line) => line.uuid));
  return done.frames
    .filter((frame) => frame.type === 'assistant' || frame.type === 'user')
    .filter((frame) => !written.has(frame.uuid))
    .map((frame) => `shown but not written: ${JSON.stringify(frame)}`);
}

async function goesOn(done: ScenarioRun): Promise<readonly string[]> {
  if (transcriptPaths(done).length === 0) {
    // Killed before the prompt was accepted: nothing was shown of it either.
    return done.frames.length > 1 ? ['there is no transcript'] : [];
  }
  const next = await run({ world: done.world, args: ['--continue'], script: ['Went on.'] });
  const problems: string[] = [];
  if (next.exitCode !== 0) problems.push(`--continue: ${next.exitCode} ${next.stdout}`);
  const body = JSON.stringify(next.requests[0]?.body);
  const accepted = done.frames.length > 1;
  if (accepted && !body.includes('THE FIRST PROMPT')) problems.push('the first prompt is lost');
  problems.push(...unanswered(next.requests[0]?.body));
  return problems;
}

/** Calls without a result, and results without a call: no provider accepts them. */
function unanswered(body: unknown): readonly string[] {
  const { messages } = body as {
    messages: { content: { type: string; id?: string; tool_use_id?: string }[] }[];
  };
  const blocks = messages.flatMap((message) => message.content);
  const called = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const answered = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [block.tool_use_id] : [],
  );
  const same = called.length === answered.length && called.every((id) => answered.includes(id));
  return same ? [] : [`calls ${called.join()} but results ${answered.join()}`];
}

async function leftRunning(done: ScenarioRun): Promise<readonly string[]> {
  const deadline = Date.now() + 2000;
  for (;;) {
    const left = processesOf(done.project.root);
    if (left.length === 0) return [];
    if (Date.now() > deadline) return left.map((text) => `still running: ${text}`);
    await pause(50);
  }
}

/** Processes that work in a directory of the world, or were started with its home. */
function processesOf(root: string): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const inside = readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
      if (!inside && !readFileSync(`/proc/${pid}/environ`, 'utf8').includes(root)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`];
    } catch {
      // Ended while we looked.
      return [];
    }
  });
}
