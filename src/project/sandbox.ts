import { originOf, type Sourced } from '../lib/sourced.js';
import { systemClock } from '../platform/clock.js';
import { shellEnvironment } from '../platform/environment.js';
import { sandboxAskedBy } from '../sandbox/policy/settings.js';
import { SessionFence } from '../sandbox/session/guard.js';
import { openSandbox } from '../sandbox/session/sandbox.js';
import type { SandboxAvailability, SandboxPolicy, WrappedProgram } from '../sandbox/types.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';
import {
  loadProjectSettings,
  type ProjectSettings,
  projectRules,
  refuseFatal,
} from './settings.js';

export type { SandboxAvailability, WrappedProgram } from '../sandbox/types.js';

/** The sandbox that commands of a session in this directory would run in. */
export interface ProjectSandbox {
  /** The setting that enables it. Undefined: none does, and it is opened as if one did. */
  readonly askedBy: Sourced<true> | undefined;
  status(): Promise<SandboxStatus>;
  /** Prepares a command of the main agent. Undefined: there is no sandbox on this machine. */
  enter(command: string, args: readonly string[]): Promise<WrappedProgram | undefined>;
  close(): Promise<void>;
}

export interface SandboxStatus {
  readonly availability: SandboxAvailability;
  /** The file and line that enable it; null: none does. */
  readonly enabledBy: string | null;
  readonly required: boolean;
  readonly problems: readonly string[];
  /** What a command of the main agent here may do. */
  readonly policy: Omit<SandboxPolicy, 'network'> & { readonly network: string };
}

const ENABLED = '{"sandbox":{"enabled":true}}';

export async function openProjectSandbox(
  places: ProjectPlaces,
  options: ProjectOptions,
  plain: ProjectSettings,
): Promise<ProjectSandbox> {
  const { cwd, env, fs, home, configDir, stateDirectory } = places;
  refuseFatal(plain.problems);
  const askedBy = sandboxAskedBy(plain.settings.values);
  const loaded =
    askedBy === undefined
      ? await loadProjectSettings(places, { ...options, settings: ENABLED }, plain.trusted)
      : plain;
  const { rules, problems } = projectRules(places, options, loaded);
  refuseFatal([...loaded.problems, ...problems]);
  const { settings } = loaded;
  const added = settings.permissions.additionalDirectories.map(({ value }) => value);
  const fence = new SessionFence({
    fs,
    now: systemClock.now,
    home,
    configDir,
    stateDirectory,
    cwd,
    settings,
    rules: Promise.resolve(rules),
    open: (how) => openSandbox({ env, stateDirectory, ...how }),
    roots: () => [cwd, ...added],
    kept: { outputs: '', transcript: '' },
    tell: options.warn ?? (() => undefined),
  });
  return {
    askedBy,
    status: () => readStatus(fence, askedBy),
    enter: (command, args) =>
      fence.enter('shell', { command, args, cwd, env: shellEnvironment(env), owner: {} }),
    close: () => fence.close(),
  };
}

async function readStatus(
  fence: SessionFence,
  askedBy: Sourced<true> | undefined,
): Promise<SandboxStatus> {
  const { settings, availability, policy } = await fence.inspect();
  return {
    availability,
    enabledBy: askedBy === undefined ? null : originOf(askedBy),
    required: settings.required,
    problems: settings.problems.map(({ message }) => message),
    policy: { ...policy, network: policy.network.kind },
  };
}
