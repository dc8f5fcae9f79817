import type { FileSystem } from '../../env/fs.js';
import { displayPath, expandHome, resolve } from '../../env/paths.js';
import type { Hook } from '../../hooks/hook.js';

export interface ScriptPlace {
  readonly fs: Pick<FileSystem, 'stat' | 'readText'>;
  /** The project's directory, in which hooks are started. */
  readonly cwd: string;
  readonly home: string;
}

export const TRANSCRIPT_NOTE =
  "it mentions transcript_path, which is the session's also inside subagents; a script that compares it to find subagents must use agent.path";

/** What the authors of scripts from elsewhere should know, as far as the script can be found. */
export async function scriptNotes(
  { handler }: Hook,
  place: ScriptPlace,
): Promise<readonly string[]> {
  if (handler.type !== 'command') return [];
  const code = [handler.command, ...(handler.args ?? [])].join(' ');
  if (code.includes('transcript_path')) return [TRANSCRIPT_NOTE];
  for (const file of filesNamedIn(code, place)) {
    if (await mentions(place.fs, file))
      return [`${displayPath(file, place.cwd)}: ${TRANSCRIPT_NOTE}`];
  }
  return [];
}

/** Every word that may be a file. Most are none, which is found out by looking. */
function filesNamedIn(code: string, { cwd, home }: ScriptPlace): readonly string[] {
  const words = code
    .replace(/["']?\$\{?CLAUDE_PROJECT_DIR\}?["']?/g, cwd)
    .replace(/\$\{?HOME\}?/g, home)
    .split(/[\s'"`;|&()<>]+/)
    .filter((word) => /[./]/.test(word) && !word.startsWith('-'));
  return [...new Set(words.map((word) => resolve(cwd, expandHome(word, home))))];
}

const MOST_BYTES = 1024 * 1024;

async function mentions(fs: ScriptPlace['fs'], file: string): Promise<boolean> {
  try {
    const stat = await fs.stat(file);
    if (stat?.kind !== 'file' || stat.size > MOST_BYTES) return false;
    return (await fs.readText(file)).includes('transcript_path');
  } catch {
    // No text, or nothing that may be read: there is nothing to say about it.
    return false;
  }
}
