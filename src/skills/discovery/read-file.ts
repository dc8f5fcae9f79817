import { messageOf } from '../../errors.js';
import { yamlWithin } from '../../lib/frontmatter/parse-yaml.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type ReadSkill, readSkill } from '../head/head.js';
import type { Candidate } from './find.js';
import type { SkillFiles } from './roots.js';

/** A version of a file that may be used; everything used of it comes from these bytes. */
export interface ReadFile {
  readonly skill: ReadSkill;
  readonly text: string;
  /** The file's current text, even while an earlier version stays in force. */
  readonly onDisk: string;
}

/** Reads skill files and decides which version of each may be used. */
export interface SkillFileReader {
  /**
   * Reads a file within the limits of one scan: the version to use (an earlier one when a change is
   * vetoed), or the reason why there is none.
   */
  read(candidate: Candidate): Promise<Result<ReadFile, string>>;
  /** Starts a scan and resets its limits. */
  begin(): void;
  /** Ends a scan; differences from now on count as changes. */
  end(): void;
  /** The file's current text; undefined when it cannot be read. */
  textOf(at: Pick<Candidate, 'file' | 'real'>): Promise<string | undefined>;
}

/** A larger file is not read as a skill. */
const MOST_BYTES = 4 * 1024 * 1024;
const ENOUGH_BLANKS = 256 * 1024;
/** Limits of one scan for all texts and all YAML, so that no folder delays a start. */
const MOST_OF_ALL = 64 * 1024 * 1024;
const MOST_YAML_OF_ALL = 4 * 1024 * 1024;
/** Only blanks, or blanks and the start of a front matter fence. */
const BLANKS: readonly string[] = ['', '-', '--', '---'];

/** `veto` says why a change of a file must not be used, and is called once for each version. */
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
  /** By file: its last text, the veto against it, and the version in force. */
  const known = new Map<string, { text: string; reason?: string; admitted?: ReadFile }>();

  /** fail-closed: only the file at the real path that was checked is read. Undefined: it is too large. */
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
    // fail-closed: a file over the limit is not used.
    if (room < 0) return err('all skills together are more than is read');
    if (text.includes('\0')) return err('it is not a text');
    // fail-closed: front matter after so many blanks would not be found.
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
      // fail-closed: a veto hook that fails refuses the change.
      return `whether the change may be taken over could not be asked: ${messageOf(thrown)}`;
    }
  }

  async function admit(file: string, read: ReadFile): Promise<Result<ReadFile, string>> {
    const before = known.get(file);
    const isKnown = before?.text === read.text;
    const reason = isKnown ? before.reason : isChange ? await objection(file) : undefined;
    const admitted = reason === undefined ? read : before?.admitted;
    known.set(file, { text: read.text, reason, admitted });
    // fail-closed: a file without any accepted version is not used.
    return admitted === undefined
      ? err(reason ?? 'it was not let in')
      : ok({ ...admitted, onDisk: read.text });
  }

  return {
    async read(candidate) {
      const { file, root } = candidate;
      try {
        const read = await readNew(candidate);
        // An administrator's change cannot be vetoed.
        return read.ok && root.source !== 'managed' ? await admit(file, read.value) : read;
      } catch (thrown) {
        // fail-closed: an unreadable file is not used.
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
    // fail-closed: an unreadable file counts as changed.
    textOf: (at) => textAt(at).catch(() => undefined),
  };
}
