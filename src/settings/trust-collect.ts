import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import type { FileStat, FileSystem } from '../env/fs.js';
import { sha256 } from '../env/hash.js';
import { basename, dirname, isInside, join, relative, separator, toPosix } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import { isRecord } from '../util/own.js';
import { parseLocatedJson } from './located-json.js';
import { canonicalJson } from './trust-digest.js';
import { agentDrafts, skillDrafts } from './trust-markdown.js';
import { draftsFrom, openDigests } from './trust-memory.js';
import { digestsOf, hookScripts, type Pins, scriptsOf } from './trust-pins.js';
import { serverDrafts } from './trust-servers.js';
import { settingsDrafts } from './trust-settings.js';
import { filesBelow } from './trust-tree.js';
import type { Declaration, Draft } from './trust-types.js';

export interface CollectPlaces {
  readonly fs: Pick<
    FileSystem,
    'stat' | 'statNow' | 'list' | 'readText' | 'readBytes' | 'realPath'
  >;
  /** The directories whose `.claude` counts, the project's root last. */
  readonly levels: readonly string[];
  /** The user's own configuration, which is nobody's project. */
  readonly configDir: string;
  readonly sources: readonly string[];
  /** What earlier starts found in the same files. Absent: all of them are read. */
  readonly memory?: FileMemory | undefined;
}

/**
 * Everything in a project's files that runs something or lets something happen, the root's last.
 * Digests do not depend on order, blanks or line breaks, and are bound to the place of the file
 * below the project's root.
 */
export async function collectDeclarations(places: CollectPlaces): Promise<readonly Declaration[]> {
  const root = await places.fs.realPath(places.levels.at(-1) ?? '');
  const own = await places.fs.realPath(places.configDir);
  const found: Declaration[] = [];
  for (const level of places.levels) {
    const has = await configurationOf(places, level);
    if (!has.directory && !has.servers) continue;
    const collector = new LevelCollector(places, { root, level: await places.fs.realPath(level) });
    const isUsers = has.directory && (await places.fs.realPath(join(level, '.claude'))) === own;
    found.push(...(await collector.all({ isUsers, isBare: !has.directory })));
  }
  return found;
}

/** Most levels of a deep project have neither. */
async function configurationOf(
  { fs }: CollectPlaces,
  level: string,
): Promise<{ readonly directory: boolean; readonly servers: boolean }> {
  const isThere = async (name: string): Promise<boolean> =>
    fs.stat(join(level, name)).then(
      (stat) => stat !== undefined,
      // fail-closed: what cannot be looked at may be there.
      () => true,
    );
  return { directory: await isThere('.claude'), servers: await isThere('.mcp.json') };
}

const MOST_BYTES = 4 * 1024 * 1024;
const SKILL_FILE = `${separator}skill.md`;

class LevelCollector {
  readonly #places: CollectPlaces;
  readonly #memory: FileMemory;
  readonly #root: string;
  readonly #level: string;
  readonly #found: Declaration[] = [];
  readonly #ways = new Map<string, string>();
  #links: ReadonlySet<string> = new Set();
  #hooks: Promise<Pins> | undefined;

  constructor(places: CollectPlaces, at: { root: string; level: string }) {
    this.#places = places;
    this.#memory = places.memory ?? NO_MEMORY;
    this.#root = at.root;
    this.#level = at.level;
  }

  async all(is: { isUsers: boolean; isBare: boolean }): Promise<readonly Declaration[]> {
    const directory = join(this.#level, '.claude');
    const wants = (source: string): boolean => this.#places.sources.includes(source);
    if (wants('local') && !is.isBare)
      await this.#json(join(directory, 'settings.local.json'), settingsOf);
    if (!wants('project')) return this.#found;
    await this.#json(join(this.#level, '.mcp.json'), serverDrafts);
    if (is.isUsers || is.isBare) return this.#found;
    await this.#json(join(directory, 'settings.json'), settingsOf);
    await this.#skills(join(directory, 'skills'));
    await this.#markdown(join(directory, 'commands'), skillDrafts);
    await this.#markdown(join(directory, 'agents'), agentDrafts);
    return this.#found;
  }

  async #json(file: string, drafts: (value: unknown) => readonly Draft[]): Promise<void> {
    const before = await this.#stat(file);
    const text = before === undefined ? undefined : await this.#read(file);
    if (text === undefined) return;
    const json = parseLocatedJson(text);
    // What is not JSON grants nothing; the loader of the file says what is wrong with it.
    if (!json.ok) return;
    const all = drafts(json.value);
    const digests = openDigests(this.#memory, {
      file,
      before,
      after: await this.#stat(file),
      count: all.length,
    });
    for (const [index, draft] of all.entries()) {
      const line = json.lineOf(draft.way);
      if (isBare(draft)) {
        const digest = digests.of(index, () => this.#digest(file, draft));
        this.#push(file, draft, { digest, line });
      } else await this.#add(file, line === undefined ? draft : { ...draft, line });
    }
    digests.note();
  }

  async #skills(directory: string): Promise<void> {
    const tree = await filesBelow(this.#places.fs, directory, { memory: this.#memory });
    const { files } = tree;
    this.#links = tree.links;
    if (tree.cut) await this.#add(directory, tooMany('skills'));
    for (const file of files) {
      if (file.slice(-SKILL_FILE.length).toLowerCase() === SKILL_FILE) {
        if (!this.#hasNothing(file, skillDrafts))
          await this.#document(file, basename(dirname(file)), skillDrafts);
      }
      const manifest = toPosix(file).endsWith('/.claude-plugin/plugin.json');
      if (manifest) await this.#plugin(file, dirname(dirname(file)), files);
    }
  }

  /** A plugin is code in many files, so all of them together are the declaration. */
  async #plugin(manifest: string, directory: string, files: readonly string[]): Promise<void> {
    const inside = files.filter((file) => isInside(file, directory));
    const place = { fs: this.#places.fs, root: this.#root };
    const { scripts, complete } = await digestsOf(inside, place);
    const name = basename(directory);
    const text = `${inside.length} files in ${toPosix(relative(this.#root, directory))}`;
    await this.#add(manifest, {
      kind: 'plugin',
      name,
      text,
      way: ['plugin'],
      value: scripts,
      line: 1,
      pinned: complete,
    });
  }

  async #markdown(
    directory: string,
    drafts: (text: string, label: string) => readonly Draft[],
  ): Promise<void> {
    const tree = await filesBelow(this.#places.fs, directory, { memory: this.#memory });
    const { files } = tree;
    this.#links = tree.links;
    if (tree.cut) await this.#add(directory, tooMany(basename(directory)));
    for (const file of files) {
      if (!file.toLowerCase().endsWith('.md') || this.#hasNothing(file, drafts)) continue;
      const label = toPosix(relative(directory, file)).slice(0, -'.md'.length);
      await this.#document(file, label, drafts);
    }
  }

  async #document(
    file: string,
    label: string,
    drafts: (text: string, label: string) => readonly Draft[],
  ): Promise<void> {
    const stat = await this.#stat(file);
    const what = whatOf(drafts);
    const said = stat === undefined ? undefined : this.#memory.recall(what, file, stat);
    const known = draftsFrom(said);
    const text = known === undefined ? await this.#read(file) : '';
    if (text === undefined) return;
    const found = known ?? drafts(text, label);
    if (known === undefined && stat !== undefined) this.#memory.note(what, file, stat, found);
    for (const draft of found) await this.#add(file, draft);
  }

  /** Whether a file is known to declare nothing: mostly so, and found out without a promise. */
  #hasNothing(file: string, drafts: typeof skillDrafts): boolean {
    try {
      const stat = this.#places.fs.statNow?.(file);
      if (stat === undefined) return false;
      const said = this.#memory.recall(whatOf(drafts), file, stat);
      const isNothing = Array.isArray(said) && said.length === 0;
      // The skills of the session are looked for next.
      if (isNothing && drafts === skillDrafts && !this.#links.has(file)) {
        this.#memory.look(file, stat);
      }
      return isNothing;
    } catch {
      // fail-closed: then it is read, and what cannot be read counts.
      return false;
    }
  }

  async #stat(file: string): Promise<FileStat | undefined> {
    return await this.#places.fs.stat(file).catch(() => undefined);
  }

  /** Of a file that is there. */
  async #read(file: string): Promise<string | undefined> {
    try {
      return await this.#places.fs.readText(file, { maxBytes: MOST_BYTES });
    } catch (thrown) {
      if (systemCodeOf(thrown) === 'ENOENT') return undefined;
      // fail-closed: it is there; somebody else might manage to read it.
      await this.#add(file, { ...tooMany(basename(file)), text: 'cannot be read' });
      return undefined;
    }
  }

  /** Read once for all hooks. */
  async #hookScripts(): Promise<Pins> {
    if (this.#hooks !== undefined) return this.#hooks;
    const place = { fs: this.#places.fs, root: this.#root, level: this.#level };
    this.#hooks = hookScripts(place);
    if (!(await this.#hooks).complete) {
      const text = 'there is more than is looked at, or it cannot all be read';
      await this.#add(join(this.#level, '.claude', 'hooks'), { ...tooMany('hooks'), text });
    }
    return this.#hooks;
  }

  /** From the root; asked for each of many declarations of one file. */
  #way(path: string): string {
    const known = this.#ways.get(path) ?? toPosix(relative(this.#root, path));
    this.#ways.set(path, known);
    return known;
  }

  async #add(file: string, draft: Draft): Promise<void> {
    const { line } = draft;
    if (isBare(draft)) return this.#push(file, draft, { digest: this.#digest(file, draft), line });
    const { fs } = this.#places;
    const place = { fs, root: this.#root, level: this.#level, directory: dirname(file) };
    const named = await scriptsOf(draft.runs ?? [], place);
    const runs = draft.kind === 'hook' && (draft.runs ?? []).length > 0;
    const hooks = runs ? await this.#hookScripts() : undefined;
    const scripts = { ...hooks?.scripts, ...named.scripts };
    const complete = named.complete && hooks?.complete !== false;
    this.#push(file, draft, { digest: this.#digest(file, draft, scripts), line, complete });
  }

  #digest(file: string, draft: Draft, scripts: Pins['scripts'] = {}): string {
    const way = draft.way.filter((step) => typeof step === 'string');
    return sha256(canonicalJson([1, draft.kind, this.#way(file), way, draft.value, scripts]));
  }

  #push(
    file: string,
    { kind, name, text, pinned }: Draft,
    found: {
      readonly digest: string;
      readonly line: number | undefined;
      readonly complete?: boolean;
    },
  ): void {
    const { digest, line } = found;
    const level = this.#way(this.#level);
    const isPinned = found.complete !== false && pinned !== false;
    const declaration = { kind, name, text, file, level, digest, pinned: isPinned };
    this.#found.push(line === undefined ? declaration : { ...declaration, line });
  }
}

/** By which name it is remembered what a reader has found. */
function whatOf(drafts: typeof skillDrafts): string {
  return drafts === agentDrafts ? 'agent declarations' : 'skill declarations';
}

/** Whether nothing but its own text decides what happens. */
function isBare({ runs, kind }: Draft): boolean {
  return runs === undefined && kind !== 'hook';
}

function settingsOf(value: unknown): readonly Draft[] {
  return isRecord(value) ? settingsDrafts(value) : [];
}

function tooMany(name: string): Draft {
  const text = 'more files than are looked at';
  return { kind: 'unreadable', name, text, way: [name], value: text, pinned: false };
}
