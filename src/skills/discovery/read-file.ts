import { messageOf, PortcullisError } from '../../errors.js';
import { yamlWithin } from '../../lib/parse-yaml.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type FileStat, isSameVersion } from '../../platform/fs/fs.js';
import { type ReadSkill, readSkill } from '../head/head.js';
import type { Candidate } from './find.js';
import type { SkillFiles } from './roots.js';

/** The head of a file, and the version of the file that it was read from. */
export interface ReadFile {
  readonly skill: Omit<ReadSkill, 'body'>;
  readonly version: FileStat;
  /** Reads the whole file again. Throws when it is another version by now. */
  text(): Promise<string>;
}

export interface SkillFileReader {
  /** Reads a file within the limits of one scan. */
  read(candidate: Candidate): Promise<Result<ReadFile, string>>;
  /** Starts a scan: the limits count anew. */
  begin(): void;
  /** Head and body of one text: all that is used of a file comes from the same bytes. */
  parse(text: string, root: Pick<Candidate['root'], 'kind'>): Promise<Result<ReadSkill, string>>;
  /** Of the file as it is now; undefined when there is none. */
  versionOf(file: string): Promise<FileStat | undefined>;
}

/** A larger file is no skill. */
const MOST_BYTES = 4 * 1024 * 1024;
const ENOUGH_BLANKS = 256 * 1024;
/** Limits of one scan, so that no folder delays a start: all texts, and all heads parsed as YAML. */
const MOST_OF_ALL = 64 * 1024 * 1024;
const MOST_YAML_OF_ALL = 4 * 1024 * 1024;

export function openSkillReader({ fs }: { readonly fs: SkillFiles }): SkillFileReader {
  const yaml = yamlWithin(MOST_YAML_OF_ALL);
  let room = MOST_OF_ALL;

  async function readNew({ file, real, root }: Candidate): Promise<Result<ReadFile, string>> {
    const { stat: version, text } = await readVersion(fs, file, real);
    if (text === undefined) return err(`it is larger than ${MOST_BYTES} bytes`);
    room -= text.length;
    // fail-closed: what is not read is not used.
    if (room < 0) return err('all skills together are more than is read');
    if (text.includes('\0')) return err('it is no text');
    // fail-closed: a head that comes later would not be seen.
    if (text.length >= ENOUGH_BLANKS && BLANKS.includes(text.slice(0, ENOUGH_BLANKS).trim()))
      return err('it begins with blanks only');
    const isCommand = root.kind === 'commands';
    const { body: _, ...skill } = await readSkill(text, { parseYaml: yaml.parse, isCommand });
    return ok({ skill, version, text: () => textOf(fs, { file, real, version }) });
  }

  return {
    async read(candidate) {
      try {
        const stat = await fs.stat(candidate.file);
        if (stat?.kind !== 'file') return err('it is not a regular file');
        return await readNew(candidate);
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
      return ok(await readSkill(text, { isCommand: kind === 'commands' }));
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

/** Blanks, or the beginning of a ruler behind them. */
const BLANKS: readonly string[] = ['', '-', '--', '---'];

const utf8 = new TextDecoder('utf-8');

/** fail-closed: only the file at the real path that was judged is read. Without text it is too large. */
async function readVersion(
  fs: SkillFiles,
  file: string,
  real: string,
): Promise<{ readonly stat: FileStat; readonly text?: string }> {
  const { stat, bytes } = await fs.readWithStat(file, { maxBytes: MOST_BYTES, realPath: real });
  return bytes === undefined ? { stat } : { stat, text: utf8.decode(bytes) };
}

async function textOf(
  fs: SkillFiles,
  { file, real, version }: { readonly file: string; readonly real: string; version: FileStat },
): Promise<string> {
  const now = await readVersion(fs, file, real).catch(() => undefined);
  if (now?.text !== undefined && isSameVersion(now.stat, version)) return now.text;
  // fail-closed: what was decided by the old file does not hold for this text.
  throw new PortcullisError('io', `${file} has changed since it was read`, {
    remedy: 'Call the skill again.',
  });
}

/** Which versions of files may be used. */
export interface Admissions {
  /**
   * The version to use: the one that was read; an earlier one when a change is held back; why there
   * is none. Nobody is asked twice about one version.
   */
  admit(file: string, read: ReadFile): Promise<Result<ReadFile, string>>;
  /** The first look is over: what comes from now on is a change. */
  settle(): void;
}

export interface AdmissionDeps {
  veto?(file: string): Promise<string | undefined>;
  /** Whether somebody may hold a change back, so that the text as it is now may be wanted later. */
  isGuarded?(): boolean;
}

/** About one version of a file; without a reason it may be used. */
interface Answer {
  readonly version: FileStat;
  readonly reason?: string | undefined;
}

/** Characters of all texts together that are kept for a change that is held back. */
const MOST_KEPT = 32 * 1024 * 1024;

export function openAdmissions(deps: AdmissionDeps): Admissions {
  const answers = new Map<string, Answer>();
  const kept = new Map<string, { readonly read: ReadFile; readonly size: number }>();
  let room = MOST_KEPT;
  let isSettled = false;
  return {
    async admit(file, read) {
      const known = answers.get(file);
      const isKnown = known !== undefined && isSameVersion(known.version, read.version);
      const reason = isKnown ? known.reason : isSettled ? await asked(file) : undefined;
      answers.set(file, { version: read.version, reason });
      if (reason !== undefined) {
        const earlier = kept.get(file);
        // fail-closed: what is not known any more cannot be used.
        return earlier === undefined ? err(reason) : ok(earlier.read);
      }
      const last = kept.get(file)?.read.version;
      const isKept = last !== undefined && isSameVersion(last, read.version);
      if (!isKept && deps.isGuarded?.() === true) await keep(file, read);
      return ok(read);
    },
    settle() {
      isSettled = true;
    },
  };

  async function keep(file: string, read: ReadFile): Promise<void> {
    room += kept.get(file)?.size ?? 0;
    kept.delete(file);
    // One that cannot be read now is not there for later.
    const text = await read.text().catch(() => undefined);
    if (text === undefined || text.length > room) return;
    room -= text.length;
    kept.set(file, { read: { ...read, text: () => Promise.resolve(text) }, size: text.length });
  }

  async function asked(file: string): Promise<string | undefined> {
    try {
      return await deps.veto?.(file);
    } catch (thrown) {
      // fail-closed: a guard that does not answer refuses.
      return `whether the change may be taken over could not be asked: ${messageOf(thrown)}`;
    }
  }
}
