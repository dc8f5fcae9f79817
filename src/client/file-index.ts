import type { AgentSession } from '../app.js';
import { fuzzyScore } from './fuzzy.js';

/** After this long the names are listed again, beside the search. */
const FRESH_MS = 3_000;
/** How long keys may wait for the search. */
const SLICE_MS = 6;

interface Names {
  readonly cwd: string;
  /** Files and directories; those end with a slash. */
  readonly paths: readonly string[];
  readonly lower: readonly string[];
  readonly listedAt: number;
}

/** The names of a project's files, for completion. Listing and searching leave the keys their time. */
export class FileIndex {
  readonly #list: (signal: AbortSignal) => Promise<readonly string[]>;
  #names: Names | undefined;
  #listing: Promise<Names> | undefined;

  constructor(list: (signal: AbortSignal) => Promise<readonly string[]>) {
    this.#list = list;
  }

  /** The best matches, best first. Empty where the search was aborted. */
  async search(
    { typed, cwd, limit }: { readonly typed: string; readonly cwd: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const wanted = typed.toLowerCase();
    const { paths, lower } = await this.#namesOf(cwd);
    const best: { readonly path: string; readonly score: number }[] = [];
    let least = -1;
    const slice = new Slice();
    for (let index = 0; index < paths.length; index++) {
      if (index % 500 === 0 && (await slice.isUsedUp()) && signal.aborted) return [];
      const path = paths[index] ?? '';
      const score = fuzzyScore(lower[index] ?? '', wanted);
      if (score < 0 || (score <= least && best.length >= limit)) continue;
      const at = best.findIndex((one) => one.score < score);
      best.splice(at < 0 ? best.length : at, 0, { path, score });
      if (best.length > limit) best.pop();
      least = best.at(-1)?.score ?? -1;
    }
    return best.map(({ path }) => path);
  }

  async #namesOf(cwd: string): Promise<Names> {
    const names = this.#names;
    const isOld = names === undefined || performance.now() - names.listedAt > FRESH_MS;
    if (names?.cwd !== cwd) this.#listing = undefined;
    if (isOld || names.cwd !== cwd) {
      this.#listing ??= this.#refresh(cwd).finally(() => {
        this.#listing = undefined;
      });
    }
    if (names?.cwd === cwd) {
      // The listing that runs beside it serves the next search; a failed one is tried again then.
      this.#listing?.catch(() => undefined);
      return names;
    }
    return (await this.#listing) ?? (await this.#refresh(cwd));
  }

  async #refresh(cwd: string): Promise<Names> {
    const files = await this.#list(new AbortController().signal);
    const directories = new Set<string>();
    const lower: string[] = [];
    const slice = new Slice();
    for (const [index, file] of files.entries()) {
      if (index % 500 === 0) await slice.isUsedUp();
      lower.push(file.toLowerCase());
      for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
        const directory = file.slice(0, at + 1);
        if (directories.has(directory)) break;
        directories.add(directory);
      }
    }
    const folders = [...directories];
    this.#names = {
      cwd,
      paths: folders.concat(files),
      lower: folders.map((one) => one.toLowerCase()).concat(lower),
      listedAt: performance.now(),
    };
    return this.#names;
  }
}

/** A part of the event loop's time. */
class Slice {
  #end = performance.now() + SLICE_MS;

  /** Lets keys and other events have their turn once the slice is over. */
  async isUsedUp(): Promise<boolean> {
    if (performance.now() < this.#end) return false;
    await new Promise((resolve) => setImmediate(resolve));
    this.#end = performance.now() + SLICE_MS;
    return true;
  }
}

const INDEXES = new WeakMap<AgentSession, FileIndex>();

/** The index of a session, made at the first completion. */
export function fileIndexOf(session: AgentSession): FileIndex {
  const known = INDEXES.get(session);
  if (known !== undefined) return known;
  const index = new FileIndex((signal) => session.requests.projectFiles(signal));
  INDEXES.set(session, index);
  return index;
}
