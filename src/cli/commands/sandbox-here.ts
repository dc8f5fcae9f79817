import { systemClock } from '../../env/clock.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, homeDirectory, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { createLiveRules } from '../../permissions/live-rules.js';
import { sandboxAskedBy } from '../../sandbox/asked.js';
import type { FenceParts } from '../../sandbox/fence.js';
import { openSandbox } from '../../sandbox/open.js';
import { createFinder } from '../../sandbox/policy-find.js';
import { fatalOf } from '../../settings/refuse.js';
import { describeProblem, type EffectiveSettings } from '../../settings/types.js';
import type { Sourced } from '../../util/sourced.js';
import type { Output } from '../output.js';
import { settingsHere } from './settings-here.js';

/** The fence that a session in this directory would have. */
export interface SandboxHere {
  /** Who wants it; undefined: nobody, and it is taken as if somebody did. */
  readonly askedBy: Sourced<true> | undefined;
  readonly parts: FenceParts;
  readonly rules: ReturnType<typeof createLiveRules>['rules'];
}

const AS_IF_ASKED = '{"sandbox":{"enabled":true}}';

export async function sandboxHere(output: Output): Promise<SandboxHere> {
  const { env } = process;
  const cwd = process.cwd();
  const plain = await load(cwd, output);
  const askedBy = sandboxAskedBy(plain.values);
  const settings = askedBy === undefined ? await load(cwd, output, AS_IF_ASKED) : plain;
  const live = createLiveRules({
    cwd,
    home: homeDirectory(env),
    allowedTools: [],
    disallowedTools: [],
  });
  refuse(fatalOf(live.replace(settings.permissions, settings.strictness)).map(describeProblem));
  const added = settings.permissions.additionalDirectories.map(({ value }) => value);
  const state = stateDirectory(env);
  return {
    askedBy,
    rules: live.rules,
    parts: {
      fs: nodeFileSystem,
      finder: createFinder(nodeFileSystem, systemClock.now),
      home: homeDirectory(env),
      configDir: configDirectory(env),
      stateDirectory: state,
      cwd,
      settings,
      open: (options) => openSandbox({ env, stateDirectory: state, ...options }),
      roots: () => [cwd, ...added],
      kept: { outputs: '', transcript: '' },
      tell: (text) => output.warn(text),
    },
  };
}

async function load(cwd: string, output: Output, more?: string): Promise<EffectiveSettings> {
  const { settings, problems } = await settingsHere({
    cwd,
    env: process.env,
    trust: 'as it is',
    settings: more,
    warn: (text) => output.warn(text),
  }).load();
  refuse(fatalOf(problems).map(describeProblem));
  return settings;
}

/** fail-closed: under settings that no session would start with, nothing is tried out either. */
function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new PortcullisError('config', problems.join('\n'));
}
