import type { SessionConfig } from '../agents/core/session-config.js';
import { findNamed, type LookUp, MOST_NAMES } from '../context/instructions/named-files.js';
import type { FileMention, Meaning } from '../context/prompt/file-mentions.js';
import { systemCodeOf } from '../errors.js';
import { visible } from '../lib/visible.js';
import type { FileStat } from '../platform/fs/fs.js';
import { dirname, homeDirectory, isAbsolute, resolve } from '../platform/fs/paths.js';
import type { SessionEnvironment } from './session-environment.js';

type Kind = FileStat['kind'];

/** A file or directory that a prompt names. */
export interface MentionedPlace {
  /** As people know it, with the lines that are meant. */
  readonly label: string;
  readonly path: string;
  readonly kind: Kind;
  readonly lines?: Meaning['lines'];
}

/**
 * Where the names of a prompt lead, each place once. Seen from the working directory, then from that of
 * the session. A name with nothing behind it is a word, and people are told where they meant a file.
 */
export async function mentionedPlaces(
  mentions: readonly FileMention[],
  { config, environment, tell }: MentionSearch,
): Promise<readonly MentionedPlace[]> {
  const search = lookUpIn(config, environment);
  const places = new Map<string, MentionedPlace>();
  const missing = new Set<string>();
  const patterns = new Set<string>();
  if (mentions.length > MOST_NAMES) {
    tell(`only the first ${MOST_NAMES} names with an @ are looked up`);
  }
  for (const mention of mentions.slice(0, MOST_NAMES)) {
    const place = await placeOf(mention, search);
    if (place !== undefined) {
      const key = JSON.stringify([place.path, place.lines]);
      if (!places.has(key)) places.set(key, place);
    } else if (await isMeant(mention, search)) {
      (mention.isPattern === true ? patterns : missing).add(barest(mention));
    }
  }
  if (missing.size > 0) tell(`nothing is at ${listed([...missing])}: no file was attached`);
  if (patterns.size > 0) {
    tell(`${listed([...patterns])}: a pattern names no file, and none was attached`);
  }
  return [...places.values()];
}

export interface MentionSearch {
  readonly config: Pick<SessionConfig, 'cwd'>;
  readonly environment: Pick<SessionEnvironment, 'fs' | 'env' | 'workspace'>;
  /** For people. */
  tell(text: string): void;
}

function lookUpIn(
  { cwd }: MentionSearch['config'],
  { fs, env, workspace }: MentionSearch['environment'],
): LookUp<Kind> {
  return {
    bases: [workspace.cwd, cwd],
    home: homeDirectory(env),
    async look(path) {
      try {
        return (await fs.stat(path))?.kind;
      } catch (thrown) {
        // Something is there, and whoever reads it says what is wrong with it. All else is no name of a file.
        const code = systemCodeOf(thrown);
        return code === 'EACCES' || code === 'EPERM' ? 'other' : undefined;
      }
    },
  };
}

async function placeOf(
  { meanings }: FileMention,
  search: LookUp<Kind>,
): Promise<MentionedPlace | undefined> {
  for (const { name, lines } of meanings) {
    const named = await findNamed(name, search);
    if (named === undefined) continue;
    const { path, found: kind } = named;
    const part = lines === undefined || kind === 'directory' ? {} : { lines };
    const label = lines === undefined ? `@${name}` : `@${name}#L${lines.from}-${lines.to}`;
    return { label, path, kind, ...part };
  }
  return undefined;
}

const MOST_TOLD = 5;

function listed(names: readonly string[]): string {
  const told = names.slice(0, MOST_TOLD).map((name) => visible(`@${name}`));
  const more = names.length > MOST_TOLD ? ` and ${names.length - MOST_TOLD} others` : '';
  return `${told.join(', ')}${more}`;
}

/** As short as it can be meant. */
function barest({ meanings }: FileMention): string {
  return meanings.at(-1)?.name ?? '';
}

/** Scopes of packages, aliases and handles look like paths, and stand in no folder that is there. */
async function isMeant(mention: FileMention, search: LookUp<Kind>): Promise<boolean> {
  const { bases, look } = search;
  const name = barest(mention);
  if (/^(?:\.{1,2}|~)\//.test(name)) return true;
  // `@"text"` is how some languages write texts.
  if (mention.isQuoted && /\w\.\w{1,8}$/.test(name)) return true;
  if (mention.isPattern === true) return await isMeantPattern(name, search);
  // `@/lib/x` is how programs name their own modules.
  if (isAbsolute(name)) return false;
  for (const base of new Set(bases)) {
    const folder = dirname(resolve(base, name));
    if (folder !== base && (await look(folder)) === 'directory') return true;
  }
  return false;
}

async function isMeantPattern(pattern: string, search: LookUp<Kind>): Promise<boolean> {
  const [plain = ''] = pattern.split(/[*?]/, 1);
  const folder = plain.slice(0, plain.lastIndexOf('/') + 1);
  if (folder === '') return /\*\.\w{1,8}$/.test(pattern);
  return (await findNamed(folder, search))?.found === 'directory';
}
