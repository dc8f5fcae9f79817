import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createInstructionBook,
  type InstructionBook,
  type InstructionBookParts,
} from '../../src/context/instructions/book.js';
import {
  DEFAULT_INSTRUCTION_SETTINGS,
  type InstructionSettings,
} from '../../src/context/instructions/settings.js';
import type { LoadedFiles } from '../../src/context/instructions/types.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { parseLocatedJson } from '../../src/settings/files/json.js';

/** Path → text, bytes, or where a link leads. */
export type Files = Readonly<Record<string, string | Uint8Array | { readonly link: string }>>;

export interface BookOptions extends Partial<Omit<InstructionBookParts, 'settings' | 'cwd'>> {
  readonly settings?: Partial<InstructionSettings>;
  /** From the project. */
  readonly cwd?: string;
}

export interface World {
  readonly root: string;
  /** A path of the project. */
  at(name: string): string;
  /** Paths begin with `project/`, `home/`, `managed/`, `outside/`. */
  write(files: Files): void;
  book(options?: BookOptions): InstructionBook;
  /** Texts that a look has found, without blanks around them. */
  texts(found: Pick<LoadedFiles, 'files'>): readonly string[];
  /** Skipped files as `name: kind`. */
  skipped(found: LoadedFiles): readonly string[];
}

/** A directory with a project, a home, an administrator's place and something outside. */
export function bookWorld(files: Files = {}, options: { git?: boolean } = {}): World {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'book-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['project', 'home/.claude', 'managed', 'outside']) {
    mkdirSync(path.join(root, name), { recursive: true });
  }
  const world: World = {
    root,
    at: (name) => path.join(root, 'project', name),
    write(more) {
      for (const [name, content] of Object.entries(more)) {
        const file = path.join(root, name);
        mkdirSync(path.dirname(file), { recursive: true });
        if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, file);
        else
          writeFileSync(
            file,
            typeof content === 'string' ? content.replaceAll('{ROOT}', root) : content,
          );
      }
    },
    book: ({ settings, cwd = '.', ...more } = {}) =>
      createInstructionBook({
        fs: nodeFileSystem,
        cwd: path.join(root, 'project', cwd),
        home: path.join(root, 'home'),
        configDir: path.join(root, 'home/.claude'),
        managedDir: path.join(root, 'managed'),
        env: {},
        sources: ['user', 'project', 'local'],
        settings: { ...DEFAULT_INSTRUCTION_SETTINGS, ...settings },
        trusted: false,
        approvals: { answerTo: async () => undefined },
        locateJson: parseLocatedJson,
        ...more,
      }),
    texts: (found) => found.files.map(({ text }) => text.trim()),
    skipped: (found) =>
      found.skipped.map(({ path: file, kind }) => `${path.relative(root, file)}: ${kind}`),
  };
  world.write(files);
  if (options.git === true) {
    execFileSync('git', ['init', '-q'], { cwd: path.join(root, 'project'), stdio: 'ignore' });
  }
  return world;
}

export const never = new AbortController().signal;
