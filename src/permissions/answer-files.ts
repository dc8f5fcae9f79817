import { err, ok, type Result } from '../lib/result.js';
import { join } from '../platform/fs/paths.js';
import type { UpdateDestination } from '../protocol/permissions.js';
import {
  type EditedFile,
  type EditFiles,
  editSettings,
  type SettingsEdit,
} from './settings-edit.js';

export type FileDestination = Exclude<UpdateDestination, 'session' | 'cliArg'>;

/** The settings files that answers may change. */
export interface AnswerFiles {
  /** The file that was changed, or why it was not. */
  save(destination: FileDestination, edit: SettingsEdit): Promise<Result<string, string>>;
}

export interface AnswerFileParts {
  readonly fs: EditFiles;
  /** The project's directory. */
  readonly cwd: string;
  readonly configDir: string;
  /**
   * Called after a project's file was changed, so that its trust goes with it. `waits`: what was
   * written is not in force while the rest of the folder is not trusted.
   */
  rebind?(written: OwnWrite): Promise<'bound' | 'waits' | 'this process only'>;
}

/** What we ourselves wrote into a project's settings file. */
export interface OwnWrite {
  readonly file: string;
  readonly allow?: readonly string[];
  readonly directories?: readonly string[];
}

export function createAnswerFiles(parts: AnswerFileParts): AnswerFiles {
  // One change at a time: two answers at once must not undo each other.
  let queue: Promise<unknown> = Promise.resolve();
  const save: AnswerFiles['save'] = async (destination, edit) => {
    const target = targetOf(parts, destination);
    const edited = await editSettings(parts.fs, target, edit);
    if (!edited.ok) return err(`${target.file} was left alone: ${edited.error}`);
    if (target.within === undefined) return ok(target.file);
    const grants = grantsOf(target.file, edit);
    const bound = grants === undefined ? 'bound' : await parts.rebind?.(grants);
    const waits = bound === undefined || bound === 'bound' ? '' : WAITS;
    return ok(`${target.file}${waits}`);
  };
  return {
    save(destination, edit) {
      const saving = queue.then(() => save(destination, edit));
      queue = saving.catch(() => undefined);
      return saving;
    },
  };
}

const WAITS = ', which is in force again once this folder is trusted (portcullis trust)';

/** Only what lets something through is a matter of trust. */
function grantsOf(file: string, edit: SettingsEdit): OwnWrite | undefined {
  if (edit.kind !== 'add' && edit.kind !== 'replace') return undefined;
  if (edit.list === 'allow') return { file, allow: edit.items };
  return edit.list === 'additionalDirectories' ? { file, directories: edit.items } : undefined;
}

function targetOf(parts: AnswerFileParts, destination: FileDestination): EditedFile {
  const { cwd, configDir } = parts;
  switch (destination) {
    case 'localSettings':
      return { file: join(cwd, '.claude', 'settings.local.json'), within: cwd };
    case 'projectSettings':
      return { file: join(cwd, '.claude', 'settings.json'), within: cwd };
    case 'userSettings':
      return { file: join(configDir, 'settings.json') };
  }
}
