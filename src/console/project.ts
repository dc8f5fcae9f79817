import { openProject, type Project } from '../project/project.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a session is kept. */
export interface SessionPlace {
  readonly sessionId: string;
  readonly cwd: string;
}

/** Opens the project of a folder for one request; `settings` is the JSON of a settings file on top of those in force. */
export async function withProject<T>(
  env: Environment,
  cwd: string,
  use: (project: Project) => Promise<T>,
  settings?: string,
): Promise<T> {
  const project = openProject(cwd, { env, trustNotice: 'silent', settings });
  try {
    return await use(project);
  } finally {
    await project.close();
  }
}
