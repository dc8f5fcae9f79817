import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Path → text, a value written as JSON, or a special kind of entry. */
export type ProjectFiles = Readonly<Record<string, string | ProjectEntry | readonly unknown[]>>;

export type ProjectEntry =
  | { readonly text: string; readonly mode?: number }
  | { readonly base64: string }
  | { readonly symlink: string }
  | { readonly directory: true }
  | { readonly json: unknown };

/** A throw-away project with a home of its own. */
export interface TempProject {
  readonly root: string;
  readonly directory: string;
  readonly home: string;
  /** Absolute path of a file of the project. */
  at(name: string): string;
  read(name: string): string;
  exists(name: string): boolean;
  write(name: string, text: string): void;
  remove(): void;
}

export function makeTempProject(
  options: {
    files?: ProjectFiles;
    home?: ProjectFiles;
    git?: boolean;
    /** Where it goes. Absent: where temporary files go, which is a private place inside a sandbox. */
    under?: string;
  } = {},
): TempProject {
  // Resolved, because what runs inside reports the real path.
  const root = realpathSync(mkdtempSync(path.join(options.under ?? tmpdir(), 'portcullis-')));
  const directory = path.join(root, 'project');
  const home = path.join(root, 'home');
  mkdirSync(directory);
  mkdirSync(home);
  writeTree(directory, options.files ?? {});
  writeTree(home, options.home ?? {});
  if (options.git === true) initRepository(directory);
  const at = (name: string): string => path.join(directory, name);
  return {
    root,
    directory,
    home,
    at,
    read: (name) => readFileSync(at(name), 'utf8'),
    exists: (name) => existsSync(at(name)),
    write: (name, text) => writeTree(directory, { [name]: text }),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

function writeTree(base: string, files: ProjectFiles): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(base, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeEntry(file, content);
  }
}

function writeEntry(file: string, content: ProjectFiles[string]): void {
  const entry: ProjectEntry =
    typeof content === 'string'
      ? { text: content }
      : Array.isArray(content)
        ? { json: content }
        : (content as ProjectEntry);
  if ('symlink' in entry) symlinkSync(entry.symlink, file);
  else if ('directory' in entry) mkdirSync(file, { recursive: true });
  else if ('base64' in entry) writeFileSync(file, Buffer.from(entry.base64, 'base64'));
  else if ('json' in entry) writeFileSync(file, JSON.stringify(entry.json, null, 2));
  else {
    writeFileSync(file, entry.text);
    if (entry.mode !== undefined) chmodSync(file, entry.mode);
  }
}

function initRepository(directory: string): void {
  const git = (...args: string[]): unknown =>
    execFileSync(
      'git',
      [
        '-c',
        'user.name=test',
        '-c',
        'user.email=test@example.invalid',
        '-c',
        'init.defaultBranch=main',
        ...args,
      ],
      {
        cwd: directory,
        stdio: 'ignore',
      },
    );
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'first');
}
