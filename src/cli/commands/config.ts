import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, homeDirectory, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { patternProblem } from '../../permissions/agent-rules.js';
import { createLiveRules } from '../../permissions/live-rules.js';
import { ruleChecker } from '../../permissions/rule-checker.js';
import { RULE_TOOLS } from '../../permissions/rule-tools.js';
import { loadSettings, managedSettingsDirectory } from '../../settings/load.js';
import { withStrictness } from '../../settings/refuse.js';
import { startTrust } from '../../settings/trust-start.js';
import type { ConfigProblem } from '../../settings/types.js';
import { type ParsedArgs, parseArgs } from '../args.js';
import { EXIT } from '../exit-code.js';
import { readOptions } from '../options.js';
import type { Output } from '../output.js';
import { type ConfigState, configReport } from './config-report.js';
import { explainKey, reportText } from './config-text.js';

/** Shows the effective settings, where each value stands, and what a session would refuse. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const wishes = wishesFrom(argv);
  const state = await readState(wishes.args);
  const report = configReport(state);
  if (wishes.key !== undefined) {
    const text = explainKey(report, wishes.key);
    output.out(wishes.json ? `${JSON.stringify(text.data, null, 2)}\n` : text.lines);
    return EXIT.done;
  }
  output.out(wishes.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  return report.starts ? EXIT.done : EXIT.config;
}

interface Wishes {
  readonly json: boolean;
  readonly key: string | undefined;
  readonly args: ParsedArgs;
}

function wishesFrom(argv: readonly string[]): Wishes {
  const json = argv.includes('--json');
  const parsed = parseArgs(argv.filter((word) => word !== '--json'));
  if (!parsed.ok) throw new PortcullisError('usage', parsed.error, { remedy: USAGE });
  const [action, key, ...more] = parsed.value.positionals;
  const understood = action === undefined || (action === 'explain' && key !== undefined);
  if (!understood || more.length > 0 || parsed.value.warnings.length > 0) {
    const words = parsed.value.warnings[0] ?? `config does not understand "${action}"`;
    throw new PortcullisError('usage', words, { remedy: USAGE });
  }
  return { json, key, args: parsed.value };
}

export const USAGE =
  'portcullis config [explain <key>] [--json] [--trust] [--settings <file|json>] [--setting-sources <names>]';

async function readState(args: ParsedArgs): Promise<ConfigState> {
  const options = readOptions({ ...args, positionals: [] });
  if (!options.ok) throw new PortcullisError('usage', options.error, { remedy: USAGE });
  const { session } = options.value;
  const { env } = process;
  const cwd = process.cwd();
  const places = {
    fs: nodeFileSystem,
    cwd,
    env,
    configDir: configDirectory(env),
    sources: session.settingSources ?? (['user', 'project', 'local'] as const),
  };
  const trust = await startTrust({
    ...places,
    stateDirectory: stateDirectory(env),
    given: session.trust,
    now: Date.now,
    warn: () => undefined,
  });
  const loaded = await loadSettings({
    ...places,
    managedDir: managedSettingsDirectory(hostFacts().os),
    trustProject: trust.now,
    knownTools: Object.keys(RULE_TOOLS),
    checkAgents: patternProblem,
    checkRule: ruleChecker(cwd, homeDirectory(env)),
    ...(session.settings === undefined ? {} : { flagSettings: session.settings }),
    ...(session.managedSettings === undefined ? {} : { hostSettings: session.managedSettings }),
  });
  const { settings } = loaded;
  const rules = createLiveRules({
    cwd,
    home: homeDirectory(env),
    allowedTools: session.allowedTools ?? [],
    disallowedTools: session.disallowedTools ?? [],
  });
  const found: readonly ConfigProblem[] = [
    ...loaded.problems,
    ...rules.replace(settings.permissions),
  ];
  return { cwd, loaded, trusted: trust.now, problems: withStrictness(found, settings.strictness) };
}
