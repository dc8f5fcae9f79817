import { messageOf, PortcullisError } from '../../errors.js';
import { textOf } from '../../lib/field-values.js';
import { type Frontmatter, findFieldLine, loadFrontmatter } from '../../lib/frontmatter.js';
import { type ParseYaml, yamlWithin } from '../../lib/parse-yaml.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { MAX_DOCUMENT_BYTES } from '../../settings/trust/tree.js';
import type { AgentFinding, DefinitionFields } from './definition.js';
import { knownField, readFields, unparsedLimits } from './fields.js';
import { claimedName, MOST_LOOKED_AT } from './names.js';

type Files = Pick<FileSystem, 'stat' | 'readHead' | 'readWithStat'>;

/** A file, and its real path, which was judged. */
interface FileAt {
  readonly file: string;
  readonly real: string;
}

/** What one file holds. */
export interface ReadDefinition extends HeadFindings {
  /** Head, prompt and trust go by this very text. Undefined: it could not be read. */
  readonly text: string | undefined;
}

export interface DefinitionReader {
  /** Reads a file within the limits of one scan. */
  read(at: FileAt): Promise<ReadDefinition>;
  /** The text of a file as it is now; undefined when it cannot be read. */
  textOf(at: FileAt): Promise<string | undefined>;
  /** Starts a scan: the limits count anew. */
  begin(): void;
}

/** Limits of one scan, so that no folder delays a start: all texts, and all heads parsed as YAML. */
const MOST_OF_ALL = 32 * 1024 * 1024;
const MOST_YAML_OF_ALL = 4 * 1024 * 1024;

export function openDefinitionReader(deps: {
  readonly fs: Files;
  readonly knownTools: readonly string[];
}): DefinitionReader {
  const { fs, knownTools } = deps;
  const yaml = yamlWithin(MOST_YAML_OF_ALL);
  let room = MOST_OF_ALL;
  return {
    begin() {
      room = MOST_OF_ALL;
      yaml.begin();
    },
    // fail-closed: what cannot be read is not the text that was judged.
    textOf: (at) => readText(fs, at).catch(() => undefined),
    async read(at) {
      const { file } = at;
      try {
        const stat = await fs.stat(file);
        if (stat?.kind !== 'file') return unread('it is not a regular file', claimedName(file));
        if (stat.size > MAX_DOCUMENT_BYTES) {
          const beginning = new TextDecoder().decode(await fs.readHead(file, MOST_LOOKED_AT));
          return unread(
            `it is larger than ${MAX_DOCUMENT_BYTES} bytes`,
            claimedName(file, beginning),
          );
        }
        room -= stat.size;
        // fail-closed: what is not read is not used, and said.
        if (room < 0) throw new PortcullisError('io', 'all agents together are more than is read');
        const text = await readText(fs, at);
        const parts = { parseYaml: yaml.parse, knownTools, file };
        return { ...(await readDefinition(text, parts)), text };
      } catch (thrown) {
        // fail-closed: what cannot be read is not used, and said.
        return unread(`it cannot be read: ${messageOf(thrown)}`, claimedName(file));
      }
    },
  };
}

function unread(message: string, name: string | undefined): ReadDefinition {
  const findings: AgentFinding[] = [{ severity: 'error', message }];
  return { isDocument: false, name, findings, text: undefined };
}

/** fail-closed: only the file at the real path that was judged is read. */
async function readText(fs: Files, { file, real }: FileAt): Promise<string> {
  const maxBytes = MAX_DOCUMENT_BYTES;
  const { bytes } = await fs.readWithStat(file, { maxBytes, realPath: real });
  if (bytes === undefined) throw new PortcullisError('io', `it is larger than ${maxBytes} bytes`);
  return new TextDecoder().decode(bytes);
}

/** What the head of one file says. */
export interface HeadFindings {
  /** The file names no agent: it is text for people. */
  readonly isDocument: boolean;
  readonly name: string | undefined;
  /** Absent where there is an error. */
  readonly fields?: DefinitionFields | undefined;
  readonly line?: number | undefined;
  readonly findings: readonly AgentFinding[];
}

interface HeadDeps {
  readonly knownTools: readonly string[];
  /** Claims its own name where it is broken and no other can be found in it. */
  readonly file?: string;
}

/** The head of one file. Without a name it is no definition, unless nobody can tell whether it has one. */
export async function readDefinition(
  text: string,
  deps: HeadDeps & { readonly parseYaml?: ParseYaml | undefined },
): Promise<HeadFindings> {
  if (text.includes('\0')) {
    const findings: AgentFinding[] = [{ severity: 'error', message: 'it is no text' }];
    return { name: claimedName(deps.file, text), isDocument: false, findings };
  }
  return definitionFrom(await loadFrontmatter(text, deps), text, deps);
}

function definitionFrom(
  head: Frontmatter,
  text: string,
  { knownTools, file }: HeadDeps,
): HeadFindings {
  const isName = (written: string): boolean => knownField(written) === 'name';
  const written = [...Object.keys(head.fields), ...head.unclear.keys()].find(isName);
  if (written === undefined) return { name: undefined, isDocument: true, findings: [] };
  const isYaml = yamlFinding(head);
  if (head.how === 'none') {
    return { name: claimedName(file, text), isDocument: false, findings: isYaml };
  }
  const read = readFields(
    {
      fields: head.fields,
      isExact: head.how === 'yaml',
      unclear: [...head.unclear.keys()].filter((one) => !Object.hasOwn(head.fields, one)),
      lineOf: (field, inner) =>
        findFieldLine(text, head.lines.get(field) ?? head.unclear.get(field), inner),
    },
    { isFile: true, knownTools },
  );
  const line = head.lines.get(written) ?? head.unclear.get(written);
  const lost = lostFindings(head, knownTools);
  const isNamed = (textOf(head.fields[written])?.trim() ?? '') !== '';
  return {
    isDocument: false,
    name: read.name ?? (isNamed ? undefined : claimedName(file, text)),
    fields: lost.length > 0 ? undefined : read.fields,
    line,
    findings: [...isYaml, ...lost, ...read.findings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

/** fail-closed: a line that may have been a limit takes the definition out. */
function lostFindings(
  { doubtful }: Frontmatter,
  knownTools: readonly string[],
): readonly AgentFinding[] {
  return unparsedLimits(doubtful, knownTools).map(({ field, line }) => ({
    severity: 'error',
    line,
    message: `a line about "${field}" cannot be understood; write "${field}: value"`,
  }));
}

function yamlFinding({ problem, how }: Frontmatter): readonly AgentFinding[] {
  if (problem === undefined) return [];
  const { line, message } = problem;
  const severity = how === 'none' ? 'error' : 'warning';
  // The library counts its lines from the head's first one.
  const reason = message.replace(/ at line \d+, column \d+:?$/, '');
  const text = `its head cannot be read as YAML: ${reason}; quote texts that hold a colon`;
  return [{ severity, line, message: text }];
}
