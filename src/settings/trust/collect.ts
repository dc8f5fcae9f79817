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
import { agentItems, type DocumentItems, skillItems } from './markdown.js';
import { type Pins, ScriptReader, type SeenScripts } from './scripts.js';
import { serverItems, settingsItems } from './settings.js';
import { filesBelow, MAX_DOCUMENT_BYTES, realPathOrNothing } from './tree.js';
import type { Declaration, TrustItem, UsedDocument } from './types.js';

interface CollectOptions {
  readonly fs: Pick<FileSystem, 'stat' | 'list' | 'readText' | 'readBytes' | 'realPath'>;
  /** The real path of the project's root. */
  readonly root: string;
  /** The directories with a relevant `.claude` or `.mcp.json`, the root last. */
  readonly levels: readonly Pick<ProjectLevel, 'path' | 'hasDirectory'>[];
  /** The user's configuration, which does not count as a project's. */
  readonly configDir: string;
  readonly sources: readonly string[];
  /** A document in use: its text is judged instead of the file's content. */
  readonly used?: UsedDocument;
}

/** Bounds the reading of a project, so that the start stays fast. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ITEMS = 10_000;
/** Unreadable paths listed individually. */
const MAX_UNREADABLE = 20;

/**
 * Collects everything in a project's files that runs or grants something, the root's last. Digests ignore
 * order and formatting but include the file's place in the project.
 */
export async function collectDeclarations(
  options: CollectOptions,
): Promise<{ readonly declarations: readonly Declaration[]; readonly scripts: SeenScripts }> {
  const collector = new Collector(options);
  for (const level of options.levels) await collector.addLevel(level);
  return collector.finish();
}

class Collector {
  readonly #options: CollectOptions;
  readonly #scripts: ScriptReader;
  readonly #found: Declaration[] = [];
  /** The digests of the hook scripts of each level. */
  readonly #hookPins = new Map<string, Pins>();
  readonly #overfull = new Set<string>();
  #level = '';
  #bytesLeft = MAX_BYTES;
  #itemsLeft = MAX_ITEMS;
  #foundUsed = false;

  constructor(options: CollectOptions) {
    this.#options = options;
    this.#scripts = new ScriptReader(options.fs);
  }

  finish(): { declarations: readonly Declaration[]; scripts: SeenScripts } {
    const { used } = this.#options;
    if (used !== undefined && !this.#foundUsed) {
      // fail-closed: a document outside the searched files was never accepted.
      this.#level = this.#options.root;
      this.#addUnread(used.file, 'is not among the files that are looked at');
    }
    return { declarations: this.#found, scripts: this.#scripts.seen };
  }

  async addLevel({ path, hasDirectory }: CollectOptions['levels'][number]): Promise<void> {
    const { fs, configDir, sources } = this.#options;
    this.#level = await fs.realPath(path);
    const directory = join(this.#level, '.claude');
    const real = hasDirectory ? await realPathOrNothing(fs, join(path, '.claude')) : undefined;
    const isUsers = real !== undefined && real === (await realPathOrNothing(fs, configDir));
    if (hasDirectory && sources.includes('local')) {
      await this.#json(join(directory, 'settings.local.json'), settingsItems);
    }
    if (!sources.includes('project')) return;
    await this.#json(join(this.#level, '.mcp.json'), serverItems);
    if (!hasDirectory || isUsers) return;
    await this.#json(join(directory, 'settings.json'), settingsItems);
    await this.#skills(join(directory, 'skills'));
    await this.#documents(join(directory, 'commands'), skillItems);
    await this.#documents(join(directory, 'agents'), agentItems);
  }

  async #json(file: string, itemsIn: (value: unknown) => readonly TrustItem[]): Promise<void> {
    const text = await this.#read(file);
    const json = text === undefined ? undefined : parseLocatedJson(text);
    // Invalid JSON grants nothing, and its loader reports it.
    if (json?.ok !== true) return;
    for (const item of itemsIn(json.value)) {
      await this.#add(file, { ...item, line: json.lineOf(item.path) });
    }
  }

  async #skills(directory: string): Promise<void> {
    const files = await this.#filesBelow(directory);
    for (const file of files) {
      if (file.toLowerCase().endsWith(`${separator}skill.md`)) {
        await this.#document(file, basename(dirname(file)), skillItems);
      }
      if (!toPosix(file).endsWith('/.claude-plugin/plugin.json')) continue;
      // A plugin consists of many files, which together are its declaration.
      const plugin = dirname(dirname(file));
      const inside = files.filter((one) => isInside(one, plugin));
      const { scripts, complete } = await this.#scripts.pins(inside, this.#options.root);
      await this.#add(file, {
        kind: 'plugin',
        name: basename(plugin),
        text: `${inside.length} files in ${this.#fromRoot(plugin)}`,
        path: ['plugin'],
        value: scripts,
        line: 1,
        pinned: complete,
      });
    }
  }

  async #documents(directory: string, itemsIn: DocumentItems): Promise<void> {
    for (const file of await this.#filesBelow(directory)) {
      if (!file.toLowerCase().endsWith('.md')) continue;
      const label = toPosix(relative(directory, file)).slice(0, -'.md'.length);
      await this.#document(file, label, itemsIn);
    }
  }

  async #document(file: string, label: string, itemsIn: DocumentItems): Promise<void> {
    const { fs, used } = this.#options;
    const isUsed =
      used !== undefined && !this.#foundUsed && (await realPathOrNothing(fs, file)) === used.file;
    if (isUsed) this.#foundUsed = true;
    else if (itemsIn === agentItems) {
      const stat = await fs.stat(file).catch(() => undefined);
      // The agent reader skips such files too.
      if ((stat?.size ?? 0) > MAX_DOCUMENT_BYTES) return;
    }
    const text = isUsed ? used.text : await this.#read(file);
    if (text === undefined) return;
    for (const item of itemsIn(text, label)) await this.#add(file, item);
  }

  async #filesBelow(directory: string): Promise<readonly string[]> {
    const tree = await filesBelow(this.#options.fs, directory);
    if (tree.cut) this.#addUnread(directory, 'more files than are looked at');
    for (const path of tree.unreadable.slice(0, MAX_UNREADABLE)) {
      this.#addUnread(path, 'cannot be read');
    }
    return tree.files;
  }

  /** Undefined when the file is missing or unreadable. */
  async #read(file: string): Promise<string | undefined> {
    const { fs } = this.#options;
    try {
      const stat = await fs.stat(file);
      if (stat === undefined) return undefined;
      if (stat.size > this.#bytesLeft) {
        this.#addOverfull();
        return undefined;
      }
      this.#bytesLeft -= stat.size;
      return await fs.readText(file, { maxBytes: MAX_DOCUMENT_BYTES });
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      // fail-closed: the file exists, and another program may be able to read it.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.#addUnread(file, 'cannot be read');
      return undefined;
    }
  }

  /** fail-closed: unread content may declare anything, so trust in it is not stored. */
  #addUnread(file: string, text: string): void {
    const name = basename(file);
    const value = 'more files than are looked at';
    this.#push(file, { kind: 'unreadable', name, text, path: [name], value, pinned: false });
  }

  #addOverfull(): void {
    const file = join(this.#level, '.claude');
    if (!this.#overfull.has(file)) this.#addUnread(file, 'there is more in it than is looked at');
    this.#overfull.add(file);
  }

  async #add(file: string, item: TrustItem): Promise<void> {
    if (this.#itemsLeft-- <= 0) {
      this.#addOverfull();
      return;
    }
    const { runs = [] } = item;
    const { root } = this.#options;
    const named = await this.#scripts.named(runs, {
      root,
      level: this.#level,
      directory: dirname(file),
    });
    const scripts = { ...named.scripts };
    let pinned = named.complete && item.pinned !== false;
    if (item.kind === 'hook' && runs.length > 0) {
      const hooks = await this.#hooksOfLevel();
      const isEmpty = Object.keys(hooks.scripts).length === 0;
      if (!isEmpty) scripts['.claude/hooks/**'] = sha256(canonicalJson(hooks.scripts));
      pinned &&= hooks.complete;
    }
    this.#push(file, { ...item, pinned }, scripts);
  }

  async #hooksOfLevel(): Promise<Pins> {
    const known = this.#hookPins.get(this.#level);
    if (known !== undefined) return known;
    const pins = await this.#scripts.hooks({ root: this.#options.root, level: this.#level });
    this.#hookPins.set(this.#level, pins);
    if (!pins.complete) {
      const directory = join(this.#level, '.claude', 'hooks');
      this.#addUnread(directory, 'there is more than is looked at, or it cannot all be read');
    }
    return pins;
  }

  #push(file: string, item: TrustItem, scripts: Readonly<Record<string, string>> = {}): void {
    const { kind, name, text, line, value, pinned = true } = item;
    const path = item.path.filter((step) => typeof step === 'string');
    const parts = [1, kind, this.#fromRoot(file), path, value, scripts];
    const digest = sha256(canonicalJson(parts));
    const level = this.#fromRoot(this.#level);
    this.#found.push({ kind, name, text, file, line, level, pinned, digest });
  }

  #fromRoot(path: string): string {
    return toPosix(relative(this.#options.root, path));
  }
}
