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
   * Whether what stands in the `.claude` of this directory may grant and execute, as it is now. Asked
   * about the start directory, those above it, added ones and sub-directories alike. `used`: the one
   * document that is about to be used, in the text in which that happens.
   */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
  /** Whether git ignores a path. A throw means that it is unknown, and the path is not used. */
  isIgnored(path: string): Promise<boolean>;
  /** `skillOverrides`, by name. */
  override?(name: string): SkillOverride | undefined;
  /**
   * A skill's file is new or changed since the session looked first: a reason why that must not be
   * taken over. The earlier version stays in force where it is known, else there is none. Absent:
   * every change is taken over. Not asked about an administrator's skills.
   */
  veto?(file: string): Promise<string | undefined>;
  /** Where bundled skills put their files. Absent: there are none (`disableBundledSkills`). */
  readonly bundled?: Extraction | undefined;
}

/** The skills of a session, and which of them wait for a file. */
export interface LiveSkillBook extends SkillBook {
  /** As `list`, to name them only: no folder is asked about, and none of them counts as trusted. */
  offered(): Promise<readonly Skill[]>;
  /** Those that wait for a file too, which `list` leaves out: for people. */
  all(): Promise<readonly Skill[]>;
  /** Those that wait for a file, as in `offered`. */
  waiting(): Promise<readonly Skill[]>;
  /** Its `paths` name files and none of them was touched: people may run it, the model does not know it. */
  isDormant(skill: Skill): boolean;
}

/** Nothing is read before something is asked for. */
export function openSkillBook(deps: SkillBookDeps): LiveSkillBook {
  return new Book(deps);
}

class Book implements LiveSkillBook {
  readonly #deps: SkillBookDeps;
  readonly #nested: NestedFinder;
  readonly #reader: SkillFileReader;
  /** Files of those that no longer wait. */
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

  /** For use, in the version that is on disk now: trust is asked about exactly the text that is used. */
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
      // The next question looks again.
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

  /** Whether one of the paths is what the skill waits for. */
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

/** By its name; a plugin's also by its directory's, and by the last part of both where that is free. */
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

/** All that a listing is made of. */
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
