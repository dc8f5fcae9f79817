import { splitFile } from '../../lib/head-text.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { FileStat } from '../../platform/fs/fs.js';
import type { ReadSkill } from '../head/head.js';
import type { SkillOverride } from '../listing/listing.js';
import type { Skill, SkillHead, SkillOrigin, SkippedSkill } from '../skill.js';
import { type Candidate, findIn } from './find.js';
import { openHomes, rememberedTrust } from './homes.js';
import { nameProblem } from './names.js';
import type { ReadFile, SkillFileReader } from './read-file.js';
import { type SkillPlaces, type SkillRoot, skillRoots } from './roots.js';

export interface ScanDeps extends SkillPlaces {
  trusts(directory: string): Promise<boolean>;
  override?(name: string): SkillOverride | undefined;
  readonly only?: readonly string[] | undefined;
  readonly nestedRoots: readonly SkillRoot[];
  readonly reader: SkillFileReader;
  /** The version of a file that may be used, or why there is none. */
  admit(file: string, read: ReadFile): Promise<Result<ReadFile, string>>;
  readonly bundledSkills: readonly Skill[];
}

export interface ShelfEntry {
  readonly skill: Skill;
  /** Of a plugin's skill whose head gives it another name: the name by its directory. */
  readonly alias?: string;
  /** The directory whose trust decides; absent where no project's does. */
  readonly level?: string;
  /** The version that was looked at last; absent for what is not a file. */
  readonly version?: FileStat;
  /**
   * The skill as it is used: head and body of the bytes that are there now, and those bytes. An error:
   * what is there now cannot be used.
   */
  use?(): Promise<Result<UsedSkill, string>>;
}

export interface UsedSkill {
  readonly skill: Skill;
  /** All of the file. */
  readonly text: string;
  /** The file behind all links. */
  readonly real: string;
}

/** Everything there is at one moment. */
export interface Shelf {
  readonly entries: readonly ShelfEntry[];
  readonly byName: ReadonlyMap<string, ShelfEntry>;
  /** Second names that no skill has for its own. */
  readonly byAlias: ReadonlyMap<string, ShelfEntry>;
  readonly skipped: readonly SkippedSkill[];
}

/** Looks through all places, decides which skill has which name, and reads the heads of those. */
export async function scanSkills(deps: ScanDeps): Promise<Shelf> {
  const trusts = rememberedTrust(deps);
  const homes = await openHomes({ ...deps, trusts });
  const names = new NameBook(deps);
  const skippedFiles: SkippedSkill[] = [];
  for (const root of [...(await skillRoots(deps)), ...deps.nestedRoots]) {
    const found = await findIn(root, { fs: deps.fs, homes });
    for (const candidate of found.candidates) names.claim(candidate);
    skippedFiles.push(...found.skipped);
  }
  const entries: ShelfEntry[] = [];
  const skipped: SkippedSkill[] = [];
  for (const [name, candidate] of names.claims) {
    const one = await load(name, candidate, deps);
    if ('skill' in one) entries.push(one);
    else skipped.push(one);
  }
  for (const skill of deps.bundledSkills) {
    const reason = names.refuseBundled(skill.name);
    if (reason === undefined) entries.push({ skill: withOverride(skill, deps) });
    else skipped.push({ name: skill.name, file: skill.file, reason });
  }
  entries.sort((a, b) => compare(a.skill, b.skill));
  const byName = new Map<string, ShelfEntry>();
  for (const entry of entries) {
    const { name, file } = entry.skill;
    const holder = byName.get(name);
    if (holder === undefined) byName.set(name, entry);
    else {
      const reason = `${holder.skill.file} has the same name and goes first`;
      skipped.push({ name, file, reason, told: true });
    }
  }
  const byAlias = new Map(entries.flatMap((entry) => aliased(entry, byName)));
  return {
    entries: [...byName.values()],
    byName,
    byAlias,
    skipped: [...skippedFiles, ...names.skipped, ...skipped],
  };
}

function aliased(
  entry: ShelfEntry,
  byName: ReadonlyMap<string, ShelfEntry>,
): readonly (readonly [string, ShelfEntry])[] {
  const { alias, skill } = entry;
  const isFree = alias !== undefined && !byName.has(alias) && byName.get(skill.name) === entry;
  return isFree ? [[alias, entry]] : [];
}

/** Who has which name. The first that claims it gets it. */
class NameBook {
  readonly claims = new Map<string, Candidate>();
  readonly skipped: SkippedSkill[] = [];
  readonly #files = new Map<string, string>();
  readonly #deps: ScanDeps;

  constructor(deps: ScanDeps) {
    this.#deps = deps;
  }

  claim(candidate: Candidate): void {
    const { file, real } = candidate;
    const name = this.#nameFor(candidate);
    const reason = this.#refusal(name, candidate);
    if (reason !== undefined) {
      const isClash = this.#files.get(real) === undefined && this.claims.has(name);
      this.skipped.push({ name, file, reason, told: isClash ? true : undefined });
      return;
    }
    this.#files.set(real, file);
    this.claims.set(name, candidate);
  }

  /** Bundled skills come last: every other of the same name stands in their place. */
  refuseBundled(name: string): string | undefined {
    const holder = this.claims.get(name);
    if (holder !== undefined) return `${holder.file} has the same name and goes first`;
    return this.#unwanted(name, 'bundled');
  }

  #refusal(name: string, { real, root }: Candidate): string | undefined {
    const same = this.#files.get(real);
    if (same !== undefined) return `it is the same file as ${same}`;
    const holder = this.claims.get(name);
    if (holder !== undefined) return `${holder.file} has the same name and goes first`;
    return this.#unwanted(name, root.origin);
  }

  #nameFor({ name, root }: Candidate): string {
    if (root.prefix === undefined) return name;
    if (root.origin === 'plugin') return `${root.prefix}:${name}`;
    // Where it clashes with nothing a nested skill has its plain name.
    return this.claims.has(name) ? `${root.prefix}:${name}` : name;
  }

  #unwanted(name: string, origin: SkillOrigin): string | undefined {
    const { only } = this.#deps;
    if (only !== undefined && !only.includes(name)) return 'the host did not ask for it';
    if (origin === 'plugin' || this.#deps.override?.(name) !== 'off') return undefined;
    return 'skillOverrides has it off';
  }
}

async function load(
  name: string,
  candidate: Candidate,
  deps: ScanDeps,
): Promise<ShelfEntry | SkippedSkill> {
  const { root, file } = candidate;
  const read = await deps.reader.read(candidate);
  if (!read.ok) return { name, file, reason: read.error };
  // What an administrator changed is nobody's to refuse.
  const isManaged = root.source === 'managed';
  const admitted = isManaged ? read : await deps.admit(file, read.value);
  if (!admitted.ok) return { name, file, reason: admitted.error };
  return entryOf(name, candidate, { deps, read: admitted.value, version: read.value.version });
}

function entryOf(
  name: string,
  candidate: Candidate,
  from: { readonly deps: ScanDeps; readonly read: ReadFile; readonly version: FileStat },
): ShelfEntry | SkippedSkill {
  const { root, file } = candidate;
  const { deps, read, version } = from;
  const refusal = refusalOf(read.skill);
  if (refusal !== undefined) return { name, file, reason: refusal, told: true };
  const skill = skillOf(name, candidate, { deps, found: read.skill, body: () => bodyOf(read) });
  const use = (): Promise<Result<UsedSkill, string>> =>
    used(name, candidate, { deps, read, skill });
  return { skill, version, use, level: root.level, alias: skill.name === name ? undefined : name };
}

async function bodyOf(read: ReadFile): Promise<string> {
  return splitFile(await read.text()).body;
}

async function used(
  name: string,
  candidate: Candidate,
  from: { readonly deps: ScanDeps; readonly read: ReadFile; readonly skill: Skill },
): Promise<Result<UsedSkill, string>> {
  const { deps, read, skill } = from;
  const text = await read.text();
  const now = await deps.reader.parse(text, candidate.root);
  if (!now.ok) return now;
  const unclear = refusalOf(now.value);
  if (unclear !== undefined) return err(unclear);
  const whole = now.value.body;
  const found = { deps, found: now.value, body: () => Promise.resolve(whole) };
  // It was asked for by the name that it had.
  const inUse = { ...skillOf(name, candidate, found), name: skill.name };
  return ok({ skill: inUse, text, real: await deps.fs.realPath(candidate.file) });
}

function refusalOf({ refusal }: Pick<ReadSkill, 'refusal'>): string | undefined {
  if (refusal === undefined) return undefined;
  const place = refusal.line === undefined ? '' : `line ${refusal.line}: `;
  return `${place}${refusal.message}`;
}

function skillOf(
  name: string,
  candidate: Candidate,
  from: {
    readonly deps: ScanDeps;
    readonly found: Omit<ReadSkill, 'body'>;
    readonly body: () => Promise<string>;
  },
): Skill {
  const { root, file, directory } = candidate;
  const { found, body } = from;
  const skill: Skill = {
    name: pluginName(name, found.head, root),
    origin: root.origin,
    source: root.source,
    file,
    directory,
    head: found.head,
    // fail-closed: not before somebody wants to know is a project's folder asked about.
    trusted: root.level === undefined && root.trusted !== false,
    bodyLine: found.bodyLine,
    problems: found.problems,
    body,
    plugin: root.plugin,
    isCommand: root.kind === 'commands' ? true : undefined,
  };
  return withOverride(skill, from.deps);
}

/** The head of a plugin's skill may say its name, not its plugin. */
function pluginName(
  name: string,
  { displayName }: SkillHead,
  { origin, prefix }: SkillRoot,
): string {
  if (origin !== 'plugin' || displayName === undefined) return name;
  return nameProblem(displayName) === undefined ? `${prefix}:${displayName}` : name;
}

/** `user-invocable-only` is what the head itself can say. */
function withOverride(skill: Skill, deps: Pick<ScanDeps, 'override'>): Skill {
  const said = skill.origin === 'plugin' ? undefined : deps.override?.(skill.name);
  if (said !== 'user-invocable-only') return skill;
  return { ...skill, head: { ...skill.head, disableModelInvocation: true } };
}

const ORDER: readonly SkillOrigin[] = [
  'managed',
  'user',
  'project',
  'nested',
  'plugin',
  'mcp',
  'command',
  'bundled',
];

/** The same in every run, so that the same listing is the same bytes. */
function compare(a: Skill, b: Skill): number {
  const byOrigin = ORDER.indexOf(a.origin) - ORDER.indexOf(b.origin);
  if (byOrigin !== 0) return byOrigin;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
