import { SETTINGS } from '../../build/generated/settings-table.js';
import { nearest } from '../lib/text/nearest.js';
import { redact, redactDeep } from '../lib/text/redact.js';
import {
  type KeyFacts,
  type SettingNode,
  strictValues,
} from '../protocol/settings/setting-node.js';
import {
  type Contribution,
  contributionsOf,
  type Merged,
  type MergedKey,
  type ValueStatus,
} from '../settings/merge/merge.js';
import type { ConfigProblem } from '../settings/types.js';
import type { Project } from './project.js';
import type { ProjectSettings } from './settings.js';

/** What `portcullis config --json` prints. */
export interface ConfigReport {
  readonly cwd: string;
  /** Whether a session would start with these settings. */
  readonly starts: boolean;
  readonly trusted: boolean;
  readonly strict: boolean;
  readonly settings: readonly ConfigKey[];
  readonly files: readonly ConfigFile[];
  readonly problems: readonly ConfigProblem[];
}

export interface ConfigKey {
  readonly key: string;
  readonly merge: 'list' | 'strongest' | 'strictest';
  readonly state: 'in use' | 'later' | 'elsewhere';
  /** Strongest source first. */
  readonly values: readonly ConfigValue[];
}

export interface ConfigValue {
  readonly value: unknown;
  readonly source: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly standing: ValueStatus;
  readonly why: string | undefined;
}

export interface ConfigFile {
  readonly path: string;
  readonly source: string;
  readonly state: 'read' | 'not there' | 'unusable' | 'directory';
  /** Absent where trust does not matter. */
  readonly trusted?: boolean;
}

/** Reads every setting with all its sources, and what a session would refuse. */
export async function configReport(project: Project): Promise<ConfigReport> {
  const loaded = await project.settings();
  const problems = [...loaded.problems, ...(await project.rules()).problems];
  const { settings, merged, trusted } = loaded;
  return {
    cwd: project.cwd,
    starts: !problems.some(({ severity }) => severity === 'fatal'),
    trusted,
    strict: settings.strictness.off === undefined,
    settings: [...merged.values()]
      .map((entry) => configKey(merged, entry))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    files: configFiles(loaded),
    problems: problems.map((problem) => ({ ...problem, message: redact(problem.message) })),
  };
}

function configKey(merged: Merged, { key, isList, facts }: MergedKey): ConfigKey {
  return {
    key,
    merge: isList ? 'list' : facts.strictest === true ? 'strictest' : 'strongest',
    state: facts.status ?? 'in use',
    values: contributionsOf(merged, key).map((one) => configValue(key, one)),
  };
}

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH)/i;

function configValue(key: string, one: Contribution): ConfigValue {
  const { source, file, line, standing, why } = one;
  // People show the report to others, so it holds no keys and passwords.
  const isSecret = key.startsWith('env.') && SECRET_NAME.test(key);
  const value = isSecret ? '[secret]' : redactDeep(one.value);
  return { value, source, file, line, standing, why };
}

function configFiles({ settings }: ProjectSettings): readonly ConfigFile[] {
  const read = new Map(settings.files.map((file) => [file.file, file]));
  const named = settings.places.map(({ path, source, stamp }): ConfigFile => {
    const file = read.get(path);
    if (file === undefined) {
      const isDirectory = stamp.startsWith('directory ');
      const state = stamp === '' ? 'not there' : isDirectory ? 'directory' : 'unusable';
      return { path, source, state };
    }
    const ofProject = source === 'project' || source === 'local';
    return { path, source, state: 'read', ...(ofProject ? { trusted: file.trusted } : {}) };
  });
  const texts = settings.files
    .filter(({ file }) => file === undefined)
    .map(({ source }): ConfigFile => {
      const path = source === 'sdk' ? '--managed-settings' : '--settings';
      return { path, source, state: 'read' };
    });
  return [...texts, ...named];
}

/** How the sources of a key are merged and who may set it, a sentence each. Undefined: no such key. */
export function settingMeaning(key: string): readonly string[] | undefined {
  let node: SettingNode | undefined = { type: 'object', keys: SETTINGS };
  let facts: KeyFacts = {};
  for (const name of key.split('.')) {
    node = node === undefined ? undefined : childNode(node, name);
    facts = { ...facts, ...node?.facts };
  }
  if (node === undefined) return undefined;
  const strict = strictValues(facts)
    .map((value) => JSON.stringify(value))
    .join(', then ');
  const exception = facts.strict === undefined ? '' : `, except ${strict}`;
  return [
    node.type === 'list'
      ? 'the lists of all sources add up'
      : facts.strictest === true
        ? `${strict} wins, whichever source sets it`
        : 'the strongest source decides',
    facts.needsTrust === true && `from a project only once the folder is trusted${exception}`,
    facts.scope === 'managed' && 'only an administrator can set it',
    facts.scope === 'user' && "a project's files cannot set it",
    facts.restricts === true ? 'a fault in it stops the start' : 'a fault in it only warns',
    facts.unenforced === true && 'this version cannot enforce it, and refuses to start with it',
    facts.status !== undefined && 'accepted, without effect in this version',
  ].filter((line) => line !== false);
}

/** The setting that a misspelt key may mean. */
export function nearestSetting(key: string): string | undefined {
  return nearest(key, keysBelow('', SETTINGS));
}

function childNode(node: SettingNode, name: string): SettingNode | undefined {
  if (node.type === 'object') return Object.hasOwn(node.keys, name) ? node.keys[name] : undefined;
  return node.type === 'map' ? node.of : undefined;
}

function keysBelow(path: string, keys: Readonly<Record<string, SettingNode>>): readonly string[] {
  return Object.entries(keys).flatMap(([name, node]) => {
    const at = `${path}${name}`;
    return node.type === 'object' ? [at, ...keysBelow(`${at}.`, node.keys)] : [at];
  });
}
