import { hostFacts } from '../env/host.js';
import { createProcessSupervisor } from '../env/node-process.js';
import { privateDirectory } from '../env/private-files.js';
import { type LiveSkillBook, openSkillBook } from '../skills/book.js';
import { openExtraction } from '../skills/extract.js';
import { gitIgnored } from '../skills/git-ignored.js';
import { readSkillLedger } from '../skills/ledger.js';
import { type SkillRecord, startsOf } from '../skills/ledger-record.js';
import type { ListingOptions } from '../skills/listing.js';
import { overrideFrom } from '../skills/overrides.js';
import { parseYaml } from '../util/parse-yaml.js';
import type { Result } from '../util/result.js';
import type { DocumentPlaces } from './documents.js';
import type { ProjectSettings } from './settings.js';

/** The skills that a session in this directory would have. */
export interface ProjectSkills {
  readonly book: LiveSkillBook;
  /** How often skills were offered and started in earlier sessions. An error: why that is unknown. */
  readonly ledger: Result<readonly SkillRecord[], string>;
  /** How the list for the model is made here, but for the model's window. */
  readonly listing: Omit<ListingOptions, 'windowTokens'>;
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
    parseYaml,
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
  return { book, ledger, listing, close: () => bundled.remove() };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function budgetFrom(text: string | undefined): number | undefined {
  const budget = Number(text);
  return Number.isInteger(budget) && budget > 0 ? budget : undefined;
}
