import type { FileMemory } from '../env/file-memory.js';
import type { FileSystem } from '../env/fs.js';
import { isInside } from '../env/paths.js';
import type { ParseYaml } from '../util/frontmatter.js';
import type { EnforcedRules, LocateJson } from './enforced.js';
import { createEnforcedWatch } from './enforced-watch.js';
import type { IncludeApprovals } from './include-approvals.js';
import { createDiscovery, type Discovery } from './instruction-discovery.js';
import {
  createInstructionLoader,
  type Entry,
  type Gathering,
  type InstructionLoader,
  newGathering,
  type Taking,
  type WaitingRule,
} from './instruction-loader.js';
import {
  asFound,
  directoriesTowards,
  type ProjectPlace,
  projectPlace,
  realOrSelf,
} from './instruction-places.js';
import {
  createInstructionReader,
  type InstructionReader,
  isLocated,
} from './instruction-reader.js';
import { type InstructionReport, type NestedFindings, reportOf } from './instruction-report.js';
import type { InstructionSettings } from './instruction-settings.js';
import type { LoadedFiles, LoadedInstruction, SkippedInstruction } from './instruction-types.js';
import { isOn } from './memory-files.js';
import type { PathMatcher } from './path-matcher.js';

export interface InstructionBookParts {
  readonly fs: FileSystem;
  readonly cwd: string;
  readonly home: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  /** An administrator's directory. */
  readonly managedDir?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which optional settings sources count; instruction files follow them. */
  readonly sources: readonly string[];
  readonly settings: InstructionSettings;
  /** Directories that were added by a flag or a host, not by settings. */
  readonly additionalDirectories?: readonly string[];
  /** Whether the project is trusted. */
  readonly trusted: boolean;
  readonly approvals: IncludeApprovals;
  /** Whether a permission rule keeps a file from being read. */
  isHidden?(path: string): Promise<boolean>;
  /** For heads that are more than a simple list of fields. */
  readonly parseYaml?: ParseYaml;
  /** What earlier starts found in the same files. Absent: all of them are read. */
  readonly memory?: FileMemory;
  /** For the patterns of rules; absent: as of .gitignore. */
  readonly matcher?: PathMatcher;
  /** Reads the JSON of enforced rules. */
  readonly locateJson: LocateJson;
}

/** The instructions of a session: which files there are, which are shown, and which come into play. */
export interface InstructionBook {
  /** What holds from the start. Read once. */
  open(): Promise<LoadedFiles>;
  /** Forgets everything and reads again, after an approval or in another place. */
  reopen(): Promise<LoadedFiles>;
  /**
   * Files were read or written: what becomes active by that and was not before. Directories and
   * files outside of the project bring nothing.
   */
  touched(paths: readonly string[], signal: AbortSignal): Promise<LoadedFiles>;
  /** Shown files that are different on disk now, in the order in which they were shown. */
  changed(): Promise<readonly LoadedInstruction[]>;
  /** What has to be shown again after a summary; the rest comes back when it is touched again. */
  afterCompaction(): Promise<LoadedFiles>;
  /** With the folders below, so that it takes its time. Nothing comes into play by it. */
  report(): Promise<InstructionReport>;
  /** Restrictions in the files that hold from the start. */
  enforced(): Promise<EnforcedRules>;
  /** The same as the files are now; undefined when none has changed since the last look. */
  enforcedAgain(): Promise<EnforcedRules | undefined>;
  /**
   * Restrictions in the files on the way to these paths, shown or not: to be asked before a call
   * that names them is judged. Directories count themselves.
   */
  enforcedNear(paths: readonly string[]): Promise<NearRules>;
}

export interface NearRules extends EnforcedRules {
  /** The files that were looked at, with or without restrictions. */
  readonly files: readonly string[];
}

export function createInstructionBook(parts: InstructionBookParts): InstructionBook {
  let world: Promise<World> | undefined;
  let state: Gathering | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const worldOf = (): Promise<World> => {
    world ??= createWorld(parts);
    return world;
  };
  /** One at a time: two calls at once must not show the same file twice. */
  const serial = <T>(work: () => Promise<T>): Promise<T> => {
    const working = queue.then(work);
    queue = working.catch(() => undefined);
    return working;
  };
  const start = async (how: Taking): Promise<Gathering> => {
    state = await (await worldOf()).discovery.start(how);
    return state;
  };
  const opened = async (): Promise<Gathering> => state ?? (await start(AT_START));
  const watch = createEnforcedWatch();

  return {
    open: () => serial(async () => filesOf(fromStart(await opened()))),
    reopen: () =>
      serial(async () => {
        world = undefined;
        return filesOf(await start(AT_START));
      }),
    afterCompaction: () => serial(async () => filesOf(await start(AFTER_COMPACTION))),
    touched: (paths, signal) =>
      serial(async () => {
        const shown = await opened();
        return filesOf(join(shown, await touchedIn(await worldOf(), { shown, paths, signal })));
      }),
    changed: () => serial(async () => changedIn(await opened(), await worldOf())),
    report: () =>
      serial(async () => {
        const shown = await opened();
        return reportOf(shown, await below(await worldOf(), shown.seen));
      }),
    enforced: () =>
      serial(async () => {
        const entries = enforcing(fromStart(await opened()));
        watch.begin(entries);
        return await enforcedIn(entries, parts.locateJson);
      }),
    enforcedAgain: () =>
      serial(async () => {
        const entries = enforcing(fromStart(await opened()));
        const now = await watch.look(entries, await worldOf());
        return now === undefined ? undefined : await enforcedIn(now, parts.locateJson);
      }),
    enforcedNear: (paths) =>
      serial(async () => {
        const { waiting } = await opened();
        const near = enforcing(await nearbyIn(await worldOf(), { waiting, paths }));
        const files = near.map(({ place }) => place.path);
        return { ...(await enforcedIn(near, parts.locateJson)), files };
      }),
  };
}

const AT_START: Taking = { reason: 'session_start' };
const AFTER_COMPACTION: Taking = { reason: 'compact', reasonForAll: true };

interface World {
  readonly fs: FileSystem;
  readonly reader: InstructionReader;
  readonly loader: InstructionLoader;
  readonly discovery: Discovery;
  /** The project, then the added directories that count like it. */
  readonly projects: readonly ProjectPlace[];
}

async function createWorld(parts: InstructionBookParts): Promise<World> {
  const { fs, home, settings, additionalDirectories = [] } = parts;
  const project = await projectPlace(fs, parts.cwd, home);
  const isAddedRead = isOn(parts.env.CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD);
  const added = await Promise.all(
    (isAddedRead ? additionalDirectories : []).map(async (root): Promise<ProjectPlace> => {
      return { cwd: root, root, realRoot: await realOrSelf(fs, root), ancestors: [root] };
    }),
  );
  const patterns = settings.excludes;
  const matcher =
    patterns.length === 0 ? undefined : (await import('./path-matcher.js')).gitignoreMatcher;
  const reader = createInstructionReader({
    fs,
    home,
    realRoot: project.realRoot,
    approvals: parts.approvals,
    ...(matcher === undefined ? {} : { excludes: { patterns, matcher } }),
    ...(parts.isHidden === undefined ? {} : { isHidden: parts.isHidden }),
  });
  const loader = createInstructionLoader({ ...parts, reader });
  const discovery = createDiscovery({ ...parts, project, reader, loader }, added);
  return { fs, reader, loader, discovery, projects: [project, ...added] };
}

async function touchedIn(
  world: World,
  use: { shown: Gathering; paths: readonly string[]; signal: AbortSignal },
): Promise<Gathering> {
  const { seen, waiting } = use.shown;
  const found = newGathering(seen);
  for (const path of use.paths) {
    use.signal.throwIfAborted();
    // Whoever lists a directory has not yet worked in it.
    if (!(await isDirectory(world, path))) await takeTowards(world, path, { found, waiting });
  }
  return found;
}

/** Whatever was shown before: restrictions do not fade. */
async function nearbyIn(
  world: World,
  { waiting, paths }: { waiting: readonly WaitingRule[]; paths: readonly string[] },
): Promise<Gathering> {
  const found = newGathering();
  for (const path of paths) {
    await takeTowards(world, path, { found, waiting, itself: await isDirectory(world, path) });
  }
  return found;
}

/** What each folder below would bring, were somebody to work in it. */
async function below(world: World, seen: ReadonlySet<string>): Promise<NestedFindings> {
  const [project] = world.projects;
  if (project === undefined) return { found: [], cut: false };
  const { nestedDirectories } = await import('./nested-search.js');
  const { directories, cut } = await nestedDirectories(world.fs, project);
  const found: { folder: string; gathering: Gathering }[] = [];
  const known = new Set(seen);
  for (const folder of directories) {
    const gathering = newGathering(known);
    await world.discovery.nested(folder, { reason: 'nested_traversal' }, gathering);
    for (const real of gathering.seen) known.add(real);
    found.push({ folder, gathering });
  }
  return { found, cut };
}

async function isDirectory({ fs }: World, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path))?.kind === 'directory';
  } catch {
    // A file that cannot be looked at still lies in its directory.
    return false;
  }
}

/** What lies on the way to a path, and the rules that its name brings into play. */
async function takeTowards(
  { projects, discovery, loader }: World,
  path: string,
  into: { found: Gathering; waiting: readonly WaitingRule[]; itself?: boolean },
): Promise<void> {
  const { found, waiting, itself = false } = into;
  for (const project of projects) {
    const target = asFound(path, project);
    if (!isInside(target, project.root)) continue;
    const nested: Taking = { reason: 'nested_traversal', trigger: path };
    for (const directory of directoriesTowards(target, project, { itself })) {
      await discovery.nested(directory, nested, found);
    }
    const isKnown = new Set(waiting.map(({ real }) => real));
    const rules = [...waiting, ...found.waiting.filter(({ real }) => !isKnown.has(real))];
    for (const rule of rules) {
      const by: Taking = { reason: 'path_glob_match', trigger: path };
      if (!found.seen.has(rule.real) && rule.fits(target)) await loader.take(rule.place, by, found);
    }
  }
}

/** Adds what was found to what is known; what remains is news. */
function join(shown: Gathering, found: Gathering): Gathering {
  const known = new Set(shown.skipped.map(skipKey));
  const skipped = found.skipped.filter((one) => !known.has(skipKey(one)));
  const waits = new Set(shown.waiting.map(({ real }) => real));
  shown.entries.push(...found.entries);
  shown.unshown.push(...found.unshown);
  shown.skipped.push(...skipped);
  shown.waiting.push(...found.waiting.filter(({ real }) => !waits.has(real)));
  for (const real of found.seen) shown.seen.add(real);
  return { ...found, skipped };
}

function skipKey({ path, kind, parent = '' }: SkippedInstruction): string {
  return [kind, path, parent].join('\n');
}

/** Looks at every shown file again; those that changed take the place of what was shown. */
async function changedIn(shown: Gathering, world: World): Promise<readonly LoadedInstruction[]> {
  const news: LoadedInstruction[] = [];
  for (const [index, entry] of [...shown.entries.entries()]) {
    if (entry.instruction.kind === 'setting') continue;
    const now = await lookAgain(entry, world);
    if (now === undefined) continue;
    shown.entries[index] = now;
    if (now.instruction === entry.instruction) continue;
    news.push(now.instruction);
    const more = newGathering(shown.seen);
    await world.loader.takeIncludes(now, { reason: 'include' }, more);
    join(shown, more);
    news.push(...more.entries.map(({ instruction }) => instruction));
  }
  return news;
}

/** Undefined when it is the same; with the same instruction when only its stamp is new. */
async function lookAgain(entry: Entry, { reader, loader }: World): Promise<Entry | undefined> {
  const { instruction, place, located } = entry;
  const sought = await reader.locate(place);
  const isShowable = isLocated(sought) && sought.hidden === undefined;
  if (isShowable && sought.stamp === located.stamp) return undefined;
  const prepared = isShowable ? await loader.prepare(place, sought) : undefined;
  if (isShowable && prepared?.ok === true) {
    const { text, notes, source } = prepared.value;
    const isSame = text === instruction.text;
    const fresh = { ...instruction, text, notes, bytes: sought.bytes };
    return { ...entry, located: sought, source, instruction: isSame ? instruction : fresh };
  }
  if (instruction.text === '') return undefined;
  const gone = { ...instruction, text: '', bytes: 0, notes: ['it can no longer be read'] };
  return { ...entry, located: { ...located, stamp: '' }, source: '', instruction: gone };
}

/** Without what came into play by the use of files. */
function fromStart(shown: Gathering): Gathering {
  const isFirst = ({ instruction }: Entry): boolean => instruction.trigger === undefined;
  const { entries, unshown } = shown;
  return { ...shown, entries: entries.filter(isFirst), unshown: unshown.filter(isFirst) };
}

/** What must not be shown still restricts. */
function enforcing({ entries, unshown }: Gathering): readonly Entry[] {
  return unshown.length === 0 ? entries : [...entries, ...unshown];
}

function filesOf({ entries, skipped }: Gathering): LoadedFiles {
  return { files: entries.map(({ instruction }) => instruction), skipped: [...skipped] };
}

/** Worth a closer look: a fence with a word behind it that may be ours. */
const MAY_ENFORCE = /(?:```|~~~)[ \t]*p/i;

async function enforcedIn(
  entries: readonly Entry[],
  locateJson: LocateJson,
): Promise<EnforcedRules> {
  const sources = entries.flatMap(({ place, source, line }) => {
    const { scope, path, base } = place;
    // What a model wrote down for itself binds nobody.
    if (scope === 'memory' || scope === 'team' || !MAY_ENFORCE.test(source)) return [];
    const file = { path, text: source, source: scope, root: base };
    return [line === undefined ? file : { ...file, line }];
  });
  if (sources.length === 0) return { deny: [], ask: [], problems: [] };
  const { enforcedRules } = await import('./enforced.js');
  const all = sources.map((file) => enforcedRules(file, locateJson));
  return {
    deny: all.flatMap(({ deny }) => deny),
    ask: all.flatMap(({ ask }) => ask),
    problems: all.flatMap(({ problems }) => problems),
  };
}
