import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, homeDirectory, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { captureHooks } from '../../hooks/capture.js';
import { patternProblem } from '../../permissions/agent-rules.js';
import { ruleChecker } from '../../permissions/rule-checker.js';
import { RULE_TOOLS } from '../../permissions/rule-tools.js';
import { type HookList, heldBack, listOf } from '../../project/hooks-list-data.js';
import { listText } from '../../project/hooks-list-text.js';
import type { HookEventName } from '../../protocol/hook-events.js';
import { loadSettings, managedSettingsDirectory } from '../../settings/load.js';
import { withStrictness } from '../../settings/refuse.js';
import { startTrust } from '../../settings/trust-start.js';
import { type ConfigProblem, describeProblem } from '../../settings/types.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { eventNamed } from './hooks-event.js';
import { scriptNotes } from './hooks-scripts.js';

export const USAGE = 'portcullis hooks list [--event E] [--trust] [--settings F] [--json]';

/** Shows which hooks a session here would ask, and which not and why. Nothing is run. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['event', 'settings'],
  });
  if (words.length > 0) {
    throw new PortcullisError(
      'usage',
      `hooks list does not understand "${visible(words[0] ?? '')}"`,
      {
        remedy: `usage: ${USAGE}`,
      },
    );
  }
  const wanted = values.get('event');
  const event = wanted === undefined ? undefined : eventNamed(wanted);
  const cwd = process.cwd();
  const settings = values.get('settings');
  const here = await hooksHere(cwd, {
    trust: switches.has('trust'),
    ...(settings === undefined ? {} : { settings }),
  });
  const list = event === undefined ? here.list : onlyOf(here.list, event);
  if (switches.has('json')) {
    const { trusted, starts, problems } = here;
    output.out(`${JSON.stringify({ cwd, trusted, starts, ...list, problems }, null, 2)}\n`);
  } else {
    output.out(listText(list, cwd));
    output.out(problemText(here));
  }
  return here.starts ? EXIT.done : EXIT.config;
}

/** Where it is not known which event something is for, it stays. */
function onlyOf(list: HookList, event: HookEventName): HookList {
  return {
    ...list,
    hooks: list.hooks.filter((hook) => hook.event === event),
    skipped: list.skipped.filter((one) => one.event === undefined || one.event === event),
  };
}

interface HooksHere {
  readonly list: HookList;
  readonly trusted: boolean;
  /** Whether a session would start with these settings. */
  readonly starts: boolean;
  /** What is wrong with hooks, and whatever else keeps a session from starting. */
  readonly problems: readonly ConfigProblem[];
}

async function hooksHere(
  cwd: string,
  options: { readonly trust: boolean; readonly settings?: string },
): Promise<HooksHere> {
  const { env } = process;
  const fs = nodeFileSystem;
  const home = homeDirectory(env);
  const places = {
    fs,
    cwd,
    env,
    configDir: configDirectory(env),
    sources: ['user', 'project', 'local'] as const,
  };
  const trust = await startTrust({
    ...places,
    stateDirectory: stateDirectory(env),
    given: options.trust,
    now: systemClock.now,
    // What is held back stands in the list.
    warn: () => undefined,
  });
  const loaded = await loadSettings({
    ...places,
    managedDir: managedSettingsDirectory(hostFacts().os),
    trustProject: trust.now,
    knownTools: Object.keys(RULE_TOOLS),
    checkAgents: patternProblem,
    checkRule: ruleChecker(cwd, home),
    ...(options.settings === undefined ? {} : { flagSettings: options.settings }),
  });
  const { settings, merged } = loaded;
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const set = captureHooks({
    values: settings.values,
    env: { ...env, ...Object.fromEntries(fromSettings) },
    cwd,
  });
  const list = await listOf(set, (hook) => scriptNotes(hook, { fs, cwd, home }));
  const problems = withStrictness(loaded.problems, settings.strictness).filter(
    // Events that never fire yet are in the list.
    ({ severity, topic }) => severity === 'fatal' || (severity === 'warning' && topic === 'hooks'),
  );
  return {
    list: { ...list, skipped: [...heldBack(merged, await trust.trust.check()), ...list.skipped] },
    trusted: trust.now,
    starts: problems.every(({ severity }) => severity !== 'fatal'),
    problems,
  };
}

function problemText({ problems, starts }: HooksHere): string {
  if (problems.length === 0) return '';
  const lines = problems.map(
    (problem) =>
      `  ${problem.severity === 'fatal' ? 'refuses' : 'warns'}: ${visible(describeProblem(problem))}\n`,
  );
  const end = starts ? '' : 'A session would not start with these settings.\n';
  return `\nProblems\n${lines.join('')}${end}`;
}
