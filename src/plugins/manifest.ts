import { messageOf } from '../errors.js';
import { nearest } from '../lib/nearest.js';
import { isRecord, own } from '../lib/own.js';
import { visible } from '../lib/visible.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { basename, isInside, join } from '../platform/fs/paths.js';
import { parseLocatedJson } from '../settings/files/json.js';
import type { ConfigProblem } from '../settings/types.js';

export type PluginFiles = Pick<FileSystem, 'stat' | 'lstat' | 'readText' | 'realPath' | 'list'>;

/** The head of a plugin, checked field by field. */
export interface Manifest {
  readonly name: string;
  readonly version?: string;
  /** The manifest's own path; also where there is none. */
  readonly file: string;
  /** Undefined: not said. */
  field(name: ComponentField): unknown;
  lineOf(name: string): number | undefined;
  /** What is not understood, and loses nothing that guards. */
  readonly problems: readonly ConfigProblem[];
}

export type ComponentField = 'skills' | 'commands' | 'agents' | 'hooks' | 'mcpServers';

export type ReadManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problem: ConfigProblem };

export const MANIFEST = join('.claude-plugin', 'plugin.json');
const MOST_BYTES = 1024 * 1024;
const NAME = /^[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*$/;
const MOST_NAME_CHARS = 64;

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isList: Check = (value) => Array.isArray(value);
const isTextOrTable: Check = (value) => isText(value) || isRecord(value);
const isPaths: Check = (value) => isText(value) || (Array.isArray(value) && value.every(isText));
const isPathsOrTable: Check = (value) =>
  isTextOrTable(value) || (Array.isArray(value) && value.every(isTextOrTable));

/** What each known field may hold. */
const FIELDS: Readonly<Record<string, Check>> = {
  $schema: isText,
  name: isText,
  displayName: isText,
  version: isText,
  description: isText,
  author: isTextOrTable,
  homepage: isText,
  repository: isTextOrTable,
  license: isText,
  keywords: isList,
  metadata: isRecord,
  defaultEnabled: isFlag,
  skills: isPaths,
  commands: isPaths,
  agents: isPaths,
  hooks: isPathsOrTable,
  mcpServers: isPathsOrTable,
};

/** Known elsewhere, and without effect here. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'lspServers',
  'outputStyles',
  'workflows',
  'userConfig',
  'channels',
  'dependencies',
  'experimental',
]);

/** Reads `.claude-plugin/plugin.json`. Without one the directory's name is the plugin's. */
export async function readManifest(directory: string, fs: PluginFiles): Promise<ReadManifest> {
  const file = join(directory, MANIFEST);
  const broken = (message: string, remedy: string, line?: number): ReadManifest => ({
    ok: false,
    problem: {
      severity: 'fatal',
      file,
      line,
      message,
      remedy,
    },
  });
  let text: string;
  try {
    if ((await fs.lstat(file)) === undefined) return withoutManifest(directory, file);
    // fail-closed: what it leads to elsewhere is not what was let in.
    if (!isInside(await fs.realPath(file), directory)) {
      return broken('it leads out of the plugin.', 'Put the manifest itself there.');
    }
    text = await fs.readText(file, { maxBytes: MOST_BYTES });
  } catch (thrown) {
    return broken(`the manifest cannot be read: ${messageOf(thrown)}.`, 'Make it readable.');
  }
  const json = parseLocatedJson(text);
  if (!json.ok) {
    return broken(`it is not valid JSON: ${json.message}.`, 'Correct it.', json.line);
  }
  const { value } = json;
  if (!isRecord(value)) return broken('it is not a JSON object.', 'Write { "name": "…" }.', 1);
  const lineOf = (name: string): number | undefined => json.lineOf([name]);
  for (const [field, fits] of Object.entries(FIELDS)) {
    const said = own(value, field);
    // fail-closed: a component that is written in another way may hold a guard.
    if (said !== undefined && !fits(said)) {
      return broken(`\`${field}\` has the wrong shape.`, 'See docs/plugins.md.', lineOf(field));
    }
  }
  const name = own(value, 'name');
  const wrong = nameProblem(name);
  if (wrong !== undefined || typeof name !== 'string') {
    const remedy = 'Use letters, digits and hyphens, as in "my-plugin".';
    return broken(`\`name\` ${wrong ?? 'is missing'}.`, remedy, lineOf('name') ?? 1);
  }
  const component = Object.keys(value).find(isNearlyComponent);
  if (component !== undefined) {
    // fail-closed: guards under another name would not be asked.
    const remedy = `The components are called ${COMPONENTS.join(', ')}.`;
    return broken(`there is no field \`${visible(component)}\`.`, remedy, lineOf(component));
  }
  const version = own(value, 'version');
  const manifest: Manifest = {
    name,
    ...(typeof version === 'string' ? { version } : {}),
    file,
    field: (field) => own(value, field),
    lineOf,
    problems: unknownFields(value, { file, lineOf }),
  };
  return { ok: true, manifest };
}

function withoutManifest(directory: string, file: string): ReadManifest {
  const name = basename(directory);
  const wrong = nameProblem(name);
  if (wrong === undefined) {
    const manifest = { name, file, field: () => undefined, lineOf: () => undefined, problems: [] };
    return { ok: true, manifest };
  }
  const problem: ConfigProblem = {
    severity: 'fatal',
    file: directory,
    message: `the plugin has no manifest, and its directory's name ${wrong}.`,
    remedy: `Name the plugin in ${MANIFEST}, or rename the directory.`,
  };
  return { ok: false, problem };
}

/** fail-closed: the name becomes part of others, which rules are written for. */
function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'is missing';
  if (name.length > MOST_NAME_CHARS) return `is longer than ${MOST_NAME_CHARS} characters`;
  return NAME.test(name) ? undefined : `"${visible(name)}" is no name for a plugin`;
}

const COMPONENTS: readonly ComponentField[] = [
  'skills',
  'commands',
  'agents',
  'hooks',
  'mcpServers',
];

function isNearlyComponent(field: string): boolean {
  return own(FIELDS, field) === undefined && !ELSEWHERE.has(field)
    ? nearest(field, COMPONENTS) !== undefined
    : false;
}

function unknownFields(
  value: Readonly<Record<string, unknown>>,
  at: { readonly file: string; lineOf(name: string): number | undefined },
): readonly ConfigProblem[] {
  return Object.keys(value)
    .filter((field) => own(FIELDS, field) === undefined)
    .map((field) => {
      const line = at.lineOf(field);
      return {
        severity: 'warning' as const,
        file: at.file,
        line,
        message: ELSEWHERE.has(field)
          ? `\`${field}\` has no effect here.`
          : `there is no field \`${visible(field)}\`.`,
        remedy: 'What it says is not used.',
      };
    });
}
