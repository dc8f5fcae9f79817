import type { FileSystem } from '../env/fs.js';
import { dirname, join, resolve } from '../env/paths.js';
import { messageOf, systemCodeOf } from '../errors.js';
import { isRecord } from '../util/own.js';
import { parseLocatedJson } from './located-json.js';
import type { ConfigProblem, SettingsFile } from './types.js';

export type ProjectSource = 'user' | 'project' | 'local';

export interface SettingsPlaces {
  readonly fs: Pick<FileSystem, 'readText' | 'stat'>;
  readonly cwd: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  readonly managedDir: string;
  /** What `--settings` was given: JSON text or a file name. */
  readonly flagSettings?: string;
  /** Which of the optional sources count. */
  readonly sources: readonly ProjectSource[];
  readonly trustProject: boolean;
}

/** Reads every settings file there is, strongest source first, nearest directory first. */
export async function readSettingsFiles(
  places: SettingsPlaces,
): Promise<{ files: readonly SettingsFile[]; problems: readonly ConfigProblem[] }> {
  const wanted = [
    managed(places),
    flag(places),
    ...(await projectFiles(places)),
    ...(places.sources.includes('user') ? [user(places)] : []),
  ];
  const read = await Promise.all(wanted.map((place) => readOne(place, places.fs)));
  return {
    files: read.flatMap((one) => one.files),
    problems: read.flatMap((one) => one.problems),
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

function managed(places: SettingsPlaces): Place {
  const file = join(places.managedDir, 'managed-settings.json');
  return { source: 'managed', root: places.managedDir, trusted: true, file };
}

function flag(places: SettingsPlaces): Place {
  const given = places.flagSettings?.trim() ?? '';
  const base = { source: 'cli', trusted: true, root: places.cwd } as const;
  if (given === '') return { ...base, text: '{}' };
  if (given.startsWith('{')) return { ...base, text: given };
  const file = resolve(places.cwd, given);
  return { ...base, file, root: dirname(file), required: true };
}

function user(places: SettingsPlaces): Place {
  const file = join(places.configDir, 'settings.json');
  return { source: 'user', root: places.configDir, trusted: true, file };
}

/** Local before project in each directory's kind; from the start directory up to the repository root. */
async function projectFiles(places: SettingsPlaces): Promise<readonly Place[]> {
  const directories = await directoriesUpToRepository(places);
  const userFile = join(places.configDir, 'settings.json');
  const of = (source: 'local' | 'project', name: string): Place[] =>
    places.sources.includes(source)
      ? directories
          .map((root) => ({
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

async function directoriesUpToRepository(places: SettingsPlaces): Promise<readonly string[]> {
  const ancestors: string[] = [];
  for (let at = resolve(places.cwd); ; at = dirname(at)) {
    ancestors.push(at);
    if (dirname(at) === at) break;
  }
  const repositories = await Promise.all(
    ancestors.map((directory) => isThere(places.fs, join(directory, '.git'))),
  );
  const root = repositories.indexOf(true);
  return root === -1 ? ancestors.slice(0, 1) : ancestors.slice(0, root + 1);
}

async function isThere(fs: SettingsPlaces['fs'], path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)) !== undefined;
  } catch {
    // A directory that cannot be looked into is no repository we could be working in.
    return false;
  }
}

interface ReadPlace {
  readonly files: readonly SettingsFile[];
  readonly problems: readonly ConfigProblem[];
}

async function readOne(place: Place, fs: SettingsPlaces['fs']): Promise<ReadPlace> {
  const text = await textOf(place, fs);
  if (typeof text !== 'string') return text;
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
  return {
    files: [
      {
        source,
        root,
        trusted,
        content: json.value,
        lineOf: json.lineOf,
        ...(file === undefined ? {} : { file }),
      },
    ],
    problems: [],
  };
}

async function textOf(place: Place, fs: SettingsPlaces['fs']): Promise<string | ReadPlace> {
  if (place.text !== undefined) return place.text;
  try {
    return await fs.readText(place.file ?? '');
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    if (absent && place.required !== true) return { files: [], problems: [] };
    // fail-closed: a file that is there may hold deny rules.
    return fatal(place, {
      message: `the settings cannot be read: ${messageOf(thrown)}.`,
      remedy: absent
        ? 'Name a file that exists, or give JSON text.'
        : 'Make the file readable or remove it.',
    });
  }
}

function fatal(
  place: Place,
  problem: { line?: number; message: string; remedy: string },
): ReadPlace {
  const file = place.file ?? '--settings';
  return { files: [], problems: [{ severity: 'fatal', file, ...problem }] };
}
