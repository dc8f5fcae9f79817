import { hostFacts } from '../../env/host.js';
import { createProcessSupervisor } from '../../env/node-process.js';
import { privateDirectory } from '../../env/private-files.js';
import type { EffectiveSettings } from '../../settings/types.js';
import { type LiveSkillBook, openSkillBook } from '../../skills/book.js';
import { openExtraction } from '../../skills/extract.js';
import { gitIgnored } from '../../skills/git-ignored.js';
import { readSkillLedger } from '../../skills/ledger.js';
import { type SkillRecord, startsOf } from '../../skills/ledger-record.js';
import type { ListingOptions } from '../../skills/listing.js';
import { overrideFrom } from '../../skills/overrides.js';
import { parseYaml } from '../../util/parse-yaml.js';
import type { Result } from '../../util/result.js';
import { type StartHereOptions, startHere } from './start-here.js';

export interface SkillsHere {
  readonly cwd: string;
  readonly trusted: boolean;
  readonly settings: EffectiveSettings;
  readonly book: LiveSkillBook;
  /** What became of skills in earlier sessions. An error: why nobody knows. */
  readonly ledger: Result<readonly SkillRecord[], string>;
  /** How the listing is made here, but for the model's window. */
  readonly listing: Omit<ListingOptions, 'windowTokens'>;
  /** Removes what was put on disk. */
  close(): void;
}

/** The skills that a session in this directory would have. */
export async function skillsHere(options: StartHereOptions): Promise<SkillsHere> {
  const { env } = process;
  const { places, trusted, settings } = await startHere(options);
  const { values } = settings;
  const override = (name: string) => overrideFrom(values, name);
  const bundled = privateDirectory(hostFacts().temporaryDirectory, 'portcullis-skills-');
  const book = openSkillBook({
    ...places,
    parseYaml,
    override,
    isIgnored: gitIgnored({
      fs: places.fs,
      processes: createProcessSupervisor(places),
      env,
      isTrusted: async () => trusted,
    }),
    ...(values.get('disableBundledSkills')?.value === true
      ? {}
      : { bundled: openExtraction(bundled) }),
  });
  const ledger = await readSkillLedger(places);
  const listing = {
    overrides: override,
    fraction: numberOf(values.get('skillListingBudgetFraction')?.value),
    maxEntryChars: numberOf(values.get('skillListingMaxDescChars')?.value),
    budgetChars: budgetFrom(env),
    isDormant: book.isDormant,
    used: () => startsOf(ledger.ok ? ledger.value : []),
  };
  const close = (): void => bundled.remove();
  return { cwd: places.cwd, trusted, settings, book, ledger, listing, close };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function budgetFrom(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const budget = Number(env.SLASH_COMMAND_TOOL_CHAR_BUDGET);
  return Number.isInteger(budget) && budget > 0 ? budget : undefined;
}
