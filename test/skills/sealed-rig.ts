import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type FileMemory, openFileMemory } from '../../src/env/file-memory.js';
import { nodeFileSystem } from '../../src/env/node-fs.js';
import type { TempProject } from '../../src/testing/temp-project.js';
import type { SettingSource } from '../../src/util/sourced.js';

/** Files and directories have to stand still for a while before anything is believed of them. */
const SETTLED_MS = 2_100;

export async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
}

/** What happens to a project between two starts. */
export interface Change {
  make(project: TempProject): void;
  /** What the next start says, and what it does not. */
  readonly says: readonly string[];
  readonly not?: readonly string[];
}

/** What a start remembers: nothing but what earlier ones have written down. */
export function memoryOf(project: TempProject): FileMemory {
  const place = { stateDirectory: path.join(project.root, 'state'), root: project.directory };
  mkdirSync(place.stateDirectory, { recursive: true, mode: 0o700 });
  return openFileMemory(place);
}

/** Where a start looks. */
export function placesOf(project: TempProject) {
  const sources: readonly SettingSource[] = ['user', 'project', 'local'];
  return {
    fs: nodeFileSystem,
    cwd: project.directory,
    configDir: path.join(project.home, '.claude'),
    managedDir: path.join(project.root, 'managed'),
    sources,
    additionalDirectories: () => [],
    trusts: async () => false,
  };
}

export const at = (project: TempProject, name: string): string =>
  path.join(project.directory, name);

export function write(project: TempProject, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(at(project, name)), { recursive: true });
    writeFileSync(at(project, name), text);
  }
}

/** Puts a link in the place of a directory, which goes elsewhere. */
export function moveOut(project: TempProject, name: string): void {
  const outside = path.join(project.root, 'outside');
  renameSync(at(project, name), outside);
  symlinkSync(outside, at(project, name));
}
