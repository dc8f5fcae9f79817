import { messageOf } from '../../errors.js';
import { yamlWithin } from '../../lib/parse-yaml.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type ReadSkill, readSkill } from '../head/head.js';
import type { Candidate } from './find.js';
import type { SkillFiles } from './roots.js';

/** A file as it was read. All that is used of it comes from these very bytes. */
export interface ReadFile {
  readonly skill: ReadSkill;
  readonly text: string;
}

export interface SkillFileReader {
  /** Reads a file within the limits of one scan. */
  read(candidate: Candidate): Promise<Result<ReadFile, string>>;
  /** Starts a scan: the limits count anew. */
  begin(): void;
  /** The text of a file as it is now; undefined when there is none that may be read. */
  textOf(at: Pick<Candidate, 'file' | 'real'>): Promise<string | undefined>;
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
    const text = await textAt(fs, { file, real });
    if (text === undefined) return err(`it is larger than ${MOST_BYTES} bytes`);
    room -= text.length;
    // fail-closed: what is not read is not used.
    if (room < 0) return err('all skills together are more than is read');
    if (text.includes('\0')) return err('it is no text');
    // fail-closed: a head that comes later would not be seen.
    if (text.length >= ENOUGH_BLANKS && BLANKS.includes(text.slice(0, ENOUGH_BLANKS).trim()))
      return err('it begins with blanks only');
    const isCommand = root.kind === 'commands';
    const skill = await readSkill(text, { parseYaml: yaml.parse, isCommand });
    return ok({ skill, text });
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
    // fail-closed: a file that cannot be read is not the one that was judged.
    textOf: (at) => textAt(fs, at).catch(() => undefined),
  };
}

/** Blanks, or the beginning of a ruler behind them. */
const BLANKS: readonly string[] = ['', '-', '--', '---'];

/** fail-closed: only the file at the real path that was judged is read. Undefined: it is too large. */
async function textAt(
  fs: SkillFiles,
  { file, real }: Pick<Candidate, 'file' | 'real'>,
): Promise<string | undefined> {
  const { bytes } = await fs.readWithStat(file, { maxBytes: MOST_BYTES, realPath: real });
  return bytes && new TextDecoder().decode(bytes);
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

/** `veto` says why a change of a file must not be taken over. */
export function openAdmissions(
  veto: ((file: string) => Promise<string | undefined>) | undefined,
): Admissions {
  /** About the last text of each file; without a reason it may be used. */
  const answers = new Map<string, { readonly text: string; readonly reason?: string }>();
  const admitted = new Map<string, ReadFile>();
  let isSettled = false;
  const ask = async (file: string): Promise<string | undefined> => {
    try {
      return await veto?.(file);
    } catch (thrown) {
      // fail-closed: a guard that does not answer refuses.
      return `whether the change may be taken over could not be asked: ${messageOf(thrown)}`;
    }
  };
  return {
    async admit(file, read) {
      const known = answers.get(file);
      const isKnown = known?.text === read.text;
      const reason = isKnown ? known.reason : isSettled ? await ask(file) : undefined;
      answers.set(file, { text: read.text, reason });
      if (reason === undefined) admitted.set(file, read);
      const allowed = admitted.get(file);
      // fail-closed: a file of which no version was let in is not used.
      return allowed === undefined ? err(reason ?? 'it was not let in') : ok(allowed);
    },
    settle() {
      isSettled = true;
    },
  };
}
