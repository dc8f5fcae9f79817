import { messageOf } from '../../errors.js';
import { yamlWithin } from '../../lib/frontmatter/parse-yaml.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type ReadSkill, readSkill } from '../head/head.js';
import type { Candidate } from './find.js';
import type { SkillFiles } from './roots.js';

/** A version of a file that may be used. All that is used of it comes from these very bytes. */
export interface ReadFile {
  readonly skill: ReadSkill;
  readonly text: string;
  /** What stands in the file, also where an earlier version stays in force. */
  readonly onDisk: string;
}

/** Reads files of skills, and decides which versions of them may be used. */
export interface SkillFileReader {
  /**
   * Reads a file within the limits of one scan: the version to use, an earlier one when a change is held
   * back, or why there is none.
   */
  read(candidate: Candidate): Promise<Result<ReadFile, string>>;
  /** Starts a scan: the limits count anew. */
  begin(): void;
  /** A scan is over: what is different from now on is a change. */
  end(): void;
  /** The text of a file as it is now; undefined when there is none that may be read. */
  textOf(at: Pick<Candidate, 'file' | 'real'>): Promise<string | undefined>;
}

/** A larger file is no skill. */
const MOST_BYTES = 4 * 1024 * 1024;
const ENOUGH_BLANKS = 256 * 1024;
/** Limits of one scan, so that no folder delays a start: all texts, and all heads parsed as YAML. */
const MOST_OF_ALL = 64 * 1024 * 1024;
const MOST_YAML_OF_ALL = 4 * 1024 * 1024;
/** Blanks, or the beginning of a ruler behind them. */
const BLANKS: readonly string[] = ['', '-', '--', '---'];

/** `veto` says why a change of a file must not be taken over. Asked once about each version. */
export function openSkillReader({
  fs,
  veto,
}: {
  readonly fs: SkillFiles;
  veto?(file: string): Promise<string | undefined>;
}): SkillFileReader {
  const yaml = yamlWithin(MOST_YAML_OF_ALL);
  let room = MOST_OF_ALL;
  let isChange = false;
  /** The last text of each file and why it is held back, with the version that may be used. */
  const known = new Map<string, { text: string; reason?: string; admitted?: ReadFile }>();

  /** fail-closed: only the file at the real path that was judged is read. Undefined: it is too large. */
  async function textAt({
    file,
    real,
  }: Pick<Candidate, 'file' | 'real'>): Promise<string | undefined> {
    const { bytes } = await fs.readWithStat(file, { maxBytes: MOST_BYTES, realPath: real });
    return bytes && new TextDecoder().decode(bytes);
  }

  async function readNew({ file, real, root }: Candidate): Promise<Result<ReadFile, string>> {
    const text = await textAt({ file, real });
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
    return ok({ skill, text, onDisk: text });
  }

  async function objection(file: string): Promise<string | undefined> {
    try {
      return await veto?.(file);
    } catch (thrown) {
      // fail-closed: a guard that does not answer refuses.
      return `whether the change may be taken over could not be asked: ${messageOf(thrown)}`;
    }
  }

  async function admit(file: string, read: ReadFile): Promise<Result<ReadFile, string>> {
    const before = known.get(file);
    const isKnown = before?.text === read.text;
    const reason = isKnown ? before.reason : isChange ? await objection(file) : undefined;
    const admitted = reason === undefined ? read : before?.admitted;
    known.set(file, { text: read.text, reason, admitted });
    // fail-closed: a file of which no version was let in is not used.
    return admitted === undefined
      ? err(reason ?? 'it was not let in')
      : ok({ ...admitted, onDisk: read.text });
  }

  return {
    async read(candidate) {
      const { file, root } = candidate;
      try {
        const read = await readNew(candidate);
        // What an administrator changed cannot be refused.
        return read.ok && root.source !== 'managed' ? await admit(file, read.value) : read;
      } catch (thrown) {
        // fail-closed: what cannot be read is not used.
        return err(`it cannot be read: ${messageOf(thrown)}`);
      }
    },
    begin() {
      room = MOST_OF_ALL;
      yaml.begin();
    },
    end() {
      isChange = true;
    },
    // fail-closed: a file that cannot be read is not the one that was judged.
    textOf: (at) => textAt(at).catch(() => undefined),
  };
}
