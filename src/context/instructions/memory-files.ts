import { join } from '../../platform/fs/paths.js';
import type { LoadResult } from './load-result.js';
import type { InstructionLoader } from './loader.js';
import { type MemoryPlace, memoryDirectory } from './places.js';
import { skip } from './reader.js';
import type { InstructionSettings } from './settings.js';
import type { LoadCause, Place } from './types.js';

type MemoryParts = Pick<MemoryPlace, 'fs' | 'home' | 'configDir' | 'project'> & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sources: readonly string[];
  readonly settings: InstructionSettings;
  readonly trusted: boolean;
  readonly loader: InstructionLoader;
};

/** The notes of earlier sessions, then those that a team shares. */
export async function takeMemories(
  parts: MemoryParts,
  { how, into }: { how: LoadCause; into: LoadResult },
): Promise<void> {
  if (isMemoryOn(parts) && parts.sources.includes('user')) {
    const place = await memoryFile(parts);
    if (place !== undefined) await parts.loader.take(place, how, into);
    else {
      const wanted = { path: parts.settings.autoMemoryDirectory ?? '', scope: 'memory' as const };
      into.skipped.push(skip(wanted, 'missing', 'autoMemoryDirectory is neither absolute nor ~/…'));
    }
  }
  if (!parts.settings.teamMemory || !parts.sources.includes('project')) return;
  const { root, realRoot } = parts.project;
  const path = join(root, '.claude', 'team-memory', 'MEMORY.md');
  const team = { path, scope: 'team', kind: 'memory', base: root } as const;
  // fail-closed: what a stranger's repository remembers is no memory of the team.
  if (parts.trusted) await parts.loader.take({ ...team, within: [realRoot] }, how, into);
  else into.skipped.push(skip(team, 'disabled', 'the folder is not trusted', { warn: false }));
}

async function memoryFile(parts: MemoryParts): Promise<Place | undefined> {
  const base = await memoryDirectory({ ...parts, directory: parts.settings.autoMemoryDirectory });
  if (base === undefined) return undefined;
  return { path: join(base, 'MEMORY.md'), scope: 'memory', kind: 'memory', base };
}

/** `0` in the variable switches it on whatever settings say. */
function isMemoryOn({ env, settings }: MemoryParts): boolean {
  const said = env.CLAUDE_CODE_DISABLE_AUTO_MEMORY;
  if (said === undefined || said.trim() === '') return settings.autoMemory ?? true;
  return !isOn(said);
}

/** A switch in the environment. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && ['1', 'true', 'yes', 'on'].includes(value.trim().toLowerCase());
}
