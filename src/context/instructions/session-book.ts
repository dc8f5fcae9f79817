import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { messageOf } from '../../errors.js';
import { hiddenBy, keepsFromReading } from '../../permissions/paths/hidden-files.js';
import { createLiveRules } from '../../permissions/rules/agent-rules.js';
import { hasPathRules } from '../../permissions/rules/list.js';
import { NO_RULES, type RuleSet } from '../../permissions/rules/rule.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { homeDirectory, resolve, stateDirectory } from '../../platform/fs/paths.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { parseLocatedJson } from '../../settings/files/json.js';
import { managedSettingsDirectory } from '../../settings/files/load.js';
import type { ConfigProblem, EffectiveSettings } from '../../settings/types.js';
import { createInstructionBook, type InstructionBook } from './book.js';
import {
  type IncludeApprovalStore,
  openIncludeApprovals,
  type PendingInclude,
} from './include-approvals.js';
import { projectPlace } from './places.js';
import { instructionSettings } from './settings.js';
import type { SkippedInstruction } from './types.js';

/** `isIncluded`: another file brings it in, so that it is not shown either where nothing may be read. */
type IsKept = (path: string, how?: { readonly isIncluded: boolean }) => Promise<boolean>;

export interface HiddenFileRules {
  /** Whether a rule denies or asks about reading a file. */
  readonly isHidden: IsKept;
  /** The same for an agent, with the rules for that agent; undefined: no rule is about files. */
  of(agent: AgentRef): IsKept | undefined;
  /** Adds the restrictions of instruction files, read at each check. Returns whether any is about files. */
  enforce(rules: () => RuleSet): boolean;
  /** Other settings hold from now on. */
  replace(settings: Pick<EffectiveSettings, 'permissions' | 'strictness'>): void;
}

/** What definitions take from agents. */
export interface Fences {
  rules(agent: AgentRef): RuleSet;
  bans(agent: AgentRef, names: readonly string[]): boolean;
}

const READ = ['Read'];

/** What rules keep from the model is not shown to it by an instruction file either. */
export function openHiding(
  config: Pick<SessionConfig, 'cwd' | 'disallowedTools'>,
  environment: Pick<SessionEnvironment, 'fs' | 'settings' | 'workspace' | 'env'>,
  fences?: Fences,
): HiddenFileRules {
  const home = homeDirectory(environment.env);
  const live = createLiveRules({
    cwd: config.cwd,
    home,
    allowedTools: [],
    disallowedTools: config.disallowedTools ?? [],
  });
  let settings: Parameters<HiddenFileRules['replace']>[0] = environment.settings;
  /** Read when the first file is asked about: most sessions never do. */
  let reading: { readonly isHidden: IsKept | undefined; readonly from: RuleSet } | undefined;
  let enforced = (): RuleSet => NO_RULES;
  let isRead = false;
  const of = (agent: AgentRef): IsKept | undefined => {
    // The gate reads the same rules and reports what is wrong with them.
    if (!isRead) live.replace(settings.permissions, settings.strictness);
    isRead = true;
    const place = { fs: environment.fs, roots: environment.workspace.roots, home };
    const [own, more] = [live.rules(agent), enforced()];
    const taken = fences?.rules(agent).deny ?? [];
    const deny = [...own.deny, ...more.deny, ...taken];
    const rules = { allow: [], deny, ask: [...own.ask, ...more.ask] };
    const byPath = hiddenBy(rules, place);
    const isBanned = fences?.bans(agent, READ) === true;
    if (!isBanned && !keepsFromReading(rules)) return byPath;
    return async (path, how) => how?.isIncluded === true || (await byPath?.(path)) === true;
  };
  return {
    of,
    async isHidden(path, how) {
      const from = enforced();
      if (reading?.from !== from) reading = { isHidden: of(MAIN_AGENT), from };
      return (await reading.isHidden?.(path, how)) === true;
    },
    enforce(rules) {
      enforced = rules;
      const { deny, ask } = rules();
      return [deny, ask].some(
        (list) =>
          list.length > 0 && (hasPathRules(list) || keepsFromReading({ deny: list, ask: [] })),
      );
    },
    replace(now) {
      settings = now;
      isRead = false;
      reading = undefined;
    },
  };
}

/** An approved file may name further ones. */
const MOST_ROUNDS = 5;

/**
 * Asks a person about files from outside the project, where there is one. fail-closed: without a clear
 * yes they are not read, and named as such.
 */
export async function settleIncludes(
  config: Pick<SessionConfig, 'cwd' | 'askIncludes' | 'emit'>,
  parts: {
    readonly book: Pick<InstructionBook, 'open' | 'reopen'>;
    readonly approvals: IncludeApprovalStore;
    readonly fs: FileSystem;
    readonly home: string;
  },
): Promise<void> {
  const { askIncludes } = config;
  if (askIncludes === undefined) return;
  const { book, approvals, fs, home } = parts;
  const asked = new Set<string>();
  let { skipped } = await book.open();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const pending = pendingAmong(skipped).filter(({ realPath }) => !asked.has(realPath));
    if (pending.length === 0) return;
    const paths = pending.map(({ realPath }) => realPath);
    for (const path of paths) asked.add(path);
    const answer = await askIncludes(pending);
    if (answer === 'later') return;
    const { realRoot } = await projectPlace(fs, config.cwd, home);
    try {
      await approvals.answer(realRoot, answer, paths);
    } catch (thrown) {
      config.emit({ type: 'notice', level: 'warning', text: messageOf(thrown) });
      return;
    }
    ({ skipped } = await book.reopen());
  }
}

/** Files from outside the project without an approval or a refusal, each once. */
function pendingAmong(skipped: readonly SkippedInstruction[]): readonly PendingInclude[] {
  const pending = new Map<string, PendingInclude>();
  for (const { kind, realPath, path, parent, declined } of skipped) {
    if (kind !== 'external' || realPath === undefined || declined === true) continue;
    if (pending.has(realPath)) continue;
    pending.set(realPath, { realPath, path, parent });
  }
  return [...pending.values()];
}

/** What is asked of a session to find its instruction files. */
export type InstructionConfig = Pick<
  SessionConfig,
  'cwd' | 'env' | 'trust' | 'addDirs' | 'disallowedTools'
>;

/** What they are looked for with. */
export type InstructionEnvironment = Pick<
  SessionEnvironment,
  'fs' | 'env' | 'configDir' | 'stateDirectory' | 'host' | 'sources' | 'settings' | 'workspace'
> & { readonly trust: Pick<SessionEnvironment['trust'], 'now'> };

export interface OpenedBook {
  readonly book: InstructionBook;
  readonly hiding: HiddenFileRules;
  readonly approvals: IncludeApprovalStore;
  /** What is wrong with the settings about instructions. */
  readonly problems: readonly ConfigProblem[];
}

/** The instruction files of a session, and those that rules hide. Nothing is read yet. */
export function openInstructionBook(
  config: InstructionConfig,
  environment: InstructionEnvironment,
  fences?: Fences,
): OpenedBook {
  const { fs, env, configDir } = environment;
  const home = homeDirectory(env);
  const { settings, problems } = instructionSettings(environment.settings.values);
  const approvals = openIncludeApprovals({ fs, stateDirectory: stateDirectory(env) });
  const hiding = openHiding(config, environment, fences);
  const book = createInstructionBook({
    fs,
    cwd: config.cwd,
    home,
    configDir,
    managedDir: managedSettingsDirectory(environment.host.os),
    env,
    sources: environment.sources,
    settings,
    additionalDirectories: (config.addDirs ?? []).map((one) => resolve(config.cwd, one)),
    // A folder that declares nothing counts as trusted where the user said so for this run.
    trusted: environment.trust.now || config.trust || config.env.PORTCULLIS_TRUST === 'once',
    approvals,
    isHidden: hiding.isHidden,
    locateJson: parseLocatedJson,
  });
  return { book, hiding, approvals, problems };
}
