import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect } from 'vitest';
import {
  runScenario,
  type Scenario,
  type ScenarioRun,
  type ScenarioWorld,
} from '../../src/testing/scenario.js';
import { inProcess } from '../support/in-process.js';
import { PROGRAM } from './program.js';

const worlds = new Set<ScenarioWorld>();
// Not after each test: tests that run side by side share this list.
afterAll(() => {
  for (const world of worlds) world.remove();
});

/** Plays a scenario inside this process and removes its world at the end of the file. */
export function run(scenario: Scenario, program: Program = inProcess): Promise<ScenarioRun> {
  return play(scenario, program);
}

/** The same with the built program, as users start it. */
export function runBuilt(scenario: Scenario): Promise<ScenarioRun> {
  return play(scenario, PROGRAM);
}

type Program = Parameters<typeof runScenario>[0];

async function play(scenario: Scenario, program: Program): Promise<ScenarioRun> {
  const done = await runScenario(program, scenario);
  worlds.add(done.world);
  return done;
}

export type TranscriptLine = Readonly<Record<string, unknown>>;

export interface TranscriptFile {
  readonly path: string;
  readonly id: string;
  readonly mode: number;
  readonly text: string;
  readonly lines: readonly TranscriptLine[];
}

/** Every transcript under the home of a run. A line that is not JSON fails the test. */
export function transcripts(done: Pick<ScenarioRun, 'project'>): readonly TranscriptFile[] {
  return transcriptPaths(done).map((file) => readTranscript(file));
}

export function transcriptPaths(done: Pick<ScenarioRun, 'project'>): readonly string[] {
  const projects = path.join(done.project.home, '.claude/projects');
  return namesIn(projects).flatMap((project) =>
    namesIn(path.join(projects, project))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => path.join(projects, project, name)),
  );
}

/** The one transcript of a run. */
export function transcript(done: Pick<ScenarioRun, 'project'>): TranscriptFile {
  const all = transcripts(done);
  const [only] = all;
  if (only === undefined || all.length !== 1) throw new Error(`${all.length} transcripts`);
  return only;
}

export function readTranscript(file: string): TranscriptFile {
  const text = readFileSync(file, 'utf8');
  return {
    path: file,
    id: path.basename(file, '.jsonl'),
    mode: statSync(file).mode & 0o777,
    text,
    lines: text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as TranscriptLine),
  };
}

/** The whole lines of a transcript; a killed program may have left half a one at its end. */
export function readTranscriptLines(file: string): readonly TranscriptLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as TranscriptLine];
      } catch {
        // Torn by the kill: what it was never counted as written.
        return [];
      }
    });
}

/** The session can be gone on with, and the model is then shown what was said first. */
export async function expectContinues(done: ScenarioRun, words = 'go'): Promise<ScenarioRun> {
  const next = await run({
    world: done.world,
    args: ['--continue'],
    prompt: 'THE SECOND PROMPT',
    script: ['continued'],
  });
  expect({ code: next.exitCode, stderr: next.stderr }).toEqual({ code: 0, stderr: '' });
  const texts = userTexts(next.requests[0]?.body);
  expect(texts).toContain(words);
  expect(texts).toContain('THE SECOND PROMPT');
  return next;
}

/** Every text block that a user message of the request holds. */
export function userTexts(body: unknown): readonly string[] {
  return blocksOf(body, 'user').flatMap((block) =>
    typeof block.text === 'string' ? [block.text] : [],
  );
}

export function blocksOf(body: unknown, role: 'user' | 'assistant'): readonly TranscriptLine[] {
  const { messages } = body as { messages: { role: string; content: TranscriptLine[] }[] };
  return messages.filter((message) => message.role === role).flatMap((message) => message.content);
}

/** Last line of standard error that the program wrote, without its name. */
export function warnings(done: Pick<ScenarioRun, 'stderr'>): readonly string[] {
  return done.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^portcullis: /, ''));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // No such directory: no session was ever written.
    return [];
  }
}
