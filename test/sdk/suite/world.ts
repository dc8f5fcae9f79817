import { onTestFinished } from 'vitest';
import type { Actor, Reply, ReplyFunction } from '../../../src/model/scripted/format.js';
import {
  type FakeModelServer,
  startFakeModelServer,
} from '../../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../../src/testing/temp-project.js';

/** A project, a home and a scripted model behind real HTTP, for one test. */
export interface World {
  readonly project: TempProject;
  readonly model: FakeModelServer;
  readonly env: Readonly<Record<string, string>>;
}

export type Script = readonly (Reply | ReplyFunction)[];

export interface WorldOptions {
  readonly script?: Script;
  readonly actors?: readonly Actor[];
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  /** Goes on in the project of another world, with a model of its own. */
  readonly in?: World;
}

/** Makes a world; it goes away with the test. */
export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const { script, actors, files, home } = options;
  const model = await startFakeModelServer({
    ...(script === undefined ? {} : { script }),
    ...(actors === undefined ? {} : { actors }),
  });
  const project =
    options.in?.project ??
    makeTempProject({
      ...(files === undefined ? {} : { files }),
      ...(home === undefined ? {} : { home }),
    });
  onTestFinished(async () => {
    await model.close();
    if (options.in === undefined) project.remove();
  });
  return { project, model, env: environment(project, model.url) };
}

/** The whole environment of a session: nothing of the machine that the tests run on. */
export function environment(project: TempProject, url: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: project.home,
    LANG: 'C.UTF-8',
    TMPDIR: project.root,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'test-key',
    CLAUDE_CODE_MAX_RETRIES: '1',
  };
}
