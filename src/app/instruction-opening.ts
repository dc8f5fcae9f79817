import type { SessionConfig } from '../agents/core/session-config.js';
import { createInstructionBook, type InstructionBook } from '../context/instructions/book.js';
import {
  type IncludeApprovalStore,
  openIncludeApprovals,
} from '../context/instructions/include-approvals.js';
import { instructionSettings } from '../context/instructions/settings.js';
import { parseYaml } from '../lib/parse-yaml.js';
import { homeDirectory, resolve, stateDirectory } from '../platform/fs/paths.js';
import { parseLocatedJson } from '../settings/files/json.js';
import { managedSettingsDirectory } from '../settings/files/load.js';
import type { ConfigProblem } from '../settings/types.js';
import { type Fences, type Hiding, openHiding } from './instruction-reading.js';
import type { SessionEnvironment } from './session-environment.js';

/** What is asked of a session to find its instruction files. */
export type InstructionConfig = Pick<
  SessionConfig,
  'cwd' | 'env' | 'trust' | 'addDirs' | 'allowedTools' | 'disallowedTools' | 'runsAs'
>;

/** What they are looked for with. */
export type InstructionGround = Pick<
  SessionEnvironment,
  | 'fs'
  | 'env'
  | 'configDir'
  | 'stateDirectory'
  | 'host'
  | 'levels'
  | 'sources'
  | 'settings'
  | 'workspace'
> & { readonly trust: Pick<SessionEnvironment['trust'], 'now'> };

export interface OpenedBook {
  readonly book: InstructionBook;
  readonly hiding: Hiding;
  readonly approvals: IncludeApprovalStore;
  /** What is wrong with the settings about instructions. */
  readonly problems: readonly ConfigProblem[];
}

/** The instruction files of a place, and which files rules keep from whoever reads them. Nothing is read yet. */
export function openInstructionBook(
  config: InstructionConfig,
  environment: InstructionGround,
  ofAgents?: Fences,
): OpenedBook {
  const { fs, env, configDir } = environment;
  const home = homeDirectory(env);
  const { settings, problems } = instructionSettings(environment.settings.values);
  const approvals = openIncludeApprovals({ fs, stateDirectory: stateDirectory(env) });
  const hiding = openHiding(config, environment, ofAgents);
  const book = createInstructionBook({
    fs,
    cwd: config.cwd,
    levels: environment.levels,
    home,
    configDir,
    managedDir: managedSettingsDirectory(environment.host.os),
    env,
    sources: environment.sources,
    settings,
    additionalDirectories: (config.addDirs ?? []).map((one) => resolve(config.cwd, one)),
    // A folder that declares nothing is trusted by whoever says so for this run.
    trusted: environment.trust.now || config.trust || config.env.PORTCULLIS_TRUST === 'once',
    approvals,
    isHidden: hiding.isHidden,
    parseYaml,
    locateJson: parseLocatedJson,
  });
  return { book, hiding, approvals, problems };
}
