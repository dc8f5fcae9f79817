import type { FileSystem } from '../../platform/fs/fs.js';
import { basename, dirname, join, relative, toPosix } from '../../platform/fs/paths.js';
import {
  lookAtLevels,
  mayBeThere,
  type ProjectLevel,
  type ProjectLevels,
  projectLevels,
} from '../../platform/fs/project-levels.js';
import type { SeenScripts } from './scripts.js';
import type { TrustedDeclaration, TrustRecord, TrustStore } from './store.js';
import type {
  Declaration,
  PendingDeclaration,
  SeenDeclarations,
  TrustCheck,
  TrustPart,
  UsedDocument,
} from './types.js';

export interface TrustPlaces {
  readonly fs: FileSystem;
  readonly cwd: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  /** Where this program keeps its own state. */
  readonly stateDirectory: string;
  /** Which optional settings sources count; all unless said otherwise. */
  readonly sources?: readonly string[];
  /** What the start has seen of the project's directories. Absent: it is looked for. */
  readonly levels?: ProjectLevels;
  now(): number;
}

/** What of a project may grant and execute: what a person accepted, as long as it stays the same. */
export interface ProjectTrust {
  /** Looks at the files as they are now. */
  check(how?: CheckHow): Promise<TrustCheck>;
  /**
   * The first look of a session at some of the files, as in `CheckHow`, for whoever accepts what is in
   * them whatever that is: nobody asks what was accepted before.
   */
  lookAt(part: TrustPart): Promise<SeenDeclarations>;
  /** Accepts what `seen` shows, and nothing that came later. Not stored: holds for this process. */
  accept(seen: SeenDeclarations, how: { store: boolean }): Promise<Acceptance>;
  /**
   * After our own write of a person's answer into a settings file of the project: accepts what was
   * written, so that the answer does not cost the folder its trust.
   */
  rebind(written: OwnWrite): Promise<Binding>;
  /**
   * The first of the files that a project's command hook stands for (its script, `.claude/hooks`)
   * that is not as it was when the hook was accepted; undefined when all are.
   */
  changedScript(hook: HookPlace): Promise<string | undefined>;
  /** Each declaration with place and text, safe on a terminal. */
  show(seen: TrustCheck): Promise<readonly string[]>;
}

export interface CheckHow {
  /**
   * The check at the start of a session. A declaration that cannot be pinned counts as accepted here
   * and at no later check.
   */
  readonly atStart?: boolean;
  /** A skill, command or agent that is used now: this text is judged in place of what its file holds. */
  readonly used?: UsedDocument | undefined;
}

/** A command hook of a project: where it stands, and all words of what it runs. */
export interface HookPlace {
  /** Absolute. */
  readonly file: string;
  readonly commands: readonly string[];
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
  /** A server that was written into `.mcp.json`. */
  readonly server?: string;
}

/** `waits`: in force only when the rest of what the folder declares is accepted as well. */
export type Binding = 'bound' | 'waits' | 'this process only';

export function openProjectTrust(places: TrustPlaces): ProjectTrust {
  const accepted = new AcceptedDigests({ pinned: true });
  const acceptedAtStart = new AcceptedDigests({ pinned: false });
  let scripts: SeenScripts | undefined;

  async function look(how: CheckHow & { readonly part?: TrustPart }): Promise<SeenDeclarations> {
    const { used, part } = how;
    const levels = places.levels?.look() ?? lookAtLevels(places.cwd);
    const top = levels.at(-1)?.path ?? places.cwd;
    const root = await places.fs.realPath(top);
    const looked = levels.filter(({ hasDirectory, hasServers }) => hasDirectory || hasServers);
    // In most projects none has anything, and nothing more is read, loaded or hashed.
    if (looked.length === 0) return { isBare: true, root, declarations: [] };
    if (part === 'settings' && !looked.some((level) => maySet(places.fs, level)))
      return { root, declarations: [] };
    const [{ collectDeclarations }, { openLook }] = await Promise.all([
      import('./collect.js'),
      import('./look.js'),
    ]);
    const sources = places.sources ?? ['project', 'local'];
    const look = openLook(places.fs, used);
    const found = await collectDeclarations({
      ...places,
      root,
      levels: looked,
      sources,
      look,
      part,
    });
    if (found.length === 0) return { root, declarations: [] };
    return { root, scripts: look.scripts.seen, declarations: found };
  }

  async function check(how: CheckHow = {}): Promise<TrustCheck> {
    const seen = await look(how);
    const { root, declarations } = seen;
    if (declarations.length === 0) return { ...seen, verdict: 'nothing', pending: [] };
    const record = await (await storeOf(places)).read(root);
    const isAccepted = (one: Declaration): boolean =>
      // fail-closed: a digest that is the same whatever the content tells no change.
      one.pinned ? accepted.has(one) : how.atStart === true && acceptedAtStart.has(one);
    const judged = judge({ root, declarations, record, isAccepted });
    if (judged.verdict === 'trusted') scripts = seen.scripts;
    return { ...seen, ...judged };
  }

  return {
    check,
    lookAt: (part) => look({ atStart: true, part }),
    async changedScript(hook) {
      const place = await placeOfHook(places, hook.file);
      // fail-closed: of a hook that nobody accepted, or that stands nowhere, no script is known.
      if (scripts === undefined || place === undefined) return hook.file;
      const { changedScript } = await import('./scripts.js');
      return await changedScript(hook.commands, place, { fs: places.fs, accepted: scripts });
    },
    async accept(seen, { store }) {
      accepted.add(seen);
      acceptedAtStart.add(seen);
      scripts = joined(scripts, seen.scripts);
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
      accepted.add({ declarations: ours });
      const kept = await storeOf(places);
      if ((await kept.refusal(root)) !== undefined) return 'this process only';
      await addTo(kept, root, ours);
      const stored = await kept.read(root);
      const left = judge({ root, declarations, record: stored, isAccepted: () => false });
      return left.verdict === 'trusted' ? 'bound' : 'waits';
    },
    show: async (seen) => (await import('./messages.js')).declarationLines(seen),
  };
}

/** Whether a level may have settings or servers; whoever accepts those of a folder without any accepts none. */
function maySet(_fs: FileSystem, { path, hasDirectory, hasServers }: ProjectLevel): boolean {
  if (hasServers) return true;
  if (!hasDirectory) return false;
  const directory = join(path, '.claude');
  return SETTINGS_FILES.some((name) => mayBeThere(join(directory, name)));
}

const SETTINGS_FILES: readonly string[] = ['settings.json', 'settings.local.json'];

/** What parts of a folder were accepted with, one after the other. */
function joined(
  before: SeenScripts | undefined,
  now: SeenScripts | undefined,
): SeenScripts | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  return {
    files: new Map([...before.files, ...now.files]),
    large: new Map([...before.large, ...now.large]),
  };
}

/** Digests accepted in this process: of declarations that can be pinned, or of the rest. */
class AcceptedDigests {
  readonly #digests = new Set<string>();
  readonly #pinned: boolean;

  constructor({ pinned }: Pick<Declaration, 'pinned'>) {
    this.#pinned = pinned;
  }

  add({ declarations }: Pick<SeenDeclarations, 'declarations'>): void {
    for (const one of declarations) if (one.pinned === this.#pinned) this.#digests.add(one.digest);
  }

  has({ digest }: Pick<Declaration, 'digest'>): boolean {
    return this.#digests.has(digest);
  }
}

/** Where the hook of a file stands, as it was looked at; undefined when that is in no `.claude`. */
async function placeOfHook(
  places: TrustPlaces,
  file: string,
): Promise<
  { readonly root: string; readonly level: string; readonly directory: string } | undefined
> {
  let claude = dirname(file);
  while (basename(claude) !== '.claude') {
    if (dirname(claude) === claude) return undefined;
    claude = dirname(claude);
  }
  const root = await places.fs.realPath(projectLevels(places.cwd).at(-1) ?? places.cwd);
  const level = await places.fs.realPath(dirname(claude));
  const directory = join(level, '.claude', relative(claude, dirname(file)));
  return { root, level, directory };
}

async function storeOf(places: TrustPlaces): Promise<TrustStore> {
  const { openTrustStore } = await import('./store.js');
  return openTrustStore(places);
}

function judge(state: {
  root: string;
  declarations: readonly Declaration[];
  record: TrustRecord | undefined;
  isAccepted(declaration: Declaration): boolean;
}): TrustCheck {
  const { root, declarations, record } = state;
  const stored = record?.declarations ?? [];
  const digests = new Set(stored.map((one) => one.digest));
  const isStored = (one: Declaration): boolean =>
    digests.size > 0 && one.pinned && digests.has(one.digest);
  // Where nothing is stored nothing is compared, and no digest is made.
  const current = new Set(stored.length === 0 ? [] : declarations.map((one) => one.digest));
  const gone = stored.filter((one) => !current.has(one.digest));
  const pending = declarations
    .filter((one) => !state.isAccepted(one) && !isStored(one))
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
  const levels = projectLevels(places.cwd);
  const real = await Promise.all(levels.map((level) => places.fs.realPath(level)));
  return real.map((level) => toPosix(relative(root, level)));
}

function isOurs(declaration: Declaration, written: OwnWrite): boolean {
  if (declaration.kind === 'MCP server') return declaration.name === written.server;
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
