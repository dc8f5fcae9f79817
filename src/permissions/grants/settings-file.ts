import { messageOf, systemCodeOf } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { appendToList, setMember } from '../../lib/json-edit.js';
import { isRecord } from '../../lib/own.js';
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
  // One change at a time: two answers at once must not undo each other.
  let queue: Promise<unknown> = Promise.resolve();
  const save: SaveSettings = async (destination, edit) => {
    const target = targetOf(parts, destination);
    const edited = await editSettings(parts.fs, target, edit);
    if (!edited.ok) return err(`${target.file} was left alone: ${edited.error}`);
    if (target.within === undefined) return ok(target.file);
    const grants = grantsOf(target.file, edit);
    const bound = grants === undefined ? 'bound' : await parts.rebind?.(grants);
    const waits = bound === undefined || bound === 'bound' ? '' : WAITS;
    return ok(`${target.file}${waits}`);
  };
  return (destination, edit) => {
    const saving = queue.then(() => save(destination, edit));
    queue = saving.catch(() => undefined);
    return saving;
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
): Promise<Result<'changed' | 'same', string>> {
  try {
    // fail-closed: a repository could make its settings file a link to the user's own.
    const actual = await fs.realPath(file);
    if (within !== undefined && !isInside(actual, await fs.realPath(within))) {
      return err(`it leads to ${actual}`);
    }
    const text = await currentText(fs, file);
    const edited = editedText(text, edit);
    if (!edited.ok) return edited;
    if (edited.value === text) return ok('same');
    await fs.writeAtomic(file, edited.value, { mode: 0o600 });
    return ok('changed');
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

export function editedText(text: string, edit: SettingsEdit): Result<string, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`it is not valid JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) return err('it is not a JSON object');
  const { permissions = {} } = parsed.value;
  if (!isRecord(permissions)) return err('its `permissions` is not an object');
  const edited =
    edit.kind === 'mode'
      ? ok(setMember(text, ['permissions', 'defaultMode'], edit.mode))
      : editedList(text, permissions, edit);
  if (!edited.ok) return edited;
  return edited.value === undefined ? err('its `permissions` is not an object') : ok(edited.value);
}

function editedList(
  text: string,
  permissions: Readonly<Record<string, unknown>>,
  { kind, list, items }: Exclude<SettingsEdit, { kind: 'mode' }>,
): Result<string | undefined, string> {
  const path = ['permissions', list];
  const before = permissions[list] ?? [];
  if (!Array.isArray(before)) return err(`its \`permissions.${list}\` is not a list`);
  if (kind === 'add') {
    return ok(
      appendToList(
        text,
        path,
        items.filter((item) => !before.includes(item)),
      ),
    );
  }
  const after = kind === 'replace' ? items : before.filter((item) => !items.includes(String(item)));
  return ok(JSON.stringify(after) === JSON.stringify(before) ? text : setMember(text, path, after));
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
