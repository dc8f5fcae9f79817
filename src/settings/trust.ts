import { fileMemoryOf } from '../env/file-memory.js';
import type { FileSystem } from '../env/fs.js';
import { join, relative, toPosix } from '../env/paths.js';
import { directoriesUpToRepository } from './read-files.js';
import type { TrustedDeclaration, TrustRecord, TrustStore } from './trust-store.js';
import type { Declaration, PendingDeclaration, TrustCheck } from './trust-types.js';

export interface TrustPlaces {
  readonly fs: FileSystem;
  readonly cwd: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  /** Where this program keeps its own state. */
  readonly stateDirectory: string;
  /** Which optional settings sources count; all unless said otherwise. */
  readonly sources?: readonly string[];
  now(): number;
}

/** What of a project may grant and execute: what a person accepted, as long as it stays the same. */
export interface ProjectTrust {
  /** Looks at the files as they are now. */
  check(): Promise<TrustCheck>;
  /** Accepts what `seen` shows, and nothing that came later. Not stored: holds for this process. */
  accept(seen: TrustCheck, how: { store: boolean }): Promise<Acceptance>;
  /**
   * After our own write of a person's answer into a settings file of the project: accepts what was
   * written, so that the answer does not cost the folder its trust.
   */
  rebind(written: OwnWrite): Promise<Binding>;
  /** Each declaration with place and text, safe on a terminal. */
  show(seen: TrustCheck): Promise<readonly string[]>;
}

/** `refusal`: why it holds for this process only, although it was to be stored. */
export interface Acceptance {
  readonly stored: boolean;
  readonly refusal?: string;
}

export interface OwnWrite {
  /** Absolute. */
  readonly file: string;
  /** Rules that were written into `permissions.allow`. */
  readonly allow?: readonly string[];
  /** What was written into `permissions.additionalDirectories`. */
  readonly directories?: readonly string[];
}

/** `waits`: in force only when the rest of what the folder declares is accepted as well. */
export type Binding = 'bound' | 'waits' | 'this process only';

export function openProjectTrust(places: TrustPlaces): ProjectTrust {
  const accepted = new Set<string>();

  async function check(): Promise<TrustCheck> {
    const levels = await directoriesUpToRepository(places);
    const root = await places.fs.realPath(levels.at(-1) ?? places.cwd);
    if (!(await hasConfiguration(places, levels))) return nothing(root);
    const { collectDeclarations } = await import('./trust-collect.js');
    const sources = places.sources ?? ['project', 'local'];
    const memory = fileMemoryOf({ ...places, root: levels.at(-1) ?? places.cwd });
    const declarations = await collectDeclarations({ ...places, levels, sources, memory });
    if (declarations.length === 0) return nothing(root);
    const record = await (await storeOf(places)).read(root);
    return judge({ root, declarations, record, accepted });
  }

  return {
    check,
    async accept(seen, { store }) {
      for (const { digest } of seen.declarations) accepted.add(digest);
      if (!store) return { stored: false };
      const kept = await storeOf(places);
      const unpinned = seen.declarations.find((declaration) => !declaration.pinned);
      const refusal =
        unpinned === undefined
          ? await kept.refusal(seen.root)
          : `the content of ${unpinned.file} cannot be taken in whole`;
      if (refusal !== undefined) return { stored: false, refusal };
      const old = await kept.read(seen.root);
      const levels = await levelNames(places, seen.root);
      const others = (old?.declarations ?? []).filter(({ level }) => !levels.includes(level));
      const acceptedAt = new Date(places.now()).toISOString();
      const all = [...others, ...seen.declarations.map((one) => entryOf(one, seen.root))];
      await kept.write({ root: seen.root, acceptedAt, declarations: all });
      return { stored: true };
    },
    async rebind(written) {
      const { root, declarations } = await check();
      const file = await places.fs.realPath(written.file);
      const same = await Promise.all(declarations.map((one) => places.fs.realPath(one.file)));
      const ours = declarations.filter(
        (one, index) => same[index] === file && isOurs(one, written),
      );
      for (const { digest } of ours) accepted.add(digest);
      const kept = await storeOf(places);
      if ((await kept.refusal(root)) !== undefined) return 'this process only';
      await addTo(kept, root, ours);
      const stored = await kept.read(root);
      const left = judge({ root, declarations, record: stored, accepted: new Set() });
      return left.verdict === 'trusted' ? 'bound' : 'waits';
    },
    show: async (seen) => (await import('./trust-words.js')).declarationLines(seen),
  };
}

function nothing(root: string): TrustCheck {
  return { verdict: 'nothing', root, declarations: [], pending: [] };
}

/** Most projects have neither; then nothing more is read, loaded or hashed. */
async function hasConfiguration(places: TrustPlaces, levels: readonly string[]): Promise<boolean> {
  const looked = levels.flatMap((level) =>
    ['.claude', '.mcp.json'].map((name) =>
      // fail-closed: what cannot be looked at may be there.
      places.fs.stat(join(level, name)).then(
        (stat) => stat !== undefined,
        () => true,
      ),
    ),
  );
  return (await Promise.all(looked)).includes(true);
}

async function storeOf(places: TrustPlaces): Promise<TrustStore> {
  const { openTrustStore } = await import('./trust-store.js');
  return openTrustStore(places);
}

function judge(state: {
  root: string;
  declarations: readonly Declaration[];
  record: TrustRecord | undefined;
  accepted: ReadonlySet<string>;
}): TrustCheck {
  const { root, declarations, record, accepted } = state;
  const stored = record?.declarations ?? [];
  const digests = new Set(stored.map((one) => one.digest));
  const current = new Set(declarations.map((one) => one.digest));
  const gone = stored.filter((one) => !current.has(one.digest));
  const pending = declarations
    .filter((one) => !accepted.has(one.digest) && !(one.pinned && digests.has(one.digest)))
    .map((declaration): PendingDeclaration => {
      if (gone.length === 0) return { declaration, was: 'new' };
      const { file, kind, name } = entryOf(declaration, root);
      const known = gone.some((o) => o.file === file && o.kind === kind && o.name === name);
      return { declaration, was: known ? 'changed' : 'new' };
    });
  // One unaccepted declaration holds back all: they may only make sense, or harm, together.
  const verdict =
    pending.length === 0 ? 'trusted' : record?.acceptedAt === undefined ? 'never' : 'changed';
  return { verdict, root, declarations, pending };
}

function entryOf(declaration: Declaration, root: string): TrustedDeclaration {
  const { kind, name, level, digest, file } = declaration;
  return { kind, name, level, digest, file: toPosix(relative(root, file)) };
}

async function levelNames(places: TrustPlaces, root: string): Promise<readonly string[]> {
  const levels = await directoriesUpToRepository(places);
  const real = await Promise.all(levels.map((level) => places.fs.realPath(level)));
  return real.map((level) => toPosix(relative(root, level)));
}

function isOurs(declaration: Declaration, written: OwnWrite): boolean {
  if (declaration.name === 'permissions.allow')
    return written.allow?.includes(declaration.text) === true;
  return (
    declaration.name === 'permissions.additionalDirectories' &&
    written.directories?.includes(declaration.text) === true
  );
}

async function addTo(
  store: TrustStore,
  root: string,
  declarations: readonly Declaration[],
): Promise<void> {
  const old = await store.read(root);
  const kept = old?.declarations ?? [];
  const fresh = declarations
    .filter((one) => !kept.some((known) => known.digest === one.digest))
    .map((one) => entryOf(one, root));
  if (fresh.length > 0) {
    await store.write({ ...(old ?? { root }), declarations: [...kept, ...fresh] });
  }
}
