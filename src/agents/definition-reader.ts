import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import { type FileVersion, isSameVersion, isTextOf, stampOf } from '../env/file-version.js';
import type { FileStat, FileSystem } from '../env/fs.js';
import { sha256 } from '../env/hash.js';
import { SeenText } from '../env/seen-text.js';
import { messageOf, PortcullisError } from '../errors.js';
import { LARGEST_DOCUMENT } from '../settings/trust-names.js';
import { textOf } from '../skills/head-values.js';
import { type EverydayHead, everydayHead } from '../util/everyday-head.js';
import { type Frontmatter, loadFrontmatter } from '../util/frontmatter.js';
import { splitFile } from '../util/head-text.js';
import { lineBelow } from '../util/line-below.js';
import { isRecord } from '../util/own.js';
import type { ParseYaml } from '../util/parse-yaml.js';
import { yamlWithin } from '../util/parse-yaml.js';
import { headFrom, plainFields } from '../util/plain-head.js';
import { bareFields } from './definition-bare.js';
import { claimedName, MOST_LOOKED_AT } from './definition-claimed.js';
import { knownField } from './definition-field-names.js';
import { readFields } from './definition-fields.js';
import { hasHead, headInSeen, headOf } from './definition-head.js';
import { isPlainType } from './definition-names.js';
import { lostLimits } from './definition-strays.js';
import type { AgentFinding, DefinitionFields } from './definition-types.js';

type Files = Pick<FileSystem, 'stat' | 'statNow' | 'readHead' | 'readText'>;

/** What one file holds. */
export interface ReadDefinition {
  /** Names no agent: text for people. */
  readonly isDocument: boolean;
  readonly name: string | undefined;
  /** Absent where there is an error. */
  readonly fields?: DefinitionFields;
  readonly line?: number;
  readonly findings: readonly AgentFinding[];
  /** Is another one whenever the file changes; absent where it could not be read. */
  readonly version: FileVersion | undefined;
  contentHash(): string;
  /** Text below the head, of the same version. Throws when the file is another one by now. */
  prompt(): Promise<string>;
}

export interface DefinitionReader {
  /** Reads the beginning of a file; what was read before is remembered until the file changes. */
  read(file: string, look?: FileVersion): Promise<ReadDefinition>;
  /** The same at once, of a file that is known, or was looked at and is plain; undefined: read it. */
  known(file: string, look?: FileVersion): ReadDefinition | undefined;
  /**
   * For use: all of a file as it is now, head and prompt of the same bytes, and those bytes. Nothing
   * that was read before is believed. Undefined when it cannot be read.
   */
  readWhole(file: string): Promise<WholeDefinition | undefined>;
  /** What is read from now on counts anew against the limits. */
  begin(): void;
  /** Of the file as it is now; undefined when there is none. */
  versionOf(file: string): Promise<FileStat | undefined>;
}

export interface WholeDefinition {
  readonly read: ReadDefinition;
  readonly text: string;
}

const LONGEST_KEPT = 64 * 1024;
/** Of all heads of one look together; limits, so that no folder holds a start up. */
const MOST_OF_ALL = 32 * 1024 * 1024;
const MOST_YAML_OF_ALL = 1024 * 1024;
/** The same without the text below them: heads are what takes time. */
const MOST_HEADS_OF_ALL = 4 * 1024 * 1024;

export function openDefinitionReader(deps: {
  readonly fs: Files;
  readonly parseYaml?: ParseYaml | undefined;
  readonly knownTools: readonly string[];
  /** Heads that earlier starts have read, with the same tools known. */
  readonly memory?: FileMemory | undefined;
}): DefinitionReader {
  const { fs, knownTools, memory = NO_MEMORY } = deps;
  const yaml = yamlWithin(deps.parseYaml, MOST_YAML_OF_ALL);
  let room = MOST_OF_ALL;
  let headRoom = MOST_HEADS_OF_ALL;
  const known = new Map<string, ReadDefinition>();

  async function readHead(
    file: string,
    stat: FileStat,
    seen: SeenText | undefined,
  ): Promise<KnownHead> {
    // fail-closed: what is not read is not used, and said.
    if (room <= 0 || headRoom <= 0)
      throw new PortcullisError('io', 'all agents together are more than is read');
    const { bytes, isWhole, text } =
      seen === undefined ? await headOf(fs, file, stat.size) : headInSeen(seen);
    room -= bytes.length;
    if (hasHead(text)) headRoom -= text.length;
    const read = await readDefinition(text, { parseYaml: yaml.parse, knownTools, file });
    // What was not read is known by its version.
    const contentHash = isWhole ? sha256(bytes) : sha256(`${sha256(bytes)} ${stampOf(stat)}`);
    return { ...read, contentHash };
  }

  /** Of a head of plain texts, which most are. */
  function readLooked(file: string, seen: SeenText): ReadDefinition | undefined {
    const { text } = seen;
    // Of a long file no more than its head is kept.
    if (text.length > LONGEST_KEPT || text.includes('\0')) return undefined;
    if (room <= 0 || headRoom <= 0) return undefined;
    const plain = plainDefinition(text, deps);
    if (plain === undefined) return undefined;
    const { found, bodyAt } = plain;
    room -= text.length;
    headRoom -= bodyAt;
    const contentHash = (): string => sha256(text);
    memory.note(AGENT, file, seen, (): KnownHead => ({ ...found, contentHash: contentHash() }));
    return take(file, seen, { found, contentHash });
  }

  function take(file: string, version: FileVersion, head: HashedHead): ReadDefinition {
    const { isDocument, name, fields, line, findings } = head.found;
    const { contentHash } = head;
    const prompt = (): Promise<string> => promptOf(fs, file, version);
    // Of a document there is no name, and then JSON does not have the key.
    const read: Writable<ReadDefinition> = {
      isDocument,
      name,
      findings,
      version,
      contentHash,
      prompt,
    };
    if (fields !== undefined) read.fields = fields;
    if (line !== undefined) read.line = line;
    known.set(file, read);
    return read;
  }

  function recalled(file: string, stat: FileStat): HashedHead | undefined {
    const said = memory.recall(AGENT, file, stat);
    return isHead(said) ? { found: said, contentHash: () => said.contentHash } : undefined;
  }

  return {
    known(file, look) {
      try {
        if (look instanceof SeenText) return readLooked(file, look);
        const stat = look ?? fs.statNow?.(file);
        if (stat?.kind !== 'file' || stat.size > LARGEST_DOCUMENT) return undefined;
        const before = known.get(file);
        if (before?.version !== undefined && isSameVersion(before.version, stat)) return before;
        const head = recalled(file, stat);
        return head === undefined ? undefined : take(file, stat, head);
      } catch {
        // fail-closed: whoever reads it is told what is wrong.
        return undefined;
      }
    },
    begin() {
      room = MOST_OF_ALL;
      headRoom = MOST_HEADS_OF_ALL;
      yaml.begin();
    },
    async readWhole(file) {
      try {
        const text = await fs.readText(file, { maxBytes: LARGEST_DOCUMENT });
        const stat = await fs.stat(file);
        if (stat === undefined) return undefined;
        const prompt = splitFile(text).body.trim();
        const read: ReadDefinition = {
          ...(await readDefinition(text, { ...deps, file })),
          version: stat,
          contentHash: () => sha256(text),
          prompt: () => Promise.resolve(prompt),
        };
        return { read, text };
      } catch {
        // fail-closed: what cannot be read is not used.
        return undefined;
      }
    },
    async read(file, look) {
      try {
        const stat = look instanceof SeenText ? look.facts() : (look ?? (await fs.stat(file)));
        // fail-closed: another file, or a link, stands there by now; nobody has looked at that.
        if (look !== undefined && stat === undefined)
          return unread('it changes while it is looked at', claimedName(file));
        if (stat?.kind !== 'file') return unread('it is not a regular file', claimedName(file));
        if (stat.size > LARGEST_DOCUMENT) {
          const beginning = new TextDecoder().decode(await fs.readHead(file, MOST_LOOKED_AT));
          return unread(
            `it is larger than ${LARGEST_DOCUMENT} bytes`,
            claimedName(file, beginning),
          );
        }
        const before = known.get(file);
        if (before?.version !== undefined && isSameVersion(before.version, stat)) return before;
        const remembered = recalled(file, stat);
        if (remembered !== undefined) return take(file, stat, remembered);
        const seen = look instanceof SeenText ? look : undefined;
        const found = await readHead(file, stat, seen);
        memory.note(AGENT, file, stat, found);
        return take(file, stat, { found, contentHash: () => found.contentHash });
      } catch (thrown) {
        // fail-closed: what cannot be read is not used, and said.
        return unread(`it cannot be read: ${messageOf(thrown)}`, claimedName(file));
      }
    },
    async versionOf(file) {
      try {
        const stat = await fs.stat(file);
        return stat?.kind === 'file' ? stat : undefined;
      } catch {
        // fail-closed: a file that cannot be looked at is not the one that was read.
        return undefined;
      }
    },
  };
}

/** Another one whenever a reader finds other things wrong: what an older one noted is not believed. */
const AGENT = 'agent 3';

/** While it is made. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Nobody asks for the digest before a definition has changed. */
interface HashedHead extends Pick<ReadDefinition, 'contentHash'> {
  readonly found: HeadFindings;
}

/** As it is remembered. */
type KnownHead = HeadFindings & { readonly contentHash: string };

/** fail-closed: what is not whole is read from the file again. */
function isHead(value: unknown): value is KnownHead {
  return (
    isRecord(value) &&
    typeof value.contentHash === 'string' &&
    typeof value.isDocument === 'boolean' &&
    Array.isArray(value.findings) &&
    (value.name === undefined || typeof value.name === 'string') &&
    (value.fields === undefined || isRecord(value.fields))
  );
}

function unread(message: string, name: string | undefined): ReadDefinition {
  return {
    isDocument: false,
    name,
    findings: [{ severity: 'error', message }],
    version: undefined,
    contentHash: () => '',
    prompt: () => Promise.reject(new PortcullisError('io', message)),
  };
}

export type HeadFindings = Pick<
  ReadDefinition,
  'isDocument' | 'name' | 'fields' | 'line' | 'findings'
>;

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

/** The head of a file at once, where it is one of plain texts; undefined for every other. */
function plainDefinition(
  text: string,
  deps: HeadDeps,
): { readonly found: HeadFindings; readonly bodyAt: number } | undefined {
  const everyday = everydayHead(text);
  // fail-closed: a name in doubt is for the reader that says what is wrong with it.
  if (everyday !== undefined && isPlainType(everyday.name)) {
    return { found: everydayDefinition(everyday), bodyAt: everyday.bodyAt };
  }
  const plain = plainFields(text);
  if (plain === undefined) return undefined;
  return { found: definitionFrom(headFrom(plain, text), text, deps), bodyAt: plain.bodyAt };
}

function everydayDefinition({ name, description, lines }: EverydayHead): HeadFindings {
  const fields = bareFields({ name, description });
  return { isDocument: false, name, fields, line: lines.name, findings: NONE };
}

const NONE: readonly AgentFinding[] = [];

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
        lineBelow(text, head.lines.get(field) ?? head.unclear.get(field), inner),
    },
    { isFile: true, knownTools },
  );
  const line = head.lines.get(written) ?? head.unclear.get(written);
  const lost = lostFindings(head, knownTools);
  const isNamed = (textOf(head.fields[written])?.trim() ?? '') !== '';
  return {
    isDocument: false,
    name: read.name ?? (isNamed ? undefined : claimedName(file, text)),
    ...(read.fields === undefined || lost.length > 0 ? {} : { fields: read.fields }),
    ...(line === undefined ? {} : { line }),
    findings: [...isYaml, ...lost, ...read.findings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

/** fail-closed: a line that may have been a limit takes the definition out. */
function lostFindings(
  { doubtful }: Frontmatter,
  knownTools: readonly string[],
): readonly AgentFinding[] {
  return lostLimits(doubtful, knownTools).map(({ field, line }) => ({
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

async function promptOf(fs: Files, file: string, version: FileVersion): Promise<string> {
  const text = await fs.readText(file, { maxBytes: LARGEST_DOCUMENT });
  if (isTextOf(version, text, await fs.stat(file))) {
    return splitFile(text).body.trim();
  }
  // fail-closed: what the old head allows was not said about this text.
  throw new PortcullisError('io', `${file} has changed since it was looked at`, {
    remedy: 'Start the agent again.',
  });
}
