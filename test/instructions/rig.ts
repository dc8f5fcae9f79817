import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { Scenario, ScenarioRun, ScenarioWorld } from '../../src/testing/scenario.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { drive, isResult } from '../e2e/host.js';
import { userTexts } from '../e2e/worlds.js';

const worlds: TempProject[] = [];
afterAll(() => {
  for (const world of worlds) world.remove();
});

export interface Place extends ScenarioWorld {
  at(name: string): string;
  write(name: string, text: string): void;
}

/** A project whose directory is known before the program starts. */
export function place(files: ProjectFiles, home: ProjectFiles = {}): Place {
  const project = makeTempProject({ files, home, git: true });
  worlds.push(project);
  const at = (name: string): string => path.join(project.directory, name);
  return {
    project,
    remove: () => undefined,
    at,
    write: (name, text) => writeFileSync(at(name), text),
  };
}

export interface Step {
  readonly prompt: string;
  /** Done before the prompt is sent. */
  readonly before?: () => void;
}

/** One session with several prompts. */
export function talk(
  world: ScenarioWorld,
  script: NonNullable<Scenario['script']>,
  steps: readonly Step[],
  args: readonly string[] = [],
): Promise<ScenarioRun> {
  return drive({ world, script, args }, async (host) => {
    for (const { prompt, before } of steps) {
      before?.();
      host.prompt(prompt);
      await host.next(isResult);
    }
    host.end();
  });
}

/** The texts that the model was shown with its n-th request. */
export function shown(done: Pick<ScenarioRun, 'requests'>, index: number): readonly string[] {
  return userTexts(done.requests[index]?.body);
}

/** The n-th request's blocks that show instruction files. */
export function blocks(done: Pick<ScenarioRun, 'requests'>, index: number): readonly string[] {
  return shown(done, index).filter((text) => /^<system-reminder>\nInstruction/.test(text));
}

export const enforcing = (rules: object): string =>
  `Words.\n\n\`\`\`portcullis\n${JSON.stringify(rules)}\n\`\`\`\n`;
