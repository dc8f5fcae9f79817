import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import type { FileVersion } from '../env/file-version.js';
import type { FileStat, FileSystem } from '../env/fs.js';
import { sha256 } from '../env/hash.js';
import { basename, dirname, isInside, join, relative, separator, toPosix } from '../env/paths.js';
import type { ProjectLevel } from '../env/project-levels.js';
import { SeenText } from '../env/seen-text.js';
import { systemCodeOf } from '../errors.js';
import { parseLocatedJson } from './located-json.js';
import { Declarations, Declared, type DeclaredIn, DeclaredList } from './trust-declared.js';
import { canonicalJson } from './trust-digest.js';
import { countOf, isBare, type JsonDrafts, settingsOf, tooMany } from './trust-drafts.js';
import { openLook, type TrustLook } from './trust-look.js';
import { agentDrafts, skillDrafts } from './trust-markdown.js';
import { draftsFrom, openDigests } from './trust-memory.js';
import { LARGEST_DOCUMENT as MOST_BYTES } from './trust-names.js';
import { digestsOf, hookScripts, type Pins, scriptsOf } from './trust-pins.js';
import { serverDrafts } from './trust-servers.js';
import { filesBelow } from './trust-tree.js';
import type { Declaration, Draft, TrustPart } from './trust-types.js';

export interface CollectPlaces {
  readonly fs: Pick<
    FileSystem,
    'stat' | 'statNow' | 'list' | 'listNow' | 'readText' | 'readTextNow' | 'readBytes' | 'realPath'
  >;
  /** Real path of the project's. */
  readonly root: string;
  /** The directories whose `.claude` or `.mcp.json` counts, the project's root last. */
  readonly levels: readonly Pick<ProjectLevel, 'path' | 'hasDirectory'>[];
  /** The user's own configuration, which is nobody's project. */
  readonly configDir: string;
  readonly sources: readonly string[];
  /** What earlier starts found in documents that look the same. Absent: all of them are read. */
  readonly memory?: FileMemory | undefined;
  /** Absent: a new one. */
  readonly look?: TrustLook | undefined;
  /** Which of the files; all when absent. */
  readonly part?: TrustPart | undefined;
}

/**
 * Everything in a project's files that runs something or lets something happen, the root's last.
 * Digests do not depend on order, blanks or line breaks, and are bound to the place of the file
 * below the project's root.
 */
export async function collectDeclarations(places: CollectPlaces): Promise<Declarations> {
  const { fs, root, look = openLook(fs) } = places;
  const own = await realOrNothing(fs, places.configDir);
  const found: Found[] = [];
  for (const { path, hasDirectory } of places.levels) {
    const level = await fs.realPath(path);
    const collector = new LevelCollector(places, { root, level, look });
    const directory = hasDirectory ? await realOrNothing(fs, join(path, '.claude')) : undefined;
    const isUsers = directory !== undefined && directory === own;
    found.push(...(await collector.all({ isUsers, isBare: !hasDirectory })));
  }
  const { used } = look;
  if (used === undefined || look.hasMet()) return new Declarations(found);
  // fail-closed: a document that nobody would have been asked about is not one to trust.
  const text = 'is not among the files that are looked at';
  const digest = sha256(canonicalJson(['used', used.file]));
  const name = basename(used.file);
  const { file } = used;
  found.push({ kind: 'unreadable', name, text, file, level: '', digest, pinned: false });
  return new Declarations(found);
}

type Found = Declaration | DeclaredList;

/** Undefined where links lead in a circle: whoever looks into it says so. */
async function realOrNothing(
  fs: Pick<FileSystem, 'realPath'>,
  path: string,
): Promise<string | undefined> {
  try {
    return await fs.realPath(path);
  } catch {
    // fail-closed: it is nobody's own, and everything in it counts as unreadable.
    return undefined;
  }
}

const SKILL_FILE = `${separator}skill.md`;

class LevelCollector {
  readonly #places: CollectPlaces;
  readonly #memory: FileMemory;
  readonly #root: string;
  readonly #level: string;
  readonly #look: TrustLook;
  readonly #found: Found[] = [];
  readonly #ways = new Map<string, string>();
  #links: ReadonlySet<string> = new Set();
  #hooks: Promise<Hooks> | undefined;
  #isFull = false;

  constructor(places: CollectPlaces, at: { root: string; level: string; look: TrustLook }) {
    this.#places = places;
    this.#memory = places.memory ?? NO_MEMORY;
    this.#root = at.root;
    this.#level = at.level;
    this.#look = at.look;
  }

  async all(is: { isUsers: boolean; isBare: boolean }): Promise<readonly Found[]> {
    const directory = join(this.#level, '.claude');
    const wants = (source: string): boolean => this.#places.sources.includes(source);
    const { part } = this.#places;
    const isProject = !is.isUsers && !is.isBare;
    if (part !== 'documents') {
      if (wants('local') && !is.isBare)
        await this.#json(join(directory, 'settings.local.json'), settingsOf);
      if (wants('project')) await this.#json(join(this.#level, '.mcp.json'), serverDrafts);
      if (wants('project') && isProject)
        await this.#json(join(directory, 'settings.json'), settingsOf);
    }
    if (part === 'settings' || !wants('project') || !isProject) return this.#found;
    await this.#skills(join(directory, 'skills'));
    await this.#markdown(join(directory, 'commands'), skillDrafts);
    await this.#markdown(join(directory, 'agents'), agentDrafts);
    return this.#found;
  }

  async #json(file: string, drafts: JsonDrafts): Promise<void> {
    const text = await this.#read(file);
    if (text === undefined) return;
    const json = parseLocatedJson(text);
    // What is not JSON grants nothing; the loader of the file says what is wrong with it.
    if (!json.ok) return;
    const all = drafts(json.value);
    const stat = (): FileStat | undefined => this.#statNow(file);
    const digests = openDigests(this.#memory, { file, stat, text, count: countOf(all) });
    const from: DeclaredIn = {
      file,
      level: this.#way(this.#level),
      complete: true,
      digest: (draft, index) => digests.of(index, () => this.#digest(file, draft)),
      line: ({ way }) => json.lineOf(way),
    };
    let index = 0;
    for (const draft of all) {
      if ('items' in draft) {
        this.#found.push(new DeclaredList(draft, from, index));
        index += draft.items.length;
        continue;
      }
      if (isBare(draft)) this.#found.push(new Declared(draft, from, index));
      else await this.#add(file, withLine(draft, json.lineOf(draft.way)));
      index++;
    }
  }

  async #skills(directory: string): Promise<void> {
    const files = await this.#below(directory);
    for (const file of files) {
      if (file.slice(-SKILL_FILE.length).toLowerCase() === SKILL_FILE) {
        if (!this.#hasNothing(file, skillDrafts))
          await this.#document(file, basename(dirname(file)), skillDrafts);
      }
      const manifest = toPosix(file).endsWith('/.claude-plugin/plugin.json');
      if (manifest) await this.#plugin(file, dirname(dirname(file)), files);
    }
  }

  async #below(directory: string): Promise<readonly string[]> {
    const tree = await filesBelow(this.#places.fs, directory, { memory: this.#memory });
    this.#links = tree.links;
    if (tree.cut) await this.#add(directory, tooMany(basename(directory)));
    for (const path of tree.unreadable.slice(0, MOST_UNREADABLE)) await this.#addUnreadable(path);
    return tree.files;
  }

  /** A plugin is code in many files, so all of them together are the declaration. */
  async #plugin(manifest: string, directory: string, files: readonly string[]): Promise<void> {
    const inside = files.filter((file) => isInside(file, directory));
    const { scripts, complete } = await digestsOf(inside, this.#root, this.#look.scripts);
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
    for (const file of await this.#below(directory)) {
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
    if (await this.#isUsed(file)) {
      this.#look.meet();
      for (const draft of drafts(this.#look.used?.text ?? '', label)) await this.#add(file, draft);
      return;
    }
    const stat = await this.#stat(file);
    if (drafts === agentDrafts && (stat?.size ?? 0) > MOST_BYTES) return;
    const what = whatOf(drafts);
    const said = stat === undefined ? undefined : this.#memory.recall(what, file, stat);
    const known = draftsFrom(said);
    const text = known === undefined ? await this.#read(file) : '';
    if (text === undefined) return;
    const found = known ?? drafts(text, label);
    if (known === undefined && stat !== undefined) this.#memory.note(what, file, stat, found);
    for (const draft of found) await this.#add(file, draft);
  }

  /** Whether it is the document that is used now. */
  async #isUsed(file: string): Promise<boolean> {
    const { used } = this.#look;
    if (used === undefined || this.#look.hasMet()) return false;
    return (await realOrNothing(this.#places.fs, file)) === used.file;
  }

  /**
   * Whether a file declares nothing: mostly so, and found out without a promise. What was seen of it is
   * handed on: the skills and agents of the session are looked for next.
   */
  #hasNothing(file: string, drafts: typeof skillDrafts): boolean {
    try {
      const look = this.#noted(file, drafts) ?? this.#readNow(file, drafts);
      if (look?.declares !== false) return false;
      if (!this.#links.has(file)) this.#memory.look(file, look.seen);
      return true;
    } catch {
      // fail-closed: then it is read with care, and what cannot be read counts.
      return false;
    }
  }

  /** By what an earlier start has noted. */
  #noted(file: string, drafts: typeof skillDrafts): DocumentLook | undefined {
    if (!this.#memory.knows(file)) return undefined;
    const stat = this.#places.fs.statNow?.(file);
    if (stat === undefined) return undefined;
    const said = this.#memory.recall(whatOf(drafts), file, stat);
    return Array.isArray(said) ? { seen: stat, declares: said.length > 0 } : undefined;
  }

  #readNow(file: string, drafts: typeof skillDrafts): DocumentLook | undefined {
    // The document that is used now is judged in another text.
    if (this.#look.used !== undefined) return undefined;
    const seen = this.#seen(file) ?? this.#readText(file);
    if (seen === undefined || drafts(seen.text, '').length > 0) return undefined;
    // fail-closed: what there is no room for is told by whoever reads with care.
    if (!this.#look.fits(seen.text.length)) return undefined;
    this.#memory.note(whatOf(drafts), file, seen, []);
    return { seen, declares: false };
  }

  /** What whoever lists skills and agents has read a moment ago, where that came first. */
  #seen(file: string): SeenText | undefined {
    const look = this.#links.has(file) ? undefined : this.#memory.lookedAt(file);
    return look instanceof SeenText ? look : undefined;
  }

  #readText(file: string): SeenText | undefined {
    const { fs } = this.#places;
    const read = fs.readTextNow?.(file, { maxBytes: MOST_BYTES });
    return read && new SeenText(fs, file, read);
  }

  /** For the memory alone: without it nothing is remembered. */
  #statNow(file: string): FileStat | undefined {
    try {
      return this.#memory === NO_MEMORY ? undefined : this.#places.fs.statNow?.(file);
    } catch {
      return undefined;
    }
  }

  async #stat(file: string): Promise<FileStat | undefined> {
    return await this.#places.fs.stat(file).catch(() => undefined);
  }

  /** Undefined when nothing is there, or nothing that can be read. */
  async #read(file: string): Promise<string | undefined> {
    const { fs } = this.#places;
    try {
      // Asking first is cheaper than an exception for each file that is not there.
      const stat = fs.statNow === undefined ? await fs.stat(file) : fs.statNow(file);
      if (stat === undefined) return undefined;
      if (this.#look.fits(stat.size)) return await fs.readText(file, { maxBytes: MOST_BYTES });
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      // fail-closed: it is there; somebody else might manage to read it.
      await this.#addUnreadable(file);
      return undefined;
    }
    this.#addFull();
    return undefined;
  }

  async #addUnreadable(path: string): Promise<void> {
    await this.#add(path, { ...tooMany(basename(path)), text: 'cannot be read' });
  }

  /** fail-closed: what is not looked at may be anything. Said once. */
  #addFull(): void {
    const draft = { ...tooMany('.claude'), text: 'there is more in it than is looked at' };
    const file = join(this.#level, '.claude');
    if (!this.#isFull) this.#push(file, { ...draft, line: 1 });
    this.#isFull = true;
  }

  /** Read once for all hooks. */
  async #hookScripts(): Promise<Hooks> {
    if (this.#hooks !== undefined) return this.#hooks;
    const place = { root: this.#root, level: this.#level };
    this.#hooks = hookScripts(place, this.#places.fs, this.#look.scripts).then((pins) => ({
      complete: pins.complete,
      mark:
        Object.keys(pins.scripts).length === 0 ? undefined : sha256(canonicalJson(pins.scripts)),
    }));
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
    if (isBare(draft)) return this.#push(file, draft);
    if (!this.#look.takes()) return this.#addFull();
    const place = { root: this.#root, level: this.#level, directory: dirname(file) };
    const named = await scriptsOf(draft.runs ?? [], place, this.#look.scripts);
    const runs = draft.kind === 'hook' && (draft.runs ?? []).length > 0;
    const hooks = runs ? await this.#hookScripts() : undefined;
    const scripts: Record<string, string> = { ...named.scripts };
    if (hooks?.mark !== undefined) scripts['.claude/hooks/**'] = hooks.mark;
    this.#push(file, draft, { scripts, complete: named.complete && hooks?.complete !== false });
  }

  #digest(file: string, draft: Draft, scripts: Pins['scripts'] = {}): string {
    const way = draft.way.filter((step) => typeof step === 'string');
    return sha256(canonicalJson([1, draft.kind, this.#way(file), way, draft.value, scripts]));
  }

  #push(file: string, draft: Draft, pins: Pins = NO_PINS): void {
    const from: DeclaredIn = {
      file,
      level: this.#way(this.#level),
      complete: pins.complete,
      digest: () => this.#digest(file, draft, pins.scripts),
      line: () => draft.line,
    };
    this.#found.push(new Declared(draft, from));
  }
}

const NO_PINS: Pins = { scripts: {}, complete: true };

function withLine(draft: Draft, line: number | undefined): Draft {
  return line === undefined ? draft : { ...draft, line };
}

interface DocumentLook {
  readonly seen: FileVersion;
  readonly declares: boolean;
}

/** What all hooks of a level stand for. */
interface Hooks {
  /** Of all of it; absent where nothing is. */
  readonly mark: string | undefined;
  readonly complete: boolean;
}

/** Each is told by itself up to here; one more says nothing new. */
const MOST_UNREADABLE = 20;

/** By which name it is remembered what a reader has found. */
function whatOf(drafts: typeof skillDrafts): string {
  return drafts === agentDrafts ? 'agent declarations' : 'skill declarations';
}
