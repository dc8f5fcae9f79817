import type { LoadedSettings } from '../../settings/load.js';
import {
  type Contribution,
  contributionsOf,
  type Merged,
  type MergedKey,
  type Standing,
} from '../../settings/merge.js';
import type { ConfigProblem } from '../../settings/types.js';
import { redact, redactDeep } from '../../util/redact.js';

export interface ConfigState {
  readonly cwd: string;
  readonly loaded: LoadedSettings;
  readonly trusted: boolean;
  readonly problems: readonly ConfigProblem[];
}

/** What `portcullis config --json` prints. */
export interface ConfigReport {
  readonly cwd: string;
  /** Whether a session would start with these settings. */
  readonly starts: boolean;
  readonly trusted: boolean;
  readonly strict: boolean;
  readonly settings: readonly ReportedKey[];
  readonly files: readonly ReportedFile[];
  readonly problems: readonly ConfigProblem[];
}

export interface ReportedKey {
  readonly key: string;
  readonly merge: 'list' | 'strongest' | 'strictest';
  readonly state: 'in use' | 'later' | 'elsewhere';
  /** Strongest source first. */
  readonly values: readonly ReportedValue[];
}

export interface ReportedValue {
  readonly value: unknown;
  readonly source: string;
  readonly file?: string;
  readonly line?: number;
  readonly standing: Standing;
  readonly why?: string;
}

export interface ReportedFile {
  readonly path: string;
  readonly source: string;
  readonly state: 'read' | 'not there' | 'unusable' | 'directory';
  /** Absent where trust does not matter. */
  readonly trusted?: boolean;
}

export function configReport({ cwd, loaded, trusted, problems }: ConfigState): ConfigReport {
  const { settings, merged } = loaded;
  return {
    cwd,
    starts: !problems.some(({ severity }) => severity === 'fatal'),
    trusted,
    strict: settings.strictness.off === undefined,
    settings: [...merged.values()].map((entry) => reportedKey(merged, entry)).sort(byKey),
    files: reportedFiles(loaded),
    problems: problems.map((problem) => ({ ...problem, message: redact(problem.message) })),
  };
}

function reportedKey(merged: Merged, { key, isList, facts }: MergedKey): ReportedKey {
  return {
    key,
    merge: isList ? 'list' : facts.strictest === true ? 'strictest' : 'strongest',
    state: facts.status ?? 'in use',
    values: contributionsOf(merged, key).map((one) => reportedValue(key, one)),
  };
}

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH)/i;

function reportedValue(key: string, one: Contribution): ReportedValue {
  const { value, source, file, line, standing, why } = one;
  // The list is for showing around; keys and passwords are not.
  const isSecret = key.startsWith('env.') && SECRET_NAME.test(key);
  return {
    value: isSecret ? '[secret]' : redactDeep(value),
    source,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    standing,
    ...(why === undefined ? {} : { why }),
  };
}

function reportedFiles({ settings }: LoadedSettings): readonly ReportedFile[] {
  const read = new Map(settings.files.map((file) => [file.file, file]));
  const named = settings.places.map(({ path, source, stamp }): ReportedFile => {
    const file = read.get(path);
    if (file === undefined) {
      const kind =
        stamp === '' ? 'not there' : stamp.startsWith('directory ') ? 'directory' : 'unusable';
      return { path, source, state: kind };
    }
    const ofProject = source === 'project' || source === 'local';
    return { path, source, state: 'read', ...(ofProject ? { trusted: file.trusted } : {}) };
  });
  const texts = settings.files
    .filter(({ file }) => file === undefined)
    .map(({ source }): ReportedFile => {
      const path = source === 'sdk' ? '--managed-settings' : '--settings';
      return { path, source, state: 'read' };
    });
  return [...texts, ...named];
}

function byKey(a: ReportedKey, b: ReportedKey): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
