import { gitignoreMatcher } from '../../context/instructions/path-matcher.js';
import { Queue } from '../../lib/queue.js';
import { isInside, relative, resolve, toPosix } from '../../platform/fs/paths.js';
import { projectLevels } from '../../platform/fs/project-levels.js';
import type { UsedDocument } from '../../settings/trust/types.js';
import type { SkillOverride } from '../listing/listing.js';
import type { Skill, SkillBook, SkippedSkill } from '../skill.js';
import { bundledSkills, type Extraction } from './bundled-skills.js';
import { NestedFinder } from './find-nested.js';
import { isTrusted, rememberedTrust } from './homes.js';
import { asName } from './names.js';
import { openSkillReader, type SkillFileReader } from './read-file.js';
import type { SkillPlaces, SkillRoot } from './roots.js';
import { type SkillEntry, type SkillSet, scanSkills } from './scan.js';

export interface SkillBookDeps extends SkillPlaces {
  /**
   * Whether the current contents of this directory's `.claude` may grant and execute; called for the start
   * directory, those above it, added ones and subdirectories. `used` is the document about to be used, in
   * that very version.
   */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** Whether git ignores a path. A throw means that it is unknown, and the path is not used. */
  isIgnored(path: string): Promise<boolean>;
  /** The setting `skillOverrides` for a skill. */
  override?(name: string): SkillOverride | undefined;
  /**
   * Why a skill file that is new or changed since the session's first scan must not be used. The earlier
   * version, if there is one, stays in force then. Absent: every change is used. Not called for an
   * administrator's skills.
   */
  veto?(file: string): Promise<string | undefined>;
  /** Where bundled skills write their files. Absent: there are none (`disableBundledSkills`). */
  readonly bundled?: Extraction | undefined;
}

/** The skills of a session, including dormant ones whose `paths` no file has matched yet. */
export interface LiveSkillBook extends SkillBook {
  /** The skills that `list` returns, for naming them only: trust is not checked, and none counts as trusted. */
  offered(): Promise<readonly Skill[]>;
  /** Includes dormant skills, which `list` leaves out; shown to people. */
  all(): Promise<readonly Skill[]>;
  /** The dormant skills; trust is not checked. */
  waiting(): Promise<readonly Skill[]>;
  /** No file matching its `paths` was touched yet: people may run it, but the model does not know it. */
  isDormant(skill: Skill): boolean;
}

/** Opens the skills of a session, which are read on first use. */
export function openSkillBook(deps: SkillBookDeps): LiveSkillBook {
  return new Book(deps);
}

class Book implements LiveSkillBook {
  readonly #deps: SkillBookDeps;
  readonly #nested: NestedFinder;
  readonly #reader: SkillFileReader;
  /** Files of skills that are no longer dormant. */
  readonly #awake = new Set<string>();
  #nestedRoots: readonly SkillRoot[] = [];
  #bundled: readonly Skill[] | undefined;
  #set: Promise<SkillSet> | undefined;
  readonly #changes = new Queue();

  constructor(deps: SkillBookDeps) {
    this.#deps = deps;
    this.#nested = new NestedFinder(deps);
    this.#reader = openSkillReader(deps);
  }

  async all(): Promise<readonly Skill[]> {
    return await this.#withTrust((await this.#current()).entries);
  }

  async list(): Promise<readonly Skill[]> {
    return (await this.all()).filter((skill) => !this.isDormant(skill));
  }

  async offered(): Promise<readonly Skill[]> {
    return (await this.#untrusted()).filter((skill) => !this.isDormant(skill));
  }

  async waiting(): Promise<readonly Skill[]> {
    return (await this.#untrusted()).filter((skill) => this.isDormant(skill));
  }

  find(name: string): Promise<Skill | undefined> {
    return this.#changes.add(() => this.#find(asName(name)));
  }

  touched(paths: readonly string[]): Promise<readonly Skill[]> {
    return this.#changes.add(() => this.#touched(paths));
  }

  refresh(): Promise<boolean> {
    return this.#changes.add(async () => {
      this.#nested.forget();
      const before = this.#set === undefined ? undefined : signatureOf(await this.#set);
      return signatureOf(await this.#rescan()) !== before;
    });
  }

  async skipped(): Promise<readonly SkippedSkill[]> {
    return [...(await this.#current()).skipped, ...this.#nested.skipped];
  }

  readonly isDormant = ({ head, file }: Skill): boolean =>
    head.paths !== undefined && !this.#awake.has(file);

  /** Finds a skill in its current version on disk, checking trust for exactly that text. */
  async #find(name: string): Promise<Skill | undefined> {
    let entry = lookUp(await this.#current(), name);
    if (entry?.read === undefined) return entry?.skill;
    if ((await this.#reader.textOf(entry.read)) !== entry.read.onDisk) {
      entry = lookUp(await this.#rescan(), name);
    }
    if (entry?.read === undefined) return entry?.skill;
    const { skill, level, read } = entry;
    const used = { ...skill, body: () => Promise.resolve(read.body) };
    if (level === undefined) return used;
    const document = { file: read.real, text: read.text };
    return { ...used, trusted: await isTrusted(this.#deps, level, document) };
  }

  async #touched(paths: readonly string[]): Promise<readonly Skill[]> {
    const before = await this.#current();
    const roots = await this.#nested.touched(paths);
    this.#nestedRoots = [...this.#nestedRoots, ...roots];
    const { entries } = roots.length === 0 ? before : await this.#rescan();
    const known = new Set(before.entries.map(({ skill }) => skill.file));
    const news = entries.filter((entry) => {
      const { file } = entry.skill;
      if (!this.isDormant(entry.skill)) return !known.has(file);
      const isAbout = this.#isAbout(entry, paths);
      if (isAbout) this.#awake.add(file);
      return isAbout;
    });
    return await this.#withTrust(news);
  }

  async #untrusted(): Promise<readonly Skill[]> {
    return (await this.#current()).entries.map(({ skill }) => skill);
  }

  async #withTrust(entries: readonly SkillEntry[]): Promise<readonly Skill[]> {
    const trusts = rememberedTrust(this.#deps);
    return await Promise.all(
      entries.map(async ({ skill, level }) =>
        level !== undefined && (await trusts(level)) ? { ...skill, trusted: true } : skill,
      ),
    );
  }

  #current(): Promise<SkillSet> {
    this.#set ??= this.#scan().catch((thrown: unknown) => {
      // A failed scan is repeated on the next request.
      this.#set = undefined;
      throw thrown;
    });
    return this.#set;
  }

  async #rescan(): Promise<SkillSet> {
    const next = await this.#scan();
    this.#set = Promise.resolve(next);
    return next;
  }

  async #scan(): Promise<SkillSet> {
    const { bundled } = this.#deps;
    this.#bundled ??= bundled === undefined ? [] : await bundledSkills(bundled);
    this.#reader.begin();
    const found = await scanSkills({
      ...this.#deps,
      reader: this.#reader,
      nestedRoots: this.#nestedRoots,
      bundledSkills: this.#bundled,
    });
    this.#reader.end();
    return found;
  }

  #isAbout({ skill, level }: SkillEntry, paths: readonly string[]): boolean {
    const { cwd, additionalDirectories } = this.#deps;
    const bases =
      level === undefined ? [...projectLevels(cwd), ...additionalDirectories()] : [level];
    const fits = gitignoreMatcher(skill.head.paths ?? []);
    return paths.some((path) => {
      const file = resolve(cwd, path);
      return bases.some((base) => isInside(file, base) && fits(toPosix(relative(base, file))));
    });
  }
}

/**
 * Finds by name; a plugin's skill also by its directory's name, and by the last part of either if that is
 * unambiguous.
 */
function lookUp({ byName, entries }: SkillSet, name: string): SkillEntry | undefined {
  const exact = byName.get(name);
  if (exact !== undefined) return exact;
  const bare = entries.filter(
    ({ skill, alias }) =>
      skill.origin === 'plugin' &&
      (skill.name.endsWith(`:${name}`) || alias?.endsWith(`:${name}`) === true),
  );
  return bare.length === 1 ? bare[0] : undefined;
}

/** Changes whenever the listing changes. */
function signatureOf({ entries }: SkillSet): string {
  return JSON.stringify(
    entries.map(({ skill: { name, origin, head } }) => [
      name,
      origin,
      head.description,
      head.whenToUse,
      head.disableModelInvocation,
      head.userInvocable,
      head.paths,
    ]),
  );
}
