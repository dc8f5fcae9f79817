import { messageOf, systemCodeOf } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { appendToList, setMember } from '../../lib/json-edit.js';
import { isRecord } from '../../lib/own.js';
import { Queue } from '../../lib/queue.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { PermissionMode, UpdateDestination } from '../../protocol/permissions.js';

type FileDestination = Exclude<UpdateDestination, 'session' | 'cliArg'>;

/** Changes a settings file. Returns the file that was changed, or why it was not. */
export type SaveSettings = (
  destination: FileDestination,
  edit: SettingsEdit,
) => Promise<Result<string, string>>;

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
interface OwnWrite {
  readonly file: string;
  readonly allow?: readonly string[];
  readonly directories?: readonly string[];
}

export function createAnswerFiles(parts: AnswerFileParts): SaveSettings {
  const { fs, cwd, configDir, rebind } = parts;
  const files: Readonly<Record<FileDestination, EditedFile>> = {
    localSettings: { file: join(cwd, '.claude', 'settings.local.json'), within: cwd },
    projectSettings: { file: join(cwd, '.claude', 'settings.json'), within: cwd },
    userSettings: { file: join(configDir, 'settings.json') },
  };
  // One change at a time: two answers at once must not undo each other.
  const queue = new Queue();
  return (destination, edit) =>
    queue.add(async () => {
      const target = files[destination];
      const edited = await editSettings(fs, target, edit);
      if (!edited.ok) return err(`${target.file} was left alone: ${edited.error}`);
      const grants = target.within === undefined ? undefined : grantsOf(target.file, edit);
      const bound = grants && (await rebind?.(grants));
      const waits = bound === undefined || bound === 'bound' ? '' : WAITS;
      return ok(`${target.file}${waits}`);
    });
}

const WAITS = ', which is in force again once this folder is trusted (portcullis trust)';

/** Only what lets something through is a matter of trust. */
function grantsOf(file: string, edit: SettingsEdit): OwnWrite | undefined {
  if (edit.kind !== 'add' && edit.kind !== 'replace') return undefined;
  if (edit.list === 'allow') return { file, allow: edit.items };
  return edit.list === 'additionalDirectories' ? { file, directories: edit.items } : undefined;
}

export type SettingsList = 'allow' | 'ask' | 'deny' | 'additionalDirectories';

/** One change to the `permissions` of a settings file. */
export type SettingsEdit =
  | {
      readonly kind: 'add' | 'remove' | 'replace';
      readonly list: SettingsList;
      readonly items: readonly string[];
    }
  | { readonly kind: 'mode'; readonly mode: PermissionMode };

interface EditedFile {
  readonly file: string;
  /** The directory that the file must really be in; absent where links are the owner's own. */
  readonly within?: string;
}

type EditFiles = Pick<FileSystem, 'readText' | 'writeAtomic' | 'realPath'>;

/**
 * Changes one list of a settings file and nothing else in it. The error says why the file was left
 * alone: it has mistakes, or its name leads to another place than it says.
 */
async function editSettings(
  fs: EditFiles,
  { file, within }: EditedFile,
  edit: SettingsEdit,
): Promise<Result<void, string>> {
  try {
    // fail-closed: a repository could make its settings file a link to the user's own.
    const actual = await fs.realPath(file);
    if (within !== undefined && !isInside(actual, await fs.realPath(within))) {
      return err(`it leads to ${actual}`);
    }
    const text = await currentText(fs, file);
    const edited = editedText(text, edit);
    if (!edited.ok) return edited;
    if (edited.value !== text) await fs.writeAtomic(file, edited.value, { mode: 0o600 });
    return ok(undefined);
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

export function editedText(text: string, edit: SettingsEdit): Result<string, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`it is not valid JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) return err('it is not a JSON object');
  const { permissions = {} } = parsed.value;
  const notRecord = err('its `permissions` is not an object');
  if (!isRecord(permissions)) return notRecord;
  const name = edit.kind === 'mode' ? 'defaultMode' : edit.list;
  const before = edit.kind === 'mode' ? [] : (permissions[name] ?? []);
  if (!Array.isArray(before)) return err(`its \`permissions.${name}\` is not a list`);
  const edited = withEdit(text, ['permissions', name], { before, edit });
  return edited === undefined ? notRecord : ok(edited);
}

/** Undefined: there is no place for it. */
function withEdit(
  text: string,
  path: readonly string[],
  { before, edit }: { readonly before: readonly unknown[]; readonly edit: SettingsEdit },
): string | undefined {
  if (edit.kind === 'mode') return setMember(text, path, edit.mode);
  const { kind, items } = edit;
  if (kind === 'add') {
    const added = items.filter((item) => !before.includes(item));
    return appendToList(text, path, added);
  }
  const after = kind === 'replace' ? items : before.filter((item) => !items.includes(String(item)));
  return JSON.stringify(after) === JSON.stringify(before) ? text : setMember(text, path, after);
}

async function currentText(fs: EditFiles, file: string): Promise<string> {
  try {
    const text = await fs.readText(file);
    return text.trim() === '' ? '{}\n' : text;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return '{}\n';
    throw thrown;
  }
}
