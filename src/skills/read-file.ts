import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import { type FileVersion, isSameVersion, isTextOf } from '../env/file-version.js';
import type { FileStat } from '../env/fs.js';
import { SeenText } from '../env/seen-text.js';
import { messageOf, PortcullisError } from '../errors.js';
import { isRecord } from '../util/own.js';
import type { ParseYaml } from '../util/parse-yaml.js';
import { yamlWithin } from '../util/parse-yaml.js';
import { err, ok, type Result } from '../util/result.js';
import type { SkillFiles } from './find-roots.js';
import type { Candidate } from './found.js';
import { ENOUGH_BODY, type ReadSkill, readPlainSkill, readSkill } from './head.js';

/** A file's head as it was read, and which version of the file that was. Enough to show it. */
export interface ReadFile {
  readonly skill: Omit<ReadSkill, 'body'>;
  /** Is another one whenever the file changes, as far as its times tell. */
  readonly version: FileVersion;
  /** All of the file, of the same version. Throws when the file is another one by now. */
  text(): Promise<string>;
}

export interface SkillFileReader {
  /** Reads the beginning of a file; what was read before is remembered until the file changes. */
  read(candidate: Candidate): Promise<Result<ReadFile, string>>;
  /** What is read from now on counts anew against the limits. */
  begin(): void;
  /** Head and body of one text: all that is used of a file comes from the same bytes. */
  parse(text: string, root: Pick<Candidate['root'], 'kind'>): Promise<Result<ReadSkill, string>>;
  /** The same at once, of a file that was just looked at and is known or plain; undefined: read it. */
  known(candidate: Candidate): ReadFile | undefined;
  /** Of the file as it is now; undefined when there is none. */
  versionOf(file: string): Promise<FileStat | undefined>;
}

/** A larger file is no skill. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How much is read for the head: mostly the first step holds it. */
const STEPS: readonly number[] = [8 * 1024, 64 * 1024, 320 * 1024];
const ENOUGH_BLANKS = 256 * 1024;
/** Of all heads of one look together; limits, so that no folder holds a start up. */
const MOST_OF_ALL = 32 * 1024 * 1024;
const MOST_YAML_OF_ALL = 1024 * 1024;

export function openSkillReader(deps: {
  readonly fs: SkillFiles;
  readonly parseYaml?: ParseYaml | undefined;
  /** Heads that earlier starts have read. */
  readonly memory?: FileMemory | undefined;
}): SkillFileReader {
  const { fs, memory = NO_MEMORY } = deps;
  const yaml = yamlWithin(deps.parseYaml, MOST_YAML_OF_ALL);
  let room = MOST_OF_ALL;
  /** The same file may be found as a skill and as a command. */
  const known = { skill: new Map<string, KnownFile>(), command: new Map<string, KnownFile>() };

  const foundIn = (file: string, version: FileVersion, skill: ReadFile['skill']): ReadFile =>
    new HeadOfFile(fs, file, { version, skill });

  function recalled({ file, root }: Candidate, stat: FileStat): ReadFile | undefined {
    const skill = memory.recall(whatOf(root), file, stat);
    return isHead(skill) ? foundIn(file, stat, skill) : undefined;
  }

  /** Of a head of plain texts, which most are. */
  function readLooked({ file, root }: Candidate, seen: SeenText): ReadFile | undefined {
    const { text } = seen;
    if (room <= 0 || text.includes('\0')) return undefined;
    const what = whatOf(root);
    const skill = readPlainSkill(text, { isCommand: what === 'command' });
    if (skill === undefined) return undefined;
    room -= text.length;
    memory.note(what, file, seen, skill);
    const value = foundIn(file, seen, skill);
    known[what].set(file, value);
    return value;
  }

  async function readNew(
    { file, root, look }: Candidate,
    stat: FileStat,
  ): Promise<Result<ReadFile, string>> {
    // fail-closed: what is not read is not used.
    if (room <= 0) return err('all skills together are more than is read');
    const text = look instanceof SeenText ? look.text : await headText(fs, file, stat.size);
    room -= text.length;
    if (text.includes('\0')) return err('it is no text');
    // fail-closed: the head that may come later would not have been seen.
    if (text.length >= ENOUGH_BLANKS && mayOpen(text)) return err('it begins with blanks only');
    const what = whatOf(root);
    const isCommand = what === 'command';
    const { body: _, ...skill } = await readSkill(text, { parseYaml: yaml.parse, isCommand });
    memory.note(what, file, stat, skill);
    return ok(foundIn(file, stat, skill));
  }

  return {
    async read(candidate) {
      try {
        const { look } = candidate;
        const stat = await factsOf(fs, candidate);
        // fail-closed: another file, or a link, stands there by now; nobody has looked at that.
        if (look !== undefined && stat === undefined)
          return err('it changes while it is looked at');
        if (stat?.kind !== 'file') return err('it is not a regular file');
        if (stat.size > MOST_BYTES) return err(`it is larger than ${MOST_BYTES} bytes`);
        const mine = known[whatOf(candidate.root)];
        const before = mine.get(candidate.file);
        if (before !== undefined && isSameVersion(before.version, stat)) {
          return 'error' in before ? err(before.error) : ok(before);
        }
        const remembered = recalled(candidate, stat);
        if (remembered !== undefined) return ok(remembered);
        const read = await readNew(candidate, stat);
        mine.set(candidate.file, read.ok ? read.value : { version: stat, error: read.error });
        return read;
      } catch (thrown) {
        // fail-closed: what cannot be read is not used.
        return err(`it cannot be read: ${messageOf(thrown)}`);
      }
    },
    begin() {
      room = MOST_OF_ALL;
      yaml.begin();
    },
    async parse(text, { kind }) {
      if (text.includes('\0')) return err('it is no text');
      const { parseYaml } = deps;
      return ok(await readSkill(text, { parseYaml, isCommand: kind === 'commands' }));
    },
    known(candidate) {
      const { look } = candidate;
      if (look instanceof SeenText) return readLooked(candidate, look);
      if (look?.kind !== 'file' || look.size > MOST_BYTES) return undefined;
      return recalled(candidate, look);
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

/** What was read of a version, or why nothing was. */
type KnownFile = ReadFile | { readonly version: FileVersion; readonly error: string };

class HeadOfFile implements ReadFile {
  readonly skill: ReadFile['skill'];
  readonly version: FileVersion;
  readonly #fs: SkillFiles;
  readonly #file: string;

  constructor(fs: SkillFiles, file: string, found: Pick<ReadFile, 'skill' | 'version'>) {
    this.skill = found.skill;
    this.version = found.version;
    this.#fs = fs;
    this.#file = file;
  }

  async text(): Promise<string> {
    return await wholeText(this.#fs, this.#file, this.version);
  }
}

/** By which name a head is remembered: of a command `paths` mean nothing. */
function whatOf({ kind }: Candidate['root']): 'command' | 'skill' {
  return kind === 'commands' ? 'command' : 'skill';
}

/** fail-closed: what is not whole is read from the file again. */
function isHead(value: unknown): value is Omit<ReadSkill, 'body'> {
  return (
    isRecord(value) &&
    isRecord(value.head) &&
    Array.isArray(value.head.keys) &&
    Array.isArray(value.problems) &&
    typeof value.bodyLine === 'number'
  );
}

const utf8 = new TextDecoder('utf-8');

/** The head and as much of the body as a description can be taken from. */
async function headText(fs: SkillFiles, file: string, size: number): Promise<string> {
  let text = '';
  for (const step of STEPS) {
    // No more than there is: most files are short, and room for more costs time. One that grows
    // meanwhile is another version, and is read again.
    const length = Math.min(step, size);
    const bytes = await fs.readHead(file, length);
    const isWhole = length === size || bytes.length < length;
    // Half a character at the end is not the file's own.
    text = isWhole ? utf8.decode(bytes) : utf8.decode(bytes).replace(/\uFFFD$/, '');
    const end = enoughOf(text);
    if (end < text.length) return text.slice(0, end);
    if (isWhole) return text;
  }
  return text;
}

const OPENING = /^(?:[ \t]*[\r\n])*---[ \t]*[\r\n]/;
const CLOSING = /[\r\n](?:---|\.\.\.)[ \t]*[\r\n]/g;

/** Blanks, or the beginning of a ruler behind them: whether a head follows is not seen yet. */
function mayOpen(text: string): boolean {
  return ['', '-', '--', '---'].includes(text.trim());
}

/** Where one can stop: behind the head and some of the body. More than there is while the head goes on. */
function enoughOf(text: string): number {
  const open = OPENING.exec(text)?.[0];
  // Whether a head follows is not seen before the blank lines end.
  if (open === undefined) return mayOpen(text) ? Number.POSITIVE_INFINITY : ENOUGH_BODY;
  CLOSING.lastIndex = open.length - 1;
  return CLOSING.test(text) ? CLOSING.lastIndex + ENOUGH_BODY : Number.POSITIVE_INFINITY;
}

/** Of the very file that was looked at, where one was; undefined: it is another one by now, or gone. */
async function factsOf(fs: SkillFiles, { file, look }: Candidate): Promise<FileStat | undefined> {
  if (look === undefined) return await fs.stat(file);
  return look instanceof SeenText ? look.facts() : look;
}

async function wholeText(fs: SkillFiles, file: string, version: FileVersion): Promise<string> {
  const text = await fs.readText(file, { maxBytes: MOST_BYTES });
  if (isTextOf(version, text, await fs.stat(file))) return text;
  // fail-closed: what was decided by the old file does not hold for this text.
  throw new PortcullisError('io', `${file} has changed since it was looked at`, {
    remedy: 'Call the skill again.',
  });
}
