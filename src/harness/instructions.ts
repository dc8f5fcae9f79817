import type { SessionConfig } from '../agents/session-config.js';
import { openIncludeApprovals } from '../context/include-approvals.js';
import { createInstructionBook } from '../context/instruction-book.js';
import { instructionSettings } from '../context/instruction-settings.js';
import type { LoadedFiles, LoadedInstruction } from '../context/instruction-types.js';
import { instructionsReminder } from '../context/instructions-reminder.js';
import { instructionWarnings } from '../context/opening.js';
import { filesShownBy } from '../context/touched-files.js';
import { homeDirectory, resolve, stateDirectory } from '../env/paths.js';
import { type Guard, NOTHING } from '../permissions/guard.js';
import type { GateExtension } from '../permissions/open.js';
import { findRestriction } from '../permissions/rule-match.js';
import { NO_RULES, parseRules, type RuleSet } from '../permissions/rules.js';
import type { CallView } from '../permissions/view.js';
import { managedSettingsDirectory } from '../settings/load.js';
import { parseLocatedJson } from '../settings/located-json.js';
import { refuseBroken } from '../settings/refuse.js';
import { type ConfigProblem, describeProblem } from '../settings/types.js';
import type { Ground } from './ground.js';

/** The instruction files of a session: what they say, and what they enforce. */
export async function openInstructions(config: SessionConfig, ground: Ground) {
  const { fs, env, configDir } = ground;
  const home = homeDirectory(env);
  const { settings, problems } = instructionSettings(ground.settings.values);
  const book = createInstructionBook({
    fs,
    cwd: config.cwd,
    home,
    configDir,
    managedDir: managedSettingsDirectory(ground.host.os),
    env,
    sources: ground.sources,
    settings,
    additionalDirectories: (config.addDirs ?? []).map((one) => resolve(config.cwd, one)),
    trusted: ground.trust.now,
    approvals: openIncludeApprovals({ fs, stateDirectory: stateDirectory(env) }),
    parseYaml: async (text) => (await import('yaml')).parse(text, { maxAliasCount: 0 }),
    locateJson: parseLocatedJson,
  });
  const compile = ({ deny, ask }: Enforced) =>
    parseRules({ allow: [], deny, ask }, { cwd: config.cwd, home });
  const atStart = await book.enforced();
  const started = compile(atStart);
  refuseBroken([...problems, ...atStart.problems, ...started.problems], config.emit);
  const listeners: ((file: LoadedInstruction) => void)[] = [];
  const told = ({ files }: Pick<LoadedFiles, 'files'>): void => {
    for (const file of files.filter(({ kind }) => kind !== 'setting')) {
      for (const listener of listeners) listener(file);
    }
  };
  const extension: GateExtension = {
    guards: [nearGuard(book, compile)],
    resolvers: [],
    rules: () => started.rules,
  };
  return {
    book,
    extension,
    told,
    onLoaded: (listener: (file: LoadedInstruction) => void) => void listeners.push(listener),
    /** Instructions that a call brought into play, as the text that shows them. */
    async touchedBy(view: CallView, signal: AbortSignal): Promise<Touched> {
      const paths = await shownFiles(view);
      if (paths.length === 0) return { paths };
      const found = await book.touched(paths, signal);
      for (const text of instructionWarnings(found)) {
        config.emit({ type: 'notice', level: 'warning', text });
      }
      told(found);
      const text = instructionsReminder(found.files, { occasion: 'touched' });
      return { paths, ...(text === undefined ? {} : { text }) };
    },
    /** Instructions that are different on disk now. */
    async changed(): Promise<string | undefined> {
      const files = (await book.changed()).filter(({ scope }) => scope !== 'memory');
      return instructionsReminder(files, { occasion: 'changed' });
    },
    /** What is shown again after a summary. */
    async afterCompaction(): Promise<string | undefined> {
      const found = await book.afterCompaction();
      told(found);
      return instructionsReminder(found.files, { occasion: 'compact' });
    },
  };
}

export type OpenInstructions = Awaited<ReturnType<typeof openInstructions>>;

/** The files that a call showed or wrote, and what that brought into play. */
export interface Touched {
  readonly paths: readonly string[];
  readonly text?: string;
}

type Book = ReturnType<typeof createInstructionBook>;
type Enforced = Awaited<ReturnType<Book['enforced']>>;

/** Rules of instruction files on the way to what a call names hold before the call is judged. */
function nearGuard(
  book: Book,
  compile: (rules: Enforced) => {
    readonly rules: RuleSet;
    readonly problems: readonly ConfigProblem[];
  },
): Guard {
  return {
    name: 'instruction files',
    // fail-closed: a restriction that could not be looked up may have been one against this call.
    onFailure: 'deny',
    async decide(view) {
      const paths = await namedPaths(view);
      const near = paths.length === 0 ? undefined : await book.enforcedNear(paths);
      if (near === undefined) return NOTHING;
      const compiled = near.deny.length + near.ask.length === 0 ? NO_COMPILED : compile(near);
      const fatal = [...near.problems, ...compiled.problems].find(
        ({ severity }) => severity === 'fatal',
      );
      if (fatal !== undefined) {
        const reason = `a restriction near it cannot be honoured: ${describeProblem(fatal)}`;
        return { decision: 'deny', refusal: 'guard-failed', reason };
      }
      for (const decision of ['deny', 'ask'] as const) {
        const found = await findRestriction(compiled.rules[decision], view);
        if (found === undefined) continue;
        const { rule } = found;
        const reason = `${rule.label} ${decision === 'deny' ? 'denies' : 'asks about'} it`;
        return {
          decision,
          reason,
          source: rule.label,
          ...(decision === 'deny' ? { refusal: 'rule' as const } : {}),
        };
      }
      return NOTHING;
    },
  };
}

const NO_COMPILED = { rules: NO_RULES, problems: [] };

/** All that a call names, directories of its commands included. */
async function namedPaths(view: CallView): Promise<readonly string[]> {
  const { subject } = view.call;
  const own = subject.paths.map(({ path }) => path);
  if (subject.command === undefined) return own;
  const shell = await view.shellPaths();
  const reading = await view.shell();
  const directories = (reading?.commands ?? []).flatMap((command) => command.directories ?? []);
  return [
    ...new Set([...own, ...shell.paths.map(({ spellings }) => spellings.literal), ...directories]),
  ];
}

/** The files whose content a call has shown or written. */
async function shownFiles(view: CallView): Promise<readonly string[]> {
  const { subject, tool } = view.call;
  if (subject.command === undefined) {
    return tool.kind === 'read' || tool.kind === 'edit'
      ? subject.paths.map(({ path }) => path)
      : [];
  }
  const reading = await view.shell();
  return (reading?.commands ?? []).flatMap(({ words, directories }) =>
    filesShownBy({
      words: words.map((word) =>
        word.literal && word.pattern === undefined ? word.value : undefined,
      ),
      directories,
    }),
  );
}
