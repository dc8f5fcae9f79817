import { messageOf, systemCodeOf } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname } from '../../platform/fs/paths.js';
import { parseLocatedJson } from '../../settings/files/json.js';
import type { ConfigProblem } from '../../settings/types.js';
import type { McpScope } from '../server.js';
import type { RawServer } from './types.js';

export type ReadFiles = Pick<FileSystem, 'stat' | 'readText'>;

export interface Document {
  readonly value: Readonly<Record<string, unknown>>;
  readonly file?: string;
  lineOf(way: readonly (string | number)[]): number | undefined;
  readonly problems: readonly ConfigProblem[];
}

export type ReadDocument =
  | { readonly kind: 'document'; readonly document: Document }
  | { readonly kind: 'absent' }
  | { readonly kind: 'broken'; readonly problem: ConfigProblem };

export interface DocumentPlace {
  readonly file: string;
  readonly severity: 'fatal' | 'warning';
  readonly maxBytes: number;
  /** A missing file is an error, because a person named it. */
  readonly required?: boolean;
  /** The file counts only when no other user than the administrator can write it. */
  readonly ofAdministrator?: boolean;
  /** Whether the content needs line numbers: the personal file of other programs is large and mostly unrelated. */
  readonly worth?: (value: Readonly<Record<string, unknown>>) => boolean;
}

const EMPTY: ReadDocument = {
  kind: 'document',
  document: { value: {}, lineOf: () => undefined, problems: [] },
};

export async function readDocument(fs: ReadFiles, place: DocumentPlace): Promise<ReadDocument> {
  const { file, severity } = place;
  const broken = (message: string, remedy: string): ReadDocument => ({
    kind: 'broken',
    problem: { severity, file, message, remedy },
  });
  try {
    const stat = await fs.stat(file);
    if (stat === undefined && place.required !== true) return { kind: 'absent' };
    const foreign = place.ofAdministrator === true ? await foreignPath(fs, file) : undefined;
    if (foreign !== undefined) {
      // fail-closed: a file that other users can write does not speak for the administrator.
      return broken(
        `${foreign} belongs to, or can be written by, others than the administrator.`,
        'Give it to root and take the right to write from group and others (chmod go-w).',
      );
    }
    const text = await fs.readText(file, { maxBytes: place.maxBytes });
    return isWorthLocating(text, place) ? parseDocument(text, place) : EMPTY;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    if (absent && place.required !== true) return { kind: 'absent' };
    const remedy = absent ? 'Name a file that exists, or give JSON text.' : 'Make it readable.';
    return broken(`the file cannot be read: ${messageOf(thrown)}.`, remedy);
  }
}

/** Locating lines takes many times longer than parsing, and a personal file may hold megabytes of history. */
function isWorthLocating(text: string, { worth }: DocumentPlace): boolean {
  if (worth === undefined) return true;
  const parsed = parseJson(text);
  return !parsed.ok || !isRecord(parsed.value) || worth(parsed.value);
}

/** `file` may also be a flag's name, for inline text. */
export function parseDocument(
  text: string,
  { file, severity }: Pick<DocumentPlace, 'file' | 'severity'>,
  isFile = true,
): ReadDocument {
  const json = parseLocatedJson(text.trim() === '' ? '{}' : text);
  if (!json.ok) {
    const message = `it is not valid JSON: ${json.message}.`;
    const remedy = 'Correct it; comments and trailing commas are not JSON.';
    return { kind: 'broken', problem: { severity, file, line: json.line, message, remedy } };
  }
  if (!isRecord(json.value)) {
    const remedy = 'Write { "mcpServers": { … } }.';
    const problem = { severity, file, line: 1, message: 'it is not a JSON object.', remedy };
    return { kind: 'broken', problem };
  }
  const problems = json.duplicates
    .filter(({ path }) => path.includes('mcpServers') || path.includes('disabledMcpServers'))
    .map(
      ({ path, line }): ConfigProblem => ({
        severity: 'warning',
        file,
        line,
        message: `\`${path.join('.')}\` is written twice; the last one counts.`,
        remedy: 'Remove one of them.',
      }),
    );
  const { value, lineOf } = json;
  return {
    kind: 'document',
    document: { value, lineOf, problems, ...(isFile ? { file } : {}) },
  };
}

/** The servers in the table at `way`; a value that is not a table is a problem. */
export function serversAt(
  { value, file, lineOf }: Document,
  at: { readonly way: readonly string[]; readonly scope: McpScope; readonly ofHost?: boolean },
): { readonly servers: readonly RawServer[]; readonly problems: readonly ConfigProblem[] } {
  let table: unknown = value;
  for (const key of at.way) table = isRecord(table) ? own(table, key) : undefined;
  if (table === undefined || table === null) return { servers: [], problems: [] };
  if (!isRecord(table)) {
    const line = lineOf(at.way);
    const problem: ConfigProblem = {
      severity: at.scope === 'managed' ? 'fatal' : 'warning',
      file,
      line,
      message: `\`${at.way.join('.')}\` is not a table of servers.`,
      remedy: 'Write { "mcpServers": { "name": { … } } }.',
    };
    return { servers: [], problems: [problem] };
  }
  const servers = Object.entries(table).map(
    ([name, raw]): RawServer => ({
      name,
      scope: at.scope,
      raw,
      ofHost: at.ofHost === true,
      file,
      line: (way) => lineOf([...at.way, name, ...way]) ?? lineOf([...at.way, name]),
    }),
  );
  return { servers, problems: [] };
}

async function foreignPath(fs: ReadFiles, file: string): Promise<string | undefined> {
  for (const path of [file, dirname(file)])
    if ((await fs.stat(path))?.foreign === true) return path;
  return undefined;
}
