import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { createProcessSupervisor } from '../../env/node-process.js';
import { configDirectory, resolve, stateDirectory } from '../../env/paths.js';
import { privateDirectory } from '../../env/private-files.js';
import { projectLevels } from '../../env/project-levels.js';
import { loadSettings, managedSettingsDirectory } from '../../settings/load.js';
import { openProjectTrust } from '../../settings/trust.js';
import { startTrust } from '../../settings/trust-start.js';
import type { EffectiveSettings } from '../../settings/types.js';
import { type LiveSkillBook, openSkillBook } from '../../skills/book.js';
import { openExtraction } from '../../skills/extract.js';
import { gitIgnored } from '../../skills/git-ignored.js';
import { readSkillLedger } from '../../skills/ledger.js';
import { type SkillRecord, startsOf } from '../../skills/ledger-record.js';
import type { ListingOptions } from '../../skills/listing.js';
import { overrideFrom } from '../../skills/overrides.js';
import { parseYaml } from '../../skills/parse-yaml.js';
import type { Result } from '../../util/result.js';

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

export interface SkillsHereOptions {
  readonly trust: boolean;
  /** As `--settings` takes it. */
  readonly settings?: string | undefined;
  readonly addDirs?: readonly string[];
}

/** The skills that a session in this directory would have. */
export async function skillsHere(options: SkillsHereOptions): Promise<SkillsHere> {
  const { env } = process;
  const cwd = process.cwd();
  const { os, temporaryDirectory } = hostFacts();
  const places = {
    fs: nodeFileSystem,
    cwd,
    env,
    configDir: configDirectory(env),
    managedDir: managedSettingsDirectory(os),
    stateDirectory: stateDirectory(env),
    sources: ['user', 'project', 'local'] as const,
    now: systemClock.now,
    // What is held back stands in the list.
    warn: () => undefined,
  };
  const trust = await startTrust({ ...places, given: options.trust });
  const { settings } = await loadSettings({
    ...places,
    trustProject: trust.now,
    ...(options.settings === undefined ? {} : { flagSettings: options.settings }),
  });
  const { values } = settings;
  const added = [
    ...(options.addDirs ?? []).map((directory) => resolve(cwd, directory)),
    ...settings.permissions.additionalDirectories.map(({ value }) => value),
  ];
  const override = (name: string) => overrideFrom(values, name);
  const bundled = privateDirectory(temporaryDirectory, 'portcullis-skills-');
  const book = openSkillBook({
    ...places,
    parseYaml,
    override,
    additionalDirectories: () => added,
    // One unaccepted declaration on the way up holds back all that is on it.
    trusts: async (directory) =>
      projectLevels(cwd).includes(directory)
        ? trust.now
        : options.trust || (await trustOf({ ...places, cwd: directory })),
    isIgnored: gitIgnored({ processes: createProcessSupervisor(places), env }),
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
  return { cwd, trusted: trust.now, settings, book, ledger, listing, close };
}

async function trustOf(places: Parameters<typeof openProjectTrust>[0]): Promise<boolean> {
  return (await openProjectTrust(places).check()).verdict === 'trusted';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function budgetFrom(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const budget = Number(env.SLASH_COMMAND_TOOL_CHAR_BUDGET);
  return Number.isInteger(budget) && budget > 0 ? budget : undefined;
}
