import { messageOf, systemCodeOf } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { dirname, join, resolve } from '../../platform/fs/paths.js';
import { lookAtLevels } from '../../platform/fs/project-levels.js';
import type { ConfigProblem, SettingsFile, WatchedPath } from '../types.js';
import { parseLocatedJson } from './json.js';

export type ProjectSource = 'user' | 'project' | 'local';

export interface SettingsPlaces {
  readonly fs: Pick<FileSystem, 'readText' | 'stat' | 'list'>;
  readonly cwd: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  readonly managedDir: string;
  /** What `--settings` was given: JSON text or a file name. */
  readonly flagSettings?: string | undefined;
  /** What the host adds above the user's settings, as JSON text: only what restricts counts. */
  readonly hostSettings?: string | undefined;
  /** Which of the optional sources count. */
  readonly sources: readonly ProjectSource[];
  readonly trustProject: boolean;
  /** The user's settings as text, in place of every file: nothing is read. */
  readonly only?: { readonly file: string; readonly text: string };
}

export interface ReadSettings {
  /** Strongest source first, nearest directory first. */
  readonly files: readonly SettingsFile[];
  readonly problems: readonly ConfigProblem[];
  /** Every path that was looked at: files, and directories whose content counts. */
  readonly places: readonly WatchedPath[];
}

/** Reads every settings file there is. */
export async function readSettingsFiles(places: SettingsPlaces): Promise<ReadSettings> {
  const { only, configDir } = places;
  if (only !== undefined) {
    return parsed({ source: 'user', root: configDir, trusted: true, file: only.file }, only.text);
  }
  const administrators = await managed(places);
  const wanted = [
    ...administrators.files,
    ...host(places),
    ...flag(places),
    ...projectFiles(places),
    ...(places.sources.includes('user') ? [user(places)] : []),
  ];
  const read = await Promise.all(wanted.map((place) => readOne(place, places.fs)));
  return {
    files: read.flatMap((one) => one.files),
    problems: [...administrators.problems, ...read.flatMap((one) => one.problems)],
    places: [administrators.dropIns, ...read.flatMap((one) => one.places)],
  };
}

interface Place {
  readonly source: SettingsFile['source'];
  readonly root: string;
  readonly trusted: boolean;
  readonly file?: string;
  readonly text?: string;
  /** A file that must exist because somebody named it. */
  readonly required?: boolean;
}

const DROP_INS = 'managed-settings.d';
/** A settings file that is larger is a mistake, or an attack on the start. */
const MOST_BYTES = 2 * 1024 * 1024;

/** The base file, and above it each drop-in file, the alphabetically last one strongest. */
async function managed(places: SettingsPlaces): Promise<{
  files: readonly Place[];
  problems: readonly ConfigProblem[];
  dropIns: WatchedPath;
}> {
  const root = places.managedDir;
  const place = (file: string): Place => ({ source: 'managed', root, trusted: true, file });
  const base = place(join(root, 'managed-settings.json'));
  const directory = join(root, DROP_INS);
  let dropIns: WatchedPath = { path: directory, source: 'managed', stamp: '' };
  try {
    const stat = await places.fs.stat(directory);
    dropIns = { path: directory, source: 'managed', stamp: fingerprint(stat) };
    if (stat?.kind !== 'directory') return { files: [base], problems: [], dropIns };
    const names = (await places.fs.list(directory))
      .filter(({ name }) => name.endsWith('.json') && !name.startsWith('.'))
      .map(({ name }) => name);
    const above = names.reverse().map((name) => place(join(directory, name)));
    return { files: [...above, base], problems: [], dropIns };
  } catch (thrown) {
    // fail-closed: an administrator's directory that cannot be listed may hold deny rules.
    const { problems } = fatal(place(directory), {
      message: `the managed settings cannot be listed: ${messageOf(thrown)}.`,
      remedy: 'Make the directory readable or remove it.',
    });
    return { files: [base], problems, dropIns };
  }
}

function host({ hostSettings, cwd }: SettingsPlaces): readonly Place[] {
  if (hostSettings === undefined || hostSettings.trim() === '') return [];
  return [{ source: 'sdk', trusted: true, root: cwd, text: hostSettings }];
}

function flag(places: SettingsPlaces): readonly Place[] {
  const given = places.flagSettings?.trim() ?? '';
  if (given === '') return [];
  const base = { source: 'cli', trusted: true, root: places.cwd } as const;
  if (given.startsWith('{')) return [{ ...base, text: given }];
  const file = resolve(places.cwd, given);
  return [{ ...base, file, root: dirname(file), required: true }];
}

function user(places: SettingsPlaces): Place {
  const file = join(places.configDir, 'settings.json');
  return { source: 'user', root: places.configDir, trusted: true, file };
}

/** Local before project in each directory's kind; from the start directory up to the repository root. */
function projectFiles(places: SettingsPlaces): readonly Place[] {
  const levels = lookAtLevels(places.cwd);
  const userFile = join(places.configDir, 'settings.json');
  const of = (source: 'local' | 'project', name: string): Place[] =>
    places.sources.includes(source)
      ? levels
          .map(({ path: root }) => ({
            source,
            root,
            trusted: places.trustProject,
            file: join(root, '.claude', name),
          }))
          // Started in the home directory, the user's own file is not a project's.
          .filter((place) => place.file !== userFile)
      : [];
  return [...of('local', 'settings.local.json'), ...of('project', 'settings.json')];
}

async function readOne(place: Place, fs: SettingsPlaces['fs']): Promise<ReadSettings> {
  const { source, root, trusted, file, text: given } = place;
  if (given !== undefined || file === undefined) return parsed(place, given ?? '');
  let stamp = '';
  try {
    const stat = await fs.stat(file);
    stamp = fingerprint(stat);
    const places = [{ path: file, source, stamp }];
    if (stat === undefined && place.required !== true) return { files: [], problems: [], places };
    const foreign =
      source === 'managed' ? await foreignPath(fs, [file, dirname(file), root]) : undefined;
    if (foreign !== undefined) {
      // fail-closed: what anybody can write is not an administrator's word.
      const problem = fatal(place, {
        message: `${foreign} belongs to, or can be written by, others than the administrator.`,
        remedy: 'Give it to root and take the right to write from group and others (chmod go-w).',
      });
      return { ...problem, places };
    }
    const text = await fs.readText(file, { maxBytes: MOST_BYTES });
    return { ...parsed({ source, root, trusted, file }, text), places };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    const places = [{ path: file, source, stamp }];
    if (absent && place.required !== true) return { files: [], problems: [], places };
    // fail-closed: a file that is there may hold deny rules.
    const problem = fatal(place, {
      message: `the settings cannot be read: ${messageOf(thrown)}.`,
      remedy: absent
        ? 'Name a file that exists, or give JSON text.'
        : 'Make the file readable or remove it.',
    });
    return { ...problem, places };
  }
}

async function foreignPath(
  fs: SettingsPlaces['fs'],
  paths: readonly string[],
): Promise<string | undefined> {
  for (const path of paths) if ((await fs.stat(path))?.foreign === true) return path;
  return undefined;
}

function parsed(place: Place, text: string): ReadSettings {
  // An empty file holds no settings; editors and scripts leave such files behind.
  const json = parseLocatedJson(text.trim() === '' ? '{}' : text);
  if (!json.ok) {
    return fatal(place, {
      line: json.line,
      message: `the settings are not valid JSON: ${json.message}.`,
      remedy: 'Correct the file; comments and trailing commas are not JSON.',
    });
  }
  if (!isRecord(json.value)) {
    return fatal(place, {
      line: 1,
      message: 'the settings are not a JSON object.',
      remedy: 'Write { … } at the top of the file.',
    });
  }
  const { source, root, trusted, file } = place;
  const { lineOf, duplicates, value: content } = json;
  const read = { source, root, trusted, content, lineOf, duplicates };
  return { files: [{ ...read, file }], problems: [], places: [] };
}

/** Tells one state of a file from another; empty when there is none. */
function fingerprint(stat: FileStat | undefined): string {
  if (stat === undefined) return '';
  const { mtimeMs, ctimeMs, size, inode, kind } = stat;
  return `${kind} ${size} ${mtimeMs} ${ctimeMs ?? ''} ${inode ?? ''}`;
}

/** The paths that changed, appeared or vanished since they were read. */
export async function changedPaths(
  fs: Pick<FileSystem, 'stat'>,
  paths: readonly WatchedPath[],
): Promise<readonly WatchedPath[]> {
  const changed: WatchedPath[] = [];
  for (const one of paths) {
    // A path that cannot be examined counts as absent, as when it was read.
    const now = await fs.stat(one.path).then(fingerprint, () => '');
    if (now !== one.stamp) changed.push(one);
  }
  return changed;
}

function fatal(
  place: Place,
  problem: { line?: number; message: string; remedy: string },
): ReadSettings {
  const { source } = place;
  const file = place.file ?? (source === 'sdk' ? '--managed-settings' : '--settings');
  return { files: [], problems: [{ severity: 'fatal', source, file, ...problem }], places: [] };
}
