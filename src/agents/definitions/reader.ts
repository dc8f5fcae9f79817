import { messageOf } from '../../errors.js';
import { textOf } from '../../lib/frontmatter/fields.js';
import {
  type Frontmatter,
  findFieldLine,
  loadFrontmatter,
} from '../../lib/frontmatter/frontmatter.js';
import { type ParseYaml, yamlWithin } from '../../lib/frontmatter/parse-yaml.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { MAX_DOCUMENT_BYTES } from '../../settings/trust/tree.js';
import type { AgentFinding, DefinitionFields } from './definition.js';
import { knownField, readFields, unparsedLimits } from './fields.js';
import { claimedName, MOST_LOOKED_AT } from './names.js';

type Files = Pick<FileSystem, 'stat' | 'readHead' | 'readWithStat'>;

/** A file, and its real path, which trust was checked for. */
interface FileAt {
  readonly file: string;
  readonly real: string;
}

export interface ReadDefinition extends HeadFindings {
  /** The text that fields, prompt and trust refer to; undefined when the file could not be read. */
  readonly text: string | undefined;
}

/** Limits of one scan for all texts and all YAML, so that no folder delays a start. */
const MOST_OF_ALL = 32 * 1024 * 1024;
const MOST_YAML_OF_ALL = 4 * 1024 * 1024;

/** Reads files within the limits of one scan. */
export class DefinitionReader {
  readonly #fs: Files;
  readonly #knownTools: readonly string[];
  readonly #yaml = yamlWithin(MOST_YAML_OF_ALL);
  #room = MOST_OF_ALL;

  constructor(fs: Files, knownTools: readonly string[]) {
    this.#fs = fs;
    this.#knownTools = knownTools;
  }

  async read({ file, real }: FileAt): Promise<ReadDefinition> {
    let beginning = '';
    try {
      const stat = await this.#fs.stat(file);
      if (stat?.kind !== 'file') throw new Error('it is not a regular file');
      if (stat.size > MAX_DOCUMENT_BYTES) {
        beginning = new TextDecoder().decode(await this.#fs.readHead(file, MOST_LOOKED_AT));
        throw new Error(TOO_LARGE);
      }
      this.#room -= stat.size;
      if (this.#room < 0) throw new Error('all agents together are more than is read');
      const text = await readText(this.#fs, { file, real });
      const parts = { parseYaml: this.#yaml.parse, knownTools: this.#knownTools, file };
      return { ...(await readDefinition(text, parts)), text };
    } catch (thrown) {
      // fail-closed: an unreadable file is not used, and reported.
      const message = `it cannot be read: ${messageOf(thrown)}`;
      return { ...broken(message, claimedName(file, beginning)), text: undefined };
    }
  }
}

const TOO_LARGE = `it is larger than ${MAX_DOCUMENT_BYTES} bytes`;

/** fail-closed: only the file at the real path that was checked is read. */
export async function readText(fs: Files, { file, real }: FileAt): Promise<string> {
  const { bytes } = await fs.readWithStat(file, { maxBytes: MAX_DOCUMENT_BYTES, realPath: real });
  if (bytes === undefined) throw new Error(TOO_LARGE);
  return new TextDecoder().decode(bytes);
}

function broken(message: string, name: string | undefined): HeadFindings {
  return { isDocument: false, name, findings: [{ severity: 'error', message }] };
}

/** The front matter of one file. */
export interface HeadFindings {
  /** The file names no agent: it is text for people. */
  readonly isDocument: boolean;
  readonly name: string | undefined;
  readonly fields?: DefinitionFields | undefined;
  readonly line?: number | undefined;
  readonly findings: readonly AgentFinding[];
}

export interface HeadDeps {
  readonly parseYaml?: ParseYaml | undefined;
  readonly knownTools: readonly string[];
  /** A broken file without any other name claims its own file name. */
  readonly file?: string;
}

/**
 * Reads the front matter of a file. Without a name the file is no definition, unless the name may be in an
 * unreadable part.
 */
export async function readDefinition(text: string, deps: HeadDeps): Promise<HeadFindings> {
  const { knownTools, file } = deps;
  if (text.includes('\0')) return broken('it is not a text', claimedName(file, text));
  const head = await loadFrontmatter(text, deps);
  const { fields, lines, unclear, how } = head;
  const isName = (one: string): boolean => knownField(one) === 'name';
  const written = [...Object.keys(fields), ...unclear.keys()].find(isName);
  if (written === undefined) return { name: undefined, isDocument: true, findings: [] };
  const problems = yamlFindings(head);
  if (how === 'none') {
    return { name: claimedName(file, text), isDocument: false, findings: problems };
  }
  const lineOf = (field: string, inner?: string): number | undefined =>
    findFieldLine(text, lines.get(field) ?? unclear.get(field), inner);
  const read = readFields(
    {
      fields,
      isExact: how === 'yaml',
      unclear: [...unclear.keys()].filter((one) => !Object.hasOwn(fields, one)),
      lineOf,
    },
    { isFile: true, knownTools },
  );
  const lost = unparsedLimits(head.doubtful, knownTools);
  const isNamed = (textOf(fields[written])?.trim() ?? '') !== '';
  return {
    isDocument: false,
    name: read.name ?? (isNamed ? undefined : claimedName(file, text)),
    fields: lost.length > 0 ? undefined : read.fields,
    line: lineOf(written),
    findings: [...problems, ...lost, ...read.findings].sort(
      (a, b) => (a.line ?? 0) - (b.line ?? 0),
    ),
  };
}

function yamlFindings({ problem, how }: Frontmatter): readonly AgentFinding[] {
  if (problem === undefined) return [];
  const { line, message } = problem;
  const severity = how === 'none' ? 'error' : 'warning';
  // The YAML library counts lines from the first one of the front matter.
  const reason = message.replace(/ at line \d+, column \d+:?$/, '');
  const text = `its head cannot be read as YAML: ${reason}; quote texts that hold a colon`;
  return [{ severity, line, message: text }];
}
