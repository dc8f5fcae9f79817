import { messageOf } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { Queue } from '../../lib/queue.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { SessionNews } from '../../protocol/session-events.js';
import {
  type ConfigProblem,
  describeProblem,
  type EffectiveSettings,
  type SettingsFile,
  type WatchedPath,
} from '../types.js';
import { fatalOf, type LoadedSettings, withStrictness } from './load.js';
import { changedPaths } from './read.js';

/** A session's present settings as frozen snapshots. */
export interface LiveSettings {
  current(): EffectiveSettings;
  /** Applies changed files between turns. */
  refresh(): Promise<void>;
  /**
   * Overrides command-line settings for the rest of the session; null removes a key. All changes apply or
   * none; a returned text is the reason for none.
   */
  give(changes: Readonly<Record<string, unknown>>): Promise<string | undefined>;
}

export interface LiveSettingsDeps {
  readonly fs: Pick<FileSystem, 'stat'>;
  /** `kept` replaces the files of users and projects, `flag` the command-line settings. */
  load(how: {
    readonly kept?: readonly SettingsFile[];
    readonly flag?: string;
  }): Promise<LoadedSettings>;
  /** Applies a snapshot, or rejects it entirely with a fatal problem. */
  apply(settings: EffectiveSettings): readonly ConfigProblem[];
  /** The reason to reject a change, from hooks that guard the settings. */
  veto?(changed: readonly WatchedPath[]): Promise<string | undefined>;
  emit(news: SessionNews): void;
}

/**
 * fail-closed: invalid new settings change nothing. The last valid ones stay, and every turn warns until the
 * files are corrected.
 */
export function watchSettings(first: EffectiveSettings, deps: LiveSettingsDeps): LiveSettings {
  let current = first;
  let flag: string | undefined;
  let looked = first.places;
  let broken: readonly string[] = [];
  let vetoed: readonly WatchedPath[] = [];
  const warn = (text: string): void => deps.emit({ type: 'notice', level: 'warning', text });
  const keepOld = (reasons: readonly string[]): void => {
    broken = reasons;
    warn(`${KEPT} ${reasons.join('\n')}`);
  };

  const takeOver = async (changed: readonly WatchedPath[]): Promise<void> => {
    let loaded = await deps.load({ flag });
    looked = loaded.settings.places;
    const problems = withStrictness(loaded.problems, loaded.settings.strictness);
    const fatal = fatalOf(problems);
    if (fatal.length > 0) return keepOld(fatal.map(describeProblem));
    const asked = [...vetoed, ...changed];
    const refused = asked.length === 0 ? undefined : await deps.veto?.(asked);
    vetoed = refused === undefined ? [] : asked.filter(({ source }) => source !== 'managed');
    if (refused !== undefined) {
      warn(`${KEPT} ${refused}`);
      // An administrator's change cannot be vetoed.
      if (changed.every(({ source }) => source !== 'managed')) return;
      loaded = await deps.load({ flag, kept: current.files });
    }
    const rejected = fatalOf(deps.apply(loaded.settings));
    if (rejected.length > 0) return keepOld(rejected.map(describeProblem));
    broken = [];
    current = loaded.settings;
    deps.emit({ type: 'config_changed', files: changed.map(({ path }) => path) });
    for (const problem of problems) {
      if (problem.severity === 'warning') warn(describeProblem(problem));
    }
  };

  const give = async (changes: Readonly<Record<string, unknown>>): Promise<string | undefined> => {
    const before = current.files.find(({ source }) => source === 'cli')?.content;
    const wanted = Object.entries({ ...(isRecord(before) ? before : {}), ...changes });
    const given = JSON.stringify(Object.fromEntries(wanted.filter(([, value]) => value !== null)));
    // fail-closed: files that changed since wait for `refresh`, which asks the hooks that guard them.
    const kept = current.files.filter(({ source }) => source !== 'cli');
    const loaded = await deps.load({ flag: given, kept });
    // fail-closed: the caller can correct its input, so any problem rejects it.
    const wrong = loaded.problems.filter(
      ({ severity, source }) => severity === 'fatal' || (source === 'cli' && severity !== 'note'),
    );
    const refused = wrong.length > 0 ? wrong : fatalOf(deps.apply(loaded.settings));
    if (refused.length > 0) return refused.map(describeProblem).join('\n');
    flag = given;
    current = loaded.settings;
    return undefined;
  };

  /** Serialises changes, so that a file change cannot undo given settings. */
  const queue = new Queue();

  return {
    current: () => current,
    give: (changes) => queue.add(() => give(changes)),
    refresh: () =>
      queue.add(async () => {
        try {
          const changed = await changedPaths(deps.fs, looked);
          if (changed.length > 0) await takeOver(changed);
          else if (broken.length > 0) keepOld(broken);
        } catch (thrown) {
          keepOld([messageOf(thrown)]);
        }
      }),
  };
}

const KEPT = 'the settings changed and could not be taken over; the earlier ones stay in force:';
