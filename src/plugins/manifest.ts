import { isRecord, own } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import { basename, join } from '../platform/fs/paths.js';
import type { ConfigProblem } from '../settings/types.js';
import { fatal, type JsonTable, type PluginPlace, readUsualTable } from './files.js';

/** The validated `.claude-plugin/plugin.json`; without the file, only the name. */
export interface Manifest extends JsonTable {
  readonly name: string;
  readonly version?: string | undefined;
  /** Unknown parts that cannot be guards. */
  readonly problems: readonly ConfigProblem[];
}

export type ComponentField = 'skills' | 'commands' | 'agents' | 'hooks' | 'mcpServers';

const MANIFEST = join('.claude-plugin', 'plugin.json');
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

/** The check for the value of each known field. */
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

/** Fields of other programs that have no effect here. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'lspServers',
  'outputStyles',
  'workflows',
  'userConfig',
  'channels',
  'dependencies',
  'experimental',
]);

/** Reads the manifest; without one the plugin is named after its directory. */
export async function readManifest(place: PluginPlace): Promise<Result<Manifest, ConfigProblem>> {
  const read = await readUsualTable(MANIFEST, place);
  if (!read.ok) return read;
  if (read.value === undefined) return withoutManifest(place.directory);
  const { value, file, lineOf } = read.value;
  const broken = (field: string, message: string, remedy: string) =>
    err(fatal({ file, line: lineOf([field]) ?? 1 }, message, remedy));
  for (const [field, fits] of Object.entries(FIELDS)) {
    const said = own(value, field);
    // fail-closed: a component in an unknown form may hold a guard.
    if (said !== undefined && !fits(said)) {
      return broken(field, `\`${field}\` has the wrong shape.`, 'See docs/plugins.md.');
    }
  }
  const name = own(value, 'name');
  const wrong = nameProblem(name);
  if (wrong !== undefined || typeof name !== 'string') {
    const remedy = 'Use letters, digits and hyphens, as in "my-plugin".';
    return broken('name', `\`name\` ${wrong ?? 'is missing'}.`, remedy);
  }
  const component = Object.keys(value).find(isNearlyComponent);
  if (component !== undefined) {
    // fail-closed: guards under a misspelt field would never run.
    const remedy = `The components are called ${COMPONENTS.join(', ')}.`;
    return broken(component, `there is no field \`${visible(component)}\`.`, remedy);
  }
  const version = own(value, 'version');
  return ok({
    ...read.value,
    name,
    version: typeof version === 'string' ? version : undefined,
    problems: unknownFields(read.value),
  });
}

function withoutManifest(directory: string): Result<Manifest, ConfigProblem> {
  const name = basename(directory);
  const wrong = nameProblem(name);
  const file = join(directory, MANIFEST);
  if (wrong === undefined) {
    return ok({ name, file, value: {}, lineOf: () => undefined, problems: [] });
  }
  const message = `the plugin has no manifest, and its directory's name ${wrong}.`;
  const remedy = `Name the plugin in ${MANIFEST}, or rename the directory.`;
  return err(fatal({ file: directory }, message, remedy));
}

/** fail-closed: the name becomes part of skill, agent and server names, which rules match. */
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
  if (own(FIELDS, field) !== undefined || ELSEWHERE.has(field)) return false;
  return nearest(field, COMPONENTS) !== undefined;
}

function unknownFields({ value, file, lineOf }: JsonTable): readonly ConfigProblem[] {
  return Object.keys(value)
    .filter((field) => own(FIELDS, field) === undefined)
    .map((field) => ({
      severity: 'warning',
      file,
      line: lineOf([field]),
      message: ELSEWHERE.has(field)
        ? `\`${field}\` has no effect here.`
        : `there is no field \`${visible(field)}\`.`,
      remedy: 'What it says is not used.',
    }));
}
