import { PortcullisError } from '../../errors.js';
import { nearest } from '../../lib/text/nearest.js';
import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import {
  basename,
  dirname,
  displayPath,
  expandHome,
  extname,
  homeDirectory,
  join,
  resolve,
} from '../../platform/fs/paths.js';
import { sha1 } from '../../platform/hash.js';
import type { PathAccess, PathSpellings, ToolContext, ToolSubject, Workspace } from '../tool.js';
import { isSameVersion } from './read-state.js';
import { describeWriter, type Writer } from './write-ledger.js';

/** The absolute, normalised path that a tool's input means. Models send relative ones too. */
export function targetPath(path: string, workspace: Pick<Workspace, 'cwd'>): string {
  const meant = path.startsWith('~') ? expandHome(path, homeDirectory()) : path;
  return resolve(workspace.cwd, meant);
}

/** Subject of a tool that touches one file, with a line such as `Read src/a.ts`. */
export function fileSubject(
  verb: string,
  file: { path: string; access: PathAccess['access'] },
  workspace: Pick<Workspace, 'cwd'>,
): ToolSubject {
  const path = targetPath(file.path, workspace);
  return {
    paths: [{ path, access: file.access }],
    summary: `${verb} ${displayPath(path, workspace.cwd)}`,
  };
}

/** The names by which the gate judged a file of the call. Undefined: it had no reason to look. */
export function judgedNames(
  { touched }: Pick<ToolContext, 'touched'>,
  path: string,
): PathSpellings | undefined {
  if (touched === undefined || touched.length === 0) return undefined;
  const found = touched.find(({ spellings }) => spellings.literal === path);
  if (found !== undefined) return found.spellings;
  // fail-closed: the file was not among those that were judged.
  throw new PortcullisError('denied', `${path} was not judged with this call`, {
    remedy: 'Repeat the call with an absolute path.',
  });
}

/** Says that a file is missing, and which one may have been meant. */
export async function missingFile(fs: FileSystem, path: string): Promise<string> {
  const directory = dirname(path);
  const there = await fs.stat(directory);
  if (there === undefined) return `${path} does not exist, nor does the directory ${directory}.`;
  if (there.kind !== 'directory') return `${path} does not exist: ${directory} is a file.`;
  const names = (await fs.list(directory)).map((entry) => entry.name);
  const wanted = basename(path);
  const stem = basename(path, extname(path));
  const close =
    nearest(wanted, names) ?? names.find((name) => basename(name, extname(name)) === stem);
  return `${path} does not exist.${close === undefined ? '' : ` Did you mean ${join(directory, close)}?`}`;
}

export type Existing =
  | { readonly ok: true; readonly stat: FileStat; readonly bytes: Uint8Array; readonly key: string }
  | { readonly ok: false; readonly reason: string };

/** What must hold before an existing file is changed. */
export interface ChangeRules {
  readonly writer: Writer;
  /** `whole`: everything in it was shown; `any`: a part is enough. */
  readonly needs: 'whole' | 'any';
  readonly maxBytes: number;
}

/**
 * Loads an existing file that is about to be changed, if the model has seen it and it is still what
 * the model has seen.
 */
export async function loadForChange(
  fs: FileSystem,
  path: string,
  rules: ChangeRules,
): Promise<Existing> {
  const stat = await fs.stat(path);
  if (stat === undefined) return refused(await missingFile(fs, path));
  if (stat.kind === 'directory') return refused(`${path} is a directory. Name a file inside it.`);
  if (stat.kind !== 'file') {
    return refused(`${path} is a device, pipe or socket. Name a regular file.`);
  }
  if (stat.size > rules.maxBytes) {
    return refused(
      `${path} has ${stat.size} bytes, more than the ${rules.maxBytes} this tool takes. Change it with a program through Bash.`,
    );
  }
  const { writer } = rules;
  const realPath = judgedNames(writer, path)?.real;
  const key = realPath ?? (await fs.realPath(path));
  const seen = writer.readState.get(key);
  // fail-closed: what was not seen, or not all of it, is not overwritten.
  if (seen === undefined)
    return refused(`${path} was not read yet${writtenBy(writer, key)}. Read it first.`);
  if (rules.needs === 'whole' && !seen.whole) {
    return refused(
      `Only a part of ${path} was read. Read all of it before you replace it, or use Edit.`,
    );
  }
  const bytes = await fs.readBytes(path, { maxBytes: rules.maxBytes, realPath });
  if (!isSameVersion(seen, { stat, bytes })) {
    const who = describeWriter(writer, { path: key, hash: sha1(bytes), mtimeMs: stat.mtimeMs });
    return refused(
      `${path} has changed since it was read: ${who}. Read it again, then repeat the change.`,
    );
  }
  return { ok: true, stat, bytes, key };
}

/** Names the agent that wrote the file last, where it is not this one. */
function writtenBy({ ledger, agent }: Writer, key: string): string {
  const last = ledger?.lastWrite(key);
  return last === undefined || last.agent === agent.path
    ? ''
    : `, and the agent ${last.agent} wrote it (call ${last.toolUseId})`;
}

function refused(reason: string): Existing {
  return { ok: false, reason };
}
