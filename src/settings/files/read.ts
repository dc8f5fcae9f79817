import { messageOf, systemCodeOf } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { dirname, join, resolve } from '../../platform/fs/paths.js';
import { lookAtLevels } from '../../platform/fs/project-levels.js';
import type { ConfigProblem, SettingsFile, WatchedPath } from '../types.js';
import { parseLocatedJson } from './json.js';

type ProjectSource = 'user' | 'project' | 'local';

export interface SettingsPlaces {
  readonly fs: Pick<FileSystem, 'readText' | 'stat' | 'lstat' | 'list'>;
  readonly cwd: string;
  readonly configDir: string;
  readonly managedDir: string;
  /** The value of `--settings`: JSON text or a file name. */
  readonly flagSettings?: string | undefined;
  /** The host's settings as JSON text, which can only restrict. */
  readonly hostSettings?: string | undefined;
  /** The optional sources that are enabled. */
  readonly sources: readonly ProjectSource[];
  readonly trustProject: boolean;
  /** The user's settings as text; no file is read then. */
  readonly only?: { readonly file: string; readonly text: string };
}

interface ReadSettings {
  /** Strongest source first, nearest directory first. */
  readonly files: readonly SettingsFile[];
  readonly problems: readonly ConfigProblem[];
  /** All examined paths: files, and directories whose content matters. */
  readonly places: readonly WatchedPath[];
}

/** Reads all settings files. */
export async function readSettingsFiles(places: SettingsPlaces): Promise<ReadSettings> {
  const { only, configDir, fs, sources } = places;
  if (only !== undefined) {
    return parsed({ source: 'user', root: configDir, trusted: true, file: only.file }, only.text);
  }
  const user = { source: 'user', root: configDir, trusted: true } as const;
  const administrators = await managed(places);
  const wanted = [
    ...administrators.wanted,
    ...given(places),
    ...projectFiles(places),
    ...(sources.includes('user') ? [{ ...user, file: join(configDir, 'settings.json') }] : []),
  ];
  const read = [administrators.read, ...(await Promise.all(wanted.map((one) => readOne(one, fs))))];
  return {
    files: read.flatMap((one) => one.files),
    problems: read.flatMap((one) => one.problems),
    places: read.flatMap((one) => one.places),
  };
}

interface Place {
  readonly source: SettingsFile['source'];
  readonly root: string;
  readonly trusted: boolean;
  readonly file?: string;
  readonly text?: string;
  /** The file must exist, because a person named it. */
  readonly required?: boolean;
}

const DROP_INS = 'managed-settings.d';

/** A larger settings file is a mistake or an attack. */
const MOST_BYTES = 2 * 1024 * 1024;

/** The base file and the drop-in files above it; the alphabetically last one is strongest. */
async function managed({
  managedDir: root,
  fs,
}: SettingsPlaces): Promise<{ wanted: readonly Place[]; read: ReadSettings }> {
  const place = (file: string): Place => ({ source: 'managed', root, trusted: true, file });
  const directory = join(root, DROP_INS);
  let stamp = '';
  let names: readonly string[] = [];
  let read = NOTHING;
  try {
    const stat = await fs.stat(directory);
    stamp = fingerprint(stat);
    const link = stat === undefined ? await danglingLink(fs, [directory]) : undefined;
    if (link !== undefined) read = fatal(place(directory), brokenLink(link));
    if (stat?.kind === 'directory') names = (await fs.list(directory)).map(({ name }) => name);
  } catch (thrown) {
    // fail-closed: an unreadable managed directory may contain deny rules.
    const message = `the managed settings cannot be listed: ${messageOf(thrown)}.`;
    const remedy = 'Make the directory readable or remove it.';
    read = fatal(place(directory), { message, remedy });
  }
  const above = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).reverse();
  const files = [
    ...above.map((name) => join(directory, name)),
    join(root, 'managed-settings.json'),
  ];
  const places = [{ path: directory, source: 'managed', stamp } as const];
  return { wanted: files.map(place), read: { ...read, places } };
}

/** The settings of host and command line. */
function given({ hostSettings, flagSettings, cwd }: SettingsPlaces): readonly Place[] {
  const host: Place = { source: 'sdk', trusted: true, root: cwd, text: hostSettings };
  const places = hostSettings === undefined ? [] : [host];
  if (flagSettings === undefined) return places;
  const flag = flagSettings.trim();
  const base = { source: 'cli', trusted: true, root: cwd } as const;
  if (flag === '' || flag.startsWith('{')) return [...places, { ...base, text: flag }];
  const file = resolve(cwd, flag);
  return [...places, { ...base, file, root: dirname(file), required: true }];
}

/** The files from the start directory up to the repository root, all local ones before the project ones. */
function projectFiles(places: SettingsPlaces): readonly Place[] {
  const levels = lookAtLevels(places.cwd);
  const userFile = join(places.configDir, 'settings.json');
  const kinds = [
    ['local', 'settings.local.json'],
    ['project', 'settings.json'],
  ] as const;
  return kinds
    .filter(([source]) => places.sources.includes(source))
    .flatMap(([source, name]) =>
      levels.map(({ path: root }) => ({
        source,
        root,
        trusted: places.trustProject,
        file: join(root, '.claude', name),
      })),
    )
    .filter((place) => place.file !== userFile); // In the home directory the user's file does not count as a project's.
}

async function readOne(place: Place, fs: SettingsPlaces['fs']): Promise<ReadSettings> {
  const { source, root, file, text: given, required = false } = place;
  if (given?.trim() === '') {
    // fail-closed: a script whose variable is not set meant to give settings that restrict.
    const remedy = 'Give JSON text or the name of a file, or leave the flag out.';
    return fatal(place, { message: 'the settings are empty.', remedy });
  }
  if (given !== undefined || file === undefined) return parsed(place, given ?? '');
  let stamp = '';
  const read = async (): Promise<ReadSettings> => {
    try {
      const stat = await fs.stat(file);
      stamp = fingerprint(stat);
      if (stat === undefined) {
        const link = await danglingLink(fs, [root, dirname(file), file]);
        // fail-closed: the file that the link leads to may hold deny rules, on a disk that is not mounted.
        if (link !== undefined) return fatal(place, brokenLink(link));
        if (!required) return NOTHING;
      }
      const owned = source === 'managed' ? [file, dirname(file), root] : [];
      for (const path of owned) {
        if ((await fs.stat(path))?.foreign !== true) continue;
        // fail-closed: a file that other users can write does not speak for the administrator.
        const message = `${path} belongs to, or can be written by, others than the administrator.`;
        const remedy =
          'Give it to root and take the right to write from group and others (chmod go-w).';
        return fatal(place, { message, remedy });
      }
      return parsed(place, await fs.readText(file, { maxBytes: MOST_BYTES }));
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      const absent = code === 'ENOENT' || code === 'ENOTDIR';
      if (absent && !required) return NOTHING;
      // fail-closed: an unreadable file may contain deny rules.
      const remedy = absent
        ? 'Name a file that exists, or give JSON text.'
        : 'Make the file readable or remove it.';
      const message = `the settings cannot be read: ${messageOf(thrown)}.`;
      return fatal(place, { message, remedy });
    }
  };
  return { ...(await read()), places: [{ path: file, source, stamp }] };
}

/** The first of these paths that is a link to nothing. */
async function danglingLink(
  fs: SettingsPlaces['fs'],
  paths: readonly string[],
): Promise<string | undefined> {
  for (const path of paths) {
    const isLink = (await fs.lstat(path))?.kind === 'symlink';
    if (isLink && (await fs.stat(path)) === undefined) return path;
  }
  return undefined;
}

function brokenLink(link: string): { message: string; remedy: string } {
  const message = `the settings cannot be read: ${link} is a link to something that does not exist.`;
  return { message, remedy: 'Correct the link or remove it.' };
}

const NOTHING: ReadSettings = { files: [], problems: [], places: [] };

function parsed(place: Place, text: string): ReadSettings {
  // Editors and scripts leave empty files behind.
  const json = parseLocatedJson(text.trim() === '' ? '{}' : text);
  if (!json.ok) {
    const message = `the settings are not valid JSON: ${json.message}.`;
    const remedy = 'Correct the file; comments and trailing commas are not JSON.';
    return fatal(place, { line: json.line, message, remedy });
  }
  const garbled = text.indexOf('\uFFFD');
  if (garbled !== -1) {
    // fail-closed: a rule with a lost letter matches nothing.
    const line = text.slice(0, garbled).split('\n').length;
    const message = 'the settings are not valid UTF-8.';
    return fatal(place, { line, message, remedy: 'Save the file as UTF-8.' });
  }
  if (!isRecord(json.value)) {
    const message = 'the settings are not a JSON object.';
    return fatal(place, { line: 1, message, remedy: 'Write { … } at the top of the file.' });
  }
  const { source, root, trusted, file } = place;
  const { lineOf, duplicates, value: content } = json;
  const read = { source, root, trusted, content, lineOf, duplicates };
  return { ...NOTHING, files: [{ ...read, file }] };
}

/** Identifies a state of a file; empty when it is missing. */
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
    // As when reading, an inaccessible path counts as absent.
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
  return { ...NOTHING, problems: [{ severity: 'fatal', source, file, ...problem }] };
}
