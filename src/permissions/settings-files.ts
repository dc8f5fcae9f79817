import { basename } from '../platform/fs/paths.js';
import { ASKS_PERSON, type Finding, type Guard, NOTHING } from './guard.js';
import { mayWrite } from './guards.js';
import { protectedPart } from './protected-paths.js';
import type { CallView } from './view.js';

/**
 * Asks before a file of settings is written that lies somewhere else than settings usually do, in the
 * project too: what it says holds from then on.
 */
export function settingsFilesGuard(files: () => readonly string[]): Guard {
  return {
    name: ASKS_PERSON.settingsFiles,
    onFailure: 'ask',
    async decide(view) {
      // Whoever names no file to write and runs no code writes none.
      if (!mayWrite(view)) return NOTHING;
      const own = files();
      return own.length === 0 ? NOTHING : writtenBy(view, own);
    },
  };
}

async function writtenBy(view: CallView, own: readonly string[]): Promise<Finding> {
  const { command } = view.call.subject;
  const isNamed = own.some((file) => command?.includes(basename(file)) === true);
  const touched = [...(await view.paths()), ...(isNamed ? (await view.shellPaths()).paths : [])];
  const found = touched.find(
    ({ access, spellings }) =>
      access === 'write' && own.includes(protectedPart(spellings, { roots: [], own }) ?? ''),
  );
  if (found === undefined) return NOTHING;
  return {
    decision: 'ask',
    reason: `${found.spellings.literal} holds settings of this very session`,
    source: 'protected path',
    blockedPath: found.spellings.literal,
  };
}
