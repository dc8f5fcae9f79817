import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { basename, join } from '../../platform/fs/paths.js';

export type CommandPurpose = 'build' | 'test' | 'lint';

/** A command that the project's own files define or imply. */
export interface ProjectCommand {
  readonly purpose: CommandPurpose;
  readonly command: string;
  /** The file that says so. */
  readonly file: string;
}

/** What the files of a directory say about the project in it. */
export interface Repository {
  readonly name: string;
  readonly description?: string | undefined;
  /** `TypeScript`, `Python`, `Rust`. */
  readonly languages: readonly string[];
  /** `npm`, `cargo`, `uv`. */
  readonly packageManagers: readonly string[];
  readonly commands: readonly ProjectCommand[];
  /** Commands that make the work public. */
  readonly publishing: readonly string[];
  /** Directories at the top that people look for. */
  readonly directories: readonly string[];
}

type Facts = Partial<Omit<Repository, 'name' | 'directories' | 'commands'>> & {
  readonly commands?: Readonly<Record<string, CommandPurpose>> | undefined;
};

interface Files {
  readonly names: ReadonlySet<string>;
  /** Empty where the file cannot be read. */
  text(name: string): Promise<string>;
}

const MAX_BYTES = 1024 * 1024;

/** Reads what package.json, Makefile, pyproject.toml and the like say. Runs nothing. */
export async function detectRepository(
  fs: Pick<FileSystem, 'list' | 'readText'>,
  directory: string,
): Promise<Repository> {
  const entries = await fs.list(directory);
  const files: Files = {
    names: new Set(entries.map(({ name }) => name)),
    text: (name) => fs.readText(join(directory, name), { maxBytes: MAX_BYTES }).catch(() => ''),
  };
  const found: (Facts & { readonly file: string })[] = [];
  for (const [pattern, read] of DETECTORS) {
    const file = [...files.names].find((name) => pattern.test(name));
    if (file !== undefined) found.push({ ...(await read(files, file)), file });
  }
  const all = <K extends 'languages' | 'packageManagers' | 'publishing'>(
    key: K,
  ): readonly string[] => [...new Set(found.flatMap((facts) => facts[key] ?? []))];
  return {
    name: basename(directory),
    description: found.find(({ description }) => description !== undefined)?.description,
    languages: all('languages'),
    packageManagers: all('packageManagers'),
    publishing: all('publishing'),
    commands: found.flatMap(({ commands = {}, file }) =>
      Object.entries(commands).map(([command, purpose]) => ({ command, purpose, file })),
    ),
    directories: entries.flatMap(({ name, kind }) =>
      kind === 'directory' && Object.hasOwn(DIRECTORIES, name) ? [name] : [],
    ),
  };
}

/** What directories of these names hold everywhere. */
export const DIRECTORIES: Readonly<Record<string, string>> = {
  src: 'source code',
  lib: 'library code',
  app: 'the application',
  cmd: 'programs',
  internal: 'private packages',
  pkg: 'packages',
  packages: 'packages of the workspace',
  crates: 'crates of the workspace',
  test: 'tests',
  tests: 'tests',
  spec: 'tests',
  examples: 'examples',
  scripts: 'scripts',
  docs: 'documentation',
};

const PURPOSES: Readonly<Record<string, CommandPurpose>> = {
  build: 'build',
  test: 'test',
  lint: 'lint',
  check: 'lint',
  typecheck: 'lint',
  'type-check': 'lint',
};

/** The commands of those names that mean the same in every project. */
function named(
  names: readonly string[],
  command: (name: string) => string,
): Readonly<Record<string, CommandPurpose>> {
  return Object.fromEntries(
    Object.entries(PURPOSES).flatMap(([name, purpose]) =>
      names.includes(name) ? [[command(name), purpose]] : [],
    ),
  );
}

const DETECTORS: readonly (readonly [RegExp, (files: Files, file: string) => Promise<Facts>])[] = [
  [/^package\.json$/, readPackageJson],
  [/^deno\.jsonc?$/, readDeno],
  [/^(?:pyproject\.toml|setup\.py|requirements\.txt)$/, readPython],
  [
    /^Cargo\.toml$/,
    async () => ({
      languages: ['Rust'],
      packageManagers: ['cargo'],
      publishing: ['cargo publish'],
      commands: { 'cargo build': 'build', 'cargo test': 'test', 'cargo clippy': 'lint' },
    }),
  ],
  [
    /^go\.mod$/,
    async () => ({
      languages: ['Go'],
      packageManagers: ['go'],
      commands: { 'go build ./...': 'build', 'go test ./...': 'test', 'go vet ./...': 'lint' },
    }),
  ],
  [
    /^pom\.xml$/,
    async ({ names }) => {
      const maven = names.has('mvnw') ? './mvnw' : 'mvn';
      const commands = { [`${maven} package`]: 'build', [`${maven} test`]: 'test' } as const;
      return {
        languages: ['Java'],
        packageManagers: ['Maven'],
        publishing: [`${maven} deploy`],
        commands,
      };
    },
  ],
  [
    /^build\.gradle(?:\.kts)?$/,
    async ({ names }) => {
      const gradle = names.has('gradlew') ? './gradlew' : 'gradle';
      const commands = { [`${gradle} build`]: 'build', [`${gradle} test`]: 'test' } as const;
      const publishing = [`${gradle} publish`];
      return { languages: ['Java'], packageManagers: ['Gradle'], publishing, commands };
    },
  ],
  [
    /\.(?:sln|csproj)$/,
    async () => ({
      languages: ['C#'],
      packageManagers: ['dotnet'],
      publishing: ['dotnet nuget push'],
      commands: { 'dotnet build': 'build', 'dotnet test': 'test' },
    }),
  ],
  [
    /^Gemfile$/,
    async ({ names }) => ({
      languages: ['Ruby'],
      packageManagers: ['bundler'],
      publishing: ['gem push'],
      commands: names.has('spec') ? { 'bundle exec rspec': 'test' } : undefined,
    }),
  ],
  [/^composer\.json$/, readComposer],
  [
    /^mix\.exs$/,
    async () => ({
      languages: ['Elixir'],
      packageManagers: ['mix'],
      publishing: ['mix hex.publish'],
      commands: { 'mix compile': 'build', 'mix test': 'test' },
    }),
  ],
  [
    /^(?:GNUm|m|M)akefile$/,
    async (files, file) => ({
      commands: named(targets(await files.text(file)), (name) => `make ${name}`),
    }),
  ],
  [
    /^\.?[jJ]ustfile$/,
    async (files, file) => ({
      commands: named(targets(await files.text(file)), (name) => `just ${name}`),
    }),
  ],
];

/** Names that begin a line and end with a colon, of a Makefile or a justfile. */
function targets(text: string): readonly string[] {
  return [...text.matchAll(/^([\w-]+)[^:=\n]*:(?!=)/gm)].map(([, name = '']) => name);
}

async function readObject(files: Files, file: string): Promise<Readonly<Record<string, unknown>>> {
  const parsed = parseJson(await files.text(file));
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}

const LOCK_FILES = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
] as const;

/** fail-closed: a description that could be more than a sentence of AGENTS.md (headings, includes, blocks) is left out. */
const PLAIN_SENTENCE = /^[^\p{C}\p{Zl}\p{Zp}#`~@<-][^\p{C}\p{Zl}\p{Zp}`~@<]{0,200}$/u;

async function readPackageJson(files: Files, file: string): Promise<Facts> {
  const { names } = files;
  const { scripts, description, packageManager } = await readObject(files, file);
  const all = isRecord(scripts) ? scripts : {};
  // What `npm init` writes only fails.
  const own = Object.keys(all).filter((name) => !String(all[name]).includes('no test specified'));
  const chosen =
    ['pnpm', 'yarn', 'bun', 'npm'].find((one) => String(packageManager).startsWith(`${one}@`)) ??
    LOCK_FILES.find(([lock]) => names.has(lock))?.[1] ??
    'npm';
  const run = (name: string): string =>
    chosen === 'bun' || (chosen === 'npm' && name !== 'test')
      ? `${chosen} run ${name}`
      : `${chosen} ${name}`;
  return {
    description:
      typeof description === 'string' && PLAIN_SENTENCE.test(description) ? description : undefined,
    languages: [names.has('tsconfig.json') ? 'TypeScript' : 'JavaScript'],
    packageManagers: [chosen],
    publishing: [chosen === 'yarn' ? 'yarn npm publish' : `${chosen} publish`],
    commands: named(own, run),
  };
}

async function readDeno(files: Files, file: string): Promise<Facts> {
  const { tasks } = await readObject(files, file);
  const own = named(isRecord(tasks) ? Object.keys(tasks) : [], (name) => `deno task ${name}`);
  return {
    languages: ['TypeScript'],
    packageManagers: ['deno'],
    publishing: ['deno publish'],
    commands: { ...own, 'deno test': 'test', 'deno lint': 'lint' },
  };
}

async function readComposer(files: Files, file: string): Promise<Facts> {
  const { scripts } = await readObject(files, file);
  const own = isRecord(scripts) ? Object.keys(scripts) : [];
  return {
    languages: ['PHP'],
    packageManagers: ['composer'],
    commands: named(own, (name) => `composer ${name}`),
  };
}

async function readPython(files: Files, file: string): Promise<Facts> {
  const { names } = files;
  const text = `${await files.text(file)}\n${await files.text('setup.cfg')}`;
  const manager = names.has('uv.lock') ? 'uv' : names.has('poetry.lock') ? 'poetry' : 'pip';
  const prefix = manager === 'pip' ? '' : `${manager} run `;
  const has = (tool: string): boolean =>
    text.includes(`[tool.${tool}`) || text.includes(`[${tool}`);
  const commands: Record<string, CommandPurpose> = {};
  if (has('pytest') || names.has('pytest.ini') || names.has('conftest.py') || names.has('tests'))
    commands[`${prefix}pytest`] = 'test';
  if (names.has('tox.ini') || has('tox')) commands[`${prefix}tox`] = 'test';
  if (has('ruff') || names.has('ruff.toml')) commands[`${prefix}ruff check .`] = 'lint';
  if (has('mypy') || names.has('mypy.ini')) commands[`${prefix}mypy .`] = 'lint';
  return {
    languages: ['Python'],
    packageManagers: [manager],
    publishing: [manager === 'pip' ? 'twine upload' : `${manager} publish`],
    commands,
  };
}
