import path from 'node:path';
import { afterEach } from 'vitest';
import { AgentBook, type AgentBookDeps } from '../../src/agents/definitions/definitions.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

const projects = new Set<TempProject>();
afterEach(() => {
  for (const project of projects) project.remove();
  projects.clear();
});

export interface AgentWorld {
  readonly project: TempProject;
  readonly book: AgentBook;
  /** Of what files and hosts define. */
  names(): Promise<readonly string[]>;
  /** The description of the one in force: tests tell definitions apart by it. */
  description(name: string): Promise<string | undefined>;
  /** What is said about a file, by the end of its path. */
  messages(file: string): Promise<readonly string[]>;
}

export interface AgentWorldOptions extends Partial<Omit<AgentBookDeps, 'fs'>> {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  readonly git?: boolean;
  /** Below the project's directory. */
  readonly start?: string;
  readonly fs?: (real: AgentBookDeps['fs']) => AgentBookDeps['fs'];
  /** Added directories, from the project's root directory. */
  readonly added?: readonly string[];
}

/** A project on disk and its agents. The managed directory is `managed` beside the project. */
export function openAgentWorld(options: AgentWorldOptions = {}): AgentWorld {
  const { files, home, git, start = '.', fs, added = [], ...deps } = options;
  const project = makeTempProject({
    ...(files === undefined ? {} : { files }),
    ...(home === undefined ? {} : { home }),
    ...(git === undefined ? {} : { git }),
  });
  projects.add(project);
  const book = new AgentBook({
    cwd: path.join(project.directory, start),
    configDir: path.join(project.home, '.claude'),
    managedDir: path.join(project.root, 'managed'),
    sources: ['user', 'project', 'local'],
    additionalDirectories: () => added.map((one) => path.join(project.root, one)),
    trusts: async () => true,
    ...deps,
    fs: fs === undefined ? nodeFileSystem : fs(nodeFileSystem),
  });
  return {
    project,
    book,
    names: async () =>
      (await book.list()).filter(({ source }) => source !== 'builtin').map(({ name }) => name),
    description: async (name) => (await book.find(name))?.description,
    messages: async (file) =>
      (await book.problems()).filter(({ place }) => place.endsWith(file)).map((one) => one.message),
  };
}

export function agentText(name: string, description = name, more = ''): string {
  return `---\nname: ${name}\ndescription: ${description}\n${more}---\nP_${description}\n`;
}
