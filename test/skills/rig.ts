import path from 'node:path';
import { afterEach } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import {
  type LiveSkillBook,
  openSkillBook,
  type SkillBookDeps,
} from '../../src/skills/discovery/book.js';
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

export interface World {
  readonly project: TempProject;
  readonly book: LiveSkillBook;
  names(): Promise<readonly string[]>;
  /** Why something is not in force, by its name. */
  reason(name: string): Promise<string | undefined>;
}

export interface WorldOptions extends Partial<Omit<SkillBookDeps, 'fs'>> {
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  readonly git?: boolean;
  /** Below the project's directory. */
  readonly start?: string;
  readonly fs?: (real: SkillBookDeps['fs']) => SkillBookDeps['fs'];
}

/** A project on disk and its skills. The managed directory is `managed` beside the project. */
export function openWorld(options: WorldOptions = {}): World {
  const { files, home, git, start = '.', fs, ...deps } = options;
  const project = makeTempProject({
    ...(files === undefined ? {} : { files }),
    ...(home === undefined ? {} : { home }),
    ...(git === undefined ? {} : { git }),
  });
  projects.add(project);
  const book = openSkillBook({
    cwd: path.join(project.directory, start),
    configDir: path.join(project.home, '.claude'),
    managedDir: path.join(project.root, 'managed'),
    sources: ['user', 'project', 'local'],
    additionalDirectories: () => [],
    trusts: async () => false,
    isIgnored: async () => false,
    ...deps,
    fs: fs === undefined ? nodeFileSystem : fs(nodeFileSystem),
  });
  return {
    project,
    book,
    names: async () => (await book.list()).map(({ name }) => name),
    reason: async (name) => (await book.skipped()).find((one) => one.name === name)?.reason,
  };
}

export function skillText(head: string, body = 'BODY'): string {
  return `---\n${head}\n---\n${body}`;
}

/** The file of a project's or user's skill, whose text tells it from others of its name. */
export function oneSkill(name: string, description = name): Readonly<Record<string, string>> {
  const text = skillText(`description: ${description}`, `B_${description}`);
  return { [`.claude/skills/${name}/SKILL.md`]: text };
}
