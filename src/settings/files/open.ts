import type { Sourced } from '../../lib/sourced.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { type StartedTrust, startTrust, type TrustStart } from '../trust/project-trust.js';
import type { EffectiveSettings, RuleLists } from '../types.js';
import { type LoadSettingsOptions, loadSettings, refuseBroken } from './load.js';
import { type LiveSettings, type LiveSettingsDeps, watchSettings } from './watch.js';

interface OpenSettingsOptions
  extends Omit<LoadSettingsOptions, 'fs' | 'trustProject'>,
    Omit<TrustStart, 'fs' | 'sources' | 'warn'> {
  readonly fs: FileSystem;
  /** Ignores what files grant; see `withoutFileGrants`. */
  readonly ignoreFileGrants?: boolean;
  emit(news: SessionNews): void;
}

export interface OpenedSettings {
  /** The settings at the start. */
  readonly settings: EffectiveSettings;
  readonly trust: StartedTrust;
  /** Starts to follow changes of the files. */
  watch(how: Pick<LiveSettingsDeps, 'apply' | 'veto'>): LiveSettings;
}

/** Determines trust, reads the settings and refuses to start with fatal problems. */
export async function openSettings(options: OpenSettingsOptions): Promise<OpenedSettings> {
  const { fs, emit } = options;
  const warn = (text: string): void => emit({ type: 'notice', level: 'warning', text });
  const trust = await startTrust({ warn, ...options });
  const load = async (how: Pick<LoadSettingsOptions, 'flagSettings' | 'trustProject' | 'kept'>) => {
    const loaded = await loadSettings({ ...options, ...how });
    if (options.ignoreFileGrants !== true) return loaded;
    return { ...loaded, settings: withoutFileGrants(loaded.settings) };
  };
  const { settings, problems } = await load({
    flagSettings: options.flagSettings,
    trustProject: trust.now,
  });
  // The trust check has already reported untrusted settings in one line.
  const reported = problems.filter(({ severity }) => severity !== 'note');
  refuseBroken(reported, emit, settings.strictness);
  return {
    settings,
    trust,
    watch: (how) =>
      watchSettings(settings, {
        fs,
        emit,
        load: async ({ kept, flag = options.flagSettings }) =>
          load({ trustProject: await trust.inForce(), flagSettings: flag, kept }),
        ...how,
      }),
  };
}

/**
 * Settings for a host that decides by itself: rules, modes and directories granted by files, managed ones
 * included, do not count; denials and questions do.
 */
export function withoutFileGrants(settings: EffectiveSettings): EffectiveSettings {
  const { permissions } = settings;
  const { defaultMode, agents, additionalDirectories } = permissions;
  // fail-closed: only modes that ask at least as much as the default may stay.
  const keepsMode =
    defaultMode !== undefined && (isGiven(defaultMode) || STRICT_MODES.has(defaultMode.value));
  return {
    ...settings,
    permissions: {
      ...permissions,
      ...withGivenGrants(permissions),
      additionalDirectories: additionalDirectories.filter(isGiven),
      agents: agents?.map((one) => ({ ...one, ...withGivenGrants(one) })),
      defaultMode: keepsMode ? defaultMode : undefined,
    },
  };
}

const STRICT_MODES: ReadonlySet<string> = new Set(['default', 'plan', 'dontAsk']);

function withGivenGrants({ allow, ask, deny }: RuleLists): RuleLists {
  return { allow: allow.filter(isGiven), ask, deny };
}

/** Whether the host or command line set it. */
function isGiven({ source }: Pick<Sourced<unknown>, 'source'>): boolean {
  return source === 'cli' || source === 'sdk';
}
