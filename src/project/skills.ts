import { PortcullisError } from '../errors.js';
import type { Result } from '../lib/result.js';
import { nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import { join, relative, toPosix } from '../platform/fs/paths.js';
import { privateDirectory } from '../platform/fs/private-files.js';
import { hostFacts } from '../platform/host.js';
import { createProcessSupervisor } from '../platform/process/node-process.js';
import { type LiveSkillBook, openSkillBook } from '../skills/discovery/book.js';
import { openExtraction } from '../skills/discovery/bundled-skills.js';
import { gitIgnored } from '../skills/discovery/find-nested.js';
import { overrideFrom } from '../skills/discovery/overrides.js';
import { readSkillLedger } from '../skills/listing/ledger.js';
import { type SkillRecord, startsOf } from '../skills/listing/ledger-record.js';
import type { ListingOptions } from '../skills/listing/listing.js';
import type { Skill } from '../skills/skill.js';
import type { DocumentPlaces } from './documents.js';
import type { ProjectSettings } from './settings.js';
import { type SkillValidation, validateSkills } from './skills-validate.js';

export {
  type LeftOutWhy,
  NOTHING_LEFT_OUT,
  recordKey,
  type SkillRecord,
  skippedOf,
} from '../skills/listing/ledger-record.js';
export { type SkillListing, skillListing } from '../skills/listing/listing.js';
export type { Skill } from '../skills/skill.js';

/** The skills that a session in this directory would have. */
export interface ProjectSkills {
  readonly book: LiveSkillBook;
  /** How often skills were offered and started in earlier sessions. An error: why that is unknown. */
  readonly ledger: Result<readonly SkillRecord[], string>;
  /** How the list for the model is made here, but for the model's window. */
  readonly listing: Omit<ListingOptions, 'windowTokens'>;
  /** The skill of a name, or an error that says why there is none or suggests another. */
  find(name: string): Promise<Skill>;
  /** The files of a skill, by their paths from its directory. */
  files(skill: Skill): Promise<readonly string[]>;
  validate(paths: readonly string[]): Promise<SkillValidation>;
  /** Removes the files of bundled skills. */
  close(): void;
}

export async function openProjectSkills(
  places: DocumentPlaces,
  { settings, trusted }: ProjectSettings,
): Promise<ProjectSkills> {
  const { env, fs } = places;
  const { values } = settings;
  const override = (name: string) => overrideFrom(values, name);
  const bundled = privateDirectory(hostFacts().temporaryDirectory, 'portcullis-skills-');
  const book = openSkillBook({
    ...places,
    override,
    isIgnored: gitIgnored({
      fs,
      processes: createProcessSupervisor(places),
      env,
      isTrusted: async () => trusted,
    }),
    bundled:
      values.get('disableBundledSkills')?.value === true ? undefined : openExtraction(bundled),
  });
  const ledger = await readSkillLedger(places);
  const listing = {
    overrides: override,
    fraction: numberOf(values.get('skillListingBudgetFraction')?.value),
    maxEntryChars: numberOf(values.get('skillListingMaxDescChars')?.value),
    budgetChars: budgetFrom(env.SLASH_COMMAND_TOOL_CHAR_BUDGET),
    isDormant: book.isDormant,
    used: () => startsOf(ledger.ok ? ledger.value : []),
  };
  return {
    book,
    ledger,
    listing,
    find: (name) => findSkill(book, name),
    files: (skill) => filesOf(places, skill),
    validate: (paths) => validateSkills(places, paths),
    close: () => bundled.remove(),
  };
}

async function findSkill(book: LiveSkillBook, name: string): Promise<Skill> {
  const found = await book.find(name);
  if (found !== undefined) return found;
  const wanted = name.replace(/^\//, '');
  const skipped = (await book.skipped()).find((one) => one.name === wanted);
  if (skipped !== undefined) {
    const message = `the skill ${visible(wanted)} is not in force: ${visible(skipped.reason)}`;
    throw new PortcullisError('usage', message, { remedy: `see ${visible(skipped.file)}` });
  }
  const known = (await book.all()).map((skill) => skill.name);
  const meant = nearest(wanted, known);
  throw new PortcullisError('usage', `there is no skill ${visible(wanted)}`, {
    remedy:
      meant === undefined ? 'portcullis skills list shows them all' : `did you mean ${meant}?`,
  });
}

const MAX_FILES = 200;

/** A command is one file among others and has none of its own. */
async function filesOf(
  { fs }: DocumentPlaces,
  { isCommand, directory }: Skill,
): Promise<readonly string[]> {
  if (isCommand === true) return [];
  const files: string[] = [];
  const open = [directory];
  for (let at = open.pop(); at !== undefined && files.length < MAX_FILES; at = open.pop()) {
    for (const { name, kind } of await fs.list(at).catch(() => [])) {
      const path = join(at, name);
      if (kind === 'directory' && name !== 'node_modules' && name !== '.git') open.push(path);
      else if (kind !== 'directory') files.push(toPosix(relative(directory, path)));
    }
  }
  return files.sort();
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function budgetFrom(text: string | undefined): number | undefined {
  const budget = Number(text);
  return Number.isInteger(budget) && budget > 0 ? budget : undefined;
}
