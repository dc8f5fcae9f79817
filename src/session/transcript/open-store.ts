import { join } from '../../platform/fs/paths.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { createJsonlStore } from './jsonl-store.js';
import { createMemoryStore } from './memory-store.js';
import type { SessionStore } from './store.js';

/** The store of a session: files in the ecosystem's layout, or nothing that outlives the process. */
export function openStore(options: {
  readonly persist: boolean;
  readonly configDir: string;
  readonly cwd: string;
  readonly temporaryDirectory: string;
  readonly projectDirName: string | undefined;
  uuid(): string;
  emit(news: SessionNews): void;
}): SessionStore {
  if (!options.persist) {
    // A name that nobody can have made before us.
    return createMemoryStore({
      directory: join(options.temporaryDirectory, `portcullis-${options.uuid()}`),
    });
  }
  return createJsonlStore({
    configDir: options.configDir,
    cwd: options.cwd,
    projectDirName: options.projectDirName,
    onLost: (lost) => {
      options.emit({ type: 'writes_lost', code: lost.message, lost: lost.lines });
    },
    onRecovered: (file) =>
      options.emit({
        type: 'notice',
        level: 'info',
        text: `${file} is written again; nothing was lost`,
      }),
  });
}
