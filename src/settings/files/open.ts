import { messageOf } from '../../errors.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { withoutFileGrants } from '../merge/file-grants.js';
import { type StartedTrust, startTrust, type TrustStart } from '../trust/start.js';
import type { EffectiveSettings, SettingsFile } from '../types.js';
import { type LoadedSettings, type LoadSettingsOptions, loadSettings } from './load.js';
import { refuseBroken } from './refuse.js';
import { type LiveSettings, type LiveSettingsDeps, watchSettings } from './watch.js';

export interface OpenSettingsOptions
  extends Omit<LoadSettingsOptions, 'fs' | 'trustProject'>,
    Omit<TrustStart, 'fs' | 'sources' | 'warn'> {
  readonly fs: FileSystem;
  /** What files grant does not count; see `withoutFileGrants`. */
  readonly ignoreFileGrants?: boolean;
  emit(news: SessionNews): void;
}

export interface OpenedSettings {
  /** As they are at the start. */
  readonly settings: EffectiveSettings;
  readonly trust: StartedTrust & { readonly now: boolean };
  /** From now on, with every change of the files. */
  watch(how: Pick<LiveSettingsDeps, 'apply' | 'veto'>): LiveSettings;
}

/** Decides about trust, reads the settings, and refuses to start with what cannot be honoured. */
export async function openSettings(options: OpenSettingsOptions): Promise<OpenedSettings> {
  const { fs, emit } = options;
  const warn = (text: string): void => emit({ type: 'notice', level: 'warning', text });
  const trust = await startTrust({ warn, ...options });
  let given: { readonly flagSettings?: string } = {};
  const read = async (how: LoadSettingsOptions): Promise<LoadedSettings> => {
    const loaded = await loadSettings(how);
    if (options.ignoreFileGrants !== true) return loaded;
    return { ...loaded, settings: withoutFileGrants(loaded.settings) };
  };
  const load = (trustProject: boolean, kept?: readonly SettingsFile[]): Promise<LoadedSettings> =>
    read({ ...options, ...given, trustProject, ...(kept === undefined ? {} : { kept }) });
  const { settings, problems, isSimple } = await load(trust.now);
  // What else there may be in settings runs something, or has it run, before a model is asked.
  if (!isSimple) await trust.settle();
  // What waits for trust has been told, in one line.
  const told = problems.filter(({ severity }) => severity !== 'note');
  refuseBroken(told, emit, settings.strictness);
  let settling: Promise<void> | undefined;
  const settle = (): Promise<void> => {
    settling ??= requestLeaves()
      .then(trust.settle)
      .catch((thrown: unknown) => {
        // fail-closed: what could not be looked at is trusted by nobody who asks.
        warn(
          `the folder cannot be looked through, so nothing in it is trusted: ${messageOf(thrown)}`,
        );
      });
    return settling;
  };
  return {
    settings,
    trust,
    watch: (how) =>
      watchSettings(settings, {
        settle,
        fs,
        emit,
        load: async (kept) => load(await trust.inForce(), kept),
        async loadWith(flag) {
          const trustProject = await trust.inForce();
          return await read({ ...options, flagSettings: flag, trustProject });
        },
        keepFlag(flag) {
          given = { flagSettings: flag };
        },
        ...how,
      }),
  };
}

/** A request that was begun is connected and written by the event loop, in few turns of it. */
const TURNS_OF_LOOP = 3;

async function requestLeaves(): Promise<void> {
  for (let turn = 0; turn < TURNS_OF_LOOP; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
