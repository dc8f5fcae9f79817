import { systemCodeOf } from '../../errors.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  basename,
  dirname,
  isInside,
  join,
  relative,
  separator,
  toPosix,
} from '../../platform/fs/paths.js';
import type { ProjectLevel } from '../../platform/fs/project-levels.js';
import { sha256 } from '../../platform/hash.js';
import { parseLocatedJson } from '../files/json.js';
import { canonicalJson } from './digest.js';
import { isBare, type JsonDrafts, settingsOf, tooMany } from './drafts.js';
import { openLook, type TrustLook } from './look.js';
import { agentDrafts, skillDrafts } from './markdown.js';
import { LARGEST_DOCUMENT as MOST_BYTES } from './names.js';
import { digestsOf, hookScripts, type Pins, scriptsOf } from './scripts.js';
import { serverDrafts } from './servers.js';
import { filesBelow } from './tree.js';
import type { Declaration, Draft, TrustPart } from './types.js';

export interface CollectPlaces {
  readonly fs: Pick<FileSystem, 'stat' | 'list' | 'readText' | 'readBytes' | 'realPath'>;
  /** Real path of the project's. */
  readonly root: string;
  /** The directories whose `.claude` or `.mcp.json` counts, the project's root last. */
  readonly levels: readonly Pick<ProjectLevel, 'path' | 'hasDirectory'>[];
  /** The user's own configuration, which is nobody's project. */
  readonly configDir: string;
  readonly sources: readonly string[];
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
export async function collectDeclarations(places: CollectPlaces): Promise<readonly Declaration[]> {
  const { fs, root, look = openLook(fs) } = places;
  const own = await realOrNothing(fs, places.configDir);
  const found: Declaration[] = [];
  for (const { path, hasDirectory } of places.levels) {
    const level = await fs.realPath(path);
    const collector = new LevelCollector(places, { root, level, look });
    const directory = hasDirectory ? await realOrNothing(fs, join(path, '.claude')) : undefined;
    const isUsers = directory !== undefined && directory === own;
    found.push(...(await collector.all({ isUsers, isBare: !hasDirectory })));
  }
  const { used } = look;
  if (used === undefined || look.hasMet()) return found;
  // fail-closed: a document that nobody would have been asked about is not one to trust.
  const text = 'is not among the files that are looked at';
  const digest = sha256(canonicalJson(['used', used.file]));
  const name = basename(used.file);
  const { file } = used;
  found.push({ kind: 'unreadable', name, text, file, level: '', digest, pinned: false });
  return found;
}

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
  readonly #root: string;
  readonly #level: string;
  readonly #look: TrustLook;
  readonly #found: Declaration[] = [];
  #hooks: Promise<Hooks> | undefined;
  #isFull = false;

  constructor(places: CollectPlaces, at: { root: string; level: string; look: TrustLook }) {
    this.#places = places;
    this.#root = at.root;
    this.#level = at.level;
    this.#look = at.look;
  }

  async all(is: { isUsers: boolean; isBare: boolean }): Promise<readonly Declaration[]> {
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
    for (const draft of drafts(json.value)) {
      await this.#add(file, { ...draft, line: json.lineOf(draft.way) });
    }
  }

  async #skills(directory: string): Promise<void> {
    const files = await this.#below(directory);
    for (const file of files) {
      if (file.slice(-SKILL_FILE.length).toLowerCase() === SKILL_FILE) {
        await this.#document(file, basename(dirname(file)), skillDrafts);
      }
      const manifest = toPosix(file).endsWith('/.claude-plugin/plugin.json');
      if (manifest) await this.#plugin(file, dirname(dirname(file)), files);
    }
  }

  async #below(directory: string): Promise<readonly string[]> {
    const tree = await filesBelow(this.#places.fs, directory);
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
      if (!file.toLowerCase().endsWith('.md')) continue;
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
    const stat = await this.#places.fs.stat(file).catch(() => undefined);
    if (drafts === agentDrafts && (stat?.size ?? 0) > MOST_BYTES) return;
    const text = await this.#read(file);
    if (text === undefined) return;
    for (const draft of drafts(text, label)) await this.#add(file, draft);
  }

  /** Whether it is the document that is used now. */
  async #isUsed(file: string): Promise<boolean> {
    const { used } = this.#look;
    if (used === undefined || this.#look.hasMet()) return false;
    return (await realOrNothing(this.#places.fs, file)) === used.file;
  }

  /** Undefined when nothing is there, or nothing that can be read. */
  async #read(file: string): Promise<string | undefined> {
    const { fs } = this.#places;
    try {
      const stat = await fs.stat(file);
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

  #fromRoot(path: string): string {
    return toPosix(relative(this.#root, path));
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

  #push(file: string, draft: Draft, pins: Pins = NO_PINS): void {
    const { kind, name, text, line, value } = draft;
    const way = draft.way.filter((step) => typeof step === 'string');
    this.#found.push({
      kind,
      name,
      text,
      file,
      line,
      level: this.#fromRoot(this.#level),
      pinned: pins.complete && draft.pinned !== false,
      digest: sha256(canonicalJson([1, kind, this.#fromRoot(file), way, value, pins.scripts])),
    });
  }
}

const NO_PINS: Pins = { scripts: {}, complete: true };

/** What all hooks of a level stand for. */
interface Hooks {
  /** Of all of it; absent where nothing is. */
  readonly mark: string | undefined;
  readonly complete: boolean;
}

/** Each is told by itself up to here; one more says nothing new. */
const MOST_UNREADABLE = 20;
