import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname, join, relative, toPosix } from '../../platform/fs/paths.js';
import {
  claudeDirectoryOf,
  lookAtLevels,
  projectLevels,
} from '../../platform/fs/project-levels.js';
import { collectDeclarations } from './collect.js';
import { trustNotice } from './messages.js';
import { changedScript, type PinPlace, type SeenScripts } from './scripts.js';
import { openTrustStore, type TrustedDeclaration, type TrustRecord } from './store.js';
import type { Declaration, PendingDeclaration, TrustCheck, UsedDocument } from './types.js';

interface TrustPlaces {
  readonly fs: FileSystem;
  readonly cwd: string;
  readonly configDir: string;
  readonly stateDirectory: string;
  /** The enabled optional sources; all by default. */
  readonly sources?: readonly string[];
  now(): number;
}

/** Decides what a project may grant and execute: what a person accepted, while it is unchanged. */
export interface ProjectTrust {
  /** Compares the present files with what was accepted. */
  check(options?: CheckOptions): Promise<TrustCheck>;
  /** Accepts exactly what `seen` shows; without `store` only for this process. */
  accept(seen: TrustCheck, options: { store: boolean }): Promise<Acceptance>;
  /**
   * Accepts what this program itself wrote into project settings as a person's answer, so that the write does
   * not end the folder's trust.
   */
  rebind(written: OwnWrite): Promise<Binding>;
  /**
   * The first file behind a command hook (its script, `.claude/hooks`) that changed since acceptance;
   * undefined when none did.
   */
  changedScript(hook: HookPlace): Promise<string | undefined>;
}

interface CheckOptions {
  /** The check at session start, which alone counts acceptances of unpinnable declarations. */
  readonly atStart?: boolean;
  /** A document in use: its text is judged instead of the file's content. */
  readonly used?: UsedDocument;
}

/** A project's command hook: its file and the words of its command. */
interface HookPlace {
  readonly file: string;
  readonly commands: readonly string[];
}

/** `refusal`: why a requested acceptance was not stored. */
interface Acceptance {
  readonly stored: boolean;
  readonly refusal?: string;
}

interface OwnWrite {
  readonly file: string;
  /** Rules added to `permissions.allow`. */
  readonly allow?: readonly string[];
  /** Directories added to `permissions.additionalDirectories`. */
  readonly directories?: readonly string[];
  /** A server added to `.mcp.json`. */
  readonly server?: string;
}

/** `waits`: not in force until the folder's other declarations are accepted too. */
type Binding = 'bound' | 'waits' | 'this process only';

export function openProjectTrust(places: TrustPlaces): ProjectTrust {
  const { fs } = places;
  const store = openTrustStore(places);
  /** Digests accepted in this process, pinned and unpinned. */
  const accepted = { pinned: new Set<string>(), atStart: new Set<string>() };
  let scripts: SeenScripts | undefined;

  function remember(declarations: readonly Declaration[]): void {
    for (const { digest, pinned } of declarations) {
      (pinned ? accepted.pinned : accepted.atStart).add(digest);
    }
  }

  async function check({ atStart, used }: CheckOptions = {}): Promise<TrustCheck> {
    const all = lookAtLevels(places.cwd);
    const root = await fs.realPath(all.at(-1)?.path ?? places.cwd);
    const levels = all.filter(({ hasDirectory, hasServers }) => hasDirectory || hasServers);
    const { configDir, sources = ['project', 'local'] } = places;
    const found = await collectDeclarations({ fs, root, levels, configDir, sources, used });
    const isAccepted = ({ pinned, digest }: Declaration): boolean =>
      // fail-closed: an unpinned digest does not show whether the content changed.
      pinned ? accepted.pinned.has(digest) : atStart === true && accepted.atStart.has(digest);
    const record = await store.read(root);
    const judged = judge({ root, declarations: found.declarations, record, isAccepted });
    if (judged.verdict === 'trusted') scripts = found.scripts;
    return { ...found, ...judged, root, isEmptyProject: levels.length === 0 };
  }
  return {
    check,
    async changedScript(hook) {
      const place = await placeOfHook(places, hook.file);
      // fail-closed: the scripts of a never accepted hook are unknown.
      if (scripts === undefined || place === undefined) return hook.file;
      return await changedScript(hook.commands, place, { fs, accepted: scripts });
    },
    async accept(seen, options) {
      remember(seen.declarations);
      scripts = seen.scripts;
      if (!options.store) return { stored: false };
      const unpinned = seen.declarations.find((declaration) => !declaration.pinned);
      const refusal =
        unpinned === undefined
          ? await store.refusal(seen.root)
          : `the content of ${unpinned.file} cannot be taken in whole`;
      if (refusal !== undefined) return { stored: false, refusal };
      const old = await store.read(seen.root);
      const levels = await levelNames(places, seen.root);
      const others = (old?.declarations ?? []).filter(({ level }) => !levels.includes(level));
      const acceptedAt = new Date(places.now()).toISOString();
      const all = [...others, ...seen.declarations.map((one) => entryOf(one, seen.root))];
      await store.write({ root: seen.root, acceptedAt, declarations: all });
      return { stored: true };
    },
    async rebind(written) {
      const { root, declarations } = await check();
      const file = await fs.realPath(written.file);
      const ours: Declaration[] = [];
      for (const one of declarations) {
        if (isOurs(one, written) && (await fs.realPath(one.file)) === file) ours.push(one);
      }
      remember(ours.filter(({ pinned }) => pinned));
      if ((await store.refusal(root)) !== undefined) return 'this process only';
      const old = (await store.read(root)) ?? { root, declarations: [] };
      const known = new Set(old.declarations.map(({ digest }) => digest));
      const fresh = ours
        .filter(({ digest }) => !known.has(digest))
        .map((one) => entryOf(one, root));
      const record = { ...old, declarations: [...old.declarations, ...fresh] };
      if (fresh.length > 0) await store.write(record);
      const left = judge({ root, declarations, record, isAccepted: () => false });
      return left.verdict === 'trusted' ? 'bound' : 'waits';
    },
  };
}

/** The `.claude` level of a hook's file; undefined outside of any. */
async function placeOfHook(places: TrustPlaces, file: string): Promise<PinPlace | undefined> {
  const claude = claudeDirectoryOf(file);
  if (claude === undefined) return undefined;
  const root = await places.fs.realPath(projectLevels(places.cwd).at(-1) ?? places.cwd);
  const level = await places.fs.realPath(dirname(claude));
  const directory = join(level, '.claude', relative(claude, dirname(file)));
  return { root, level, directory };
}

function judge(state: {
  root: string;
  declarations: readonly Declaration[];
  record: TrustRecord | undefined;
  isAccepted(declaration: Declaration): boolean;
}): Pick<TrustCheck, 'verdict' | 'pending'> {
  const { root, declarations, record } = state;
  if (declarations.length === 0) return { verdict: 'nothing', pending: [] };
  const stored = record?.declarations ?? [];
  const digests = new Set(stored.map((one) => one.digest));
  const isStored = (one: Declaration): boolean => one.pinned && digests.has(one.digest);
  const current = new Set(declarations.map((one) => one.digest));
  const gone = stored.filter((one) => !current.has(one.digest));
  const pending = declarations
    .filter((one) => !state.isAccepted(one) && !isStored(one))
    .map((declaration): PendingDeclaration => {
      const { file, kind, name } = entryOf(declaration, root);
      const known = gone.some((o) => o.file === file && o.kind === kind && o.name === name);
      return { declaration, was: known ? 'changed' : 'new' };
    });
  // One unaccepted declaration blocks all, because they may depend on each other.
  const verdict =
    pending.length === 0 ? 'trusted' : record?.acceptedAt === undefined ? 'never' : 'changed';
  return { verdict, pending };
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

function isOurs({ kind, name, text }: Declaration, written: OwnWrite): boolean {
  if (kind === 'MCP server') return name === written.server;
  if (name === 'permissions.allow') return written.allow?.includes(text) === true;
  return (
    name === 'permissions.additionalDirectories' && written.directories?.includes(text) === true
  );
}

export interface TrustStart extends TrustPlaces {
  /** Trust that the host has already established. */
  readonly asked?: ProjectTrust;
  /** `--trust` or its SDK equivalent. */
  readonly given: boolean;
  /** The process environment, without variables from settings files. */
  readonly env: Readonly<Record<string, string | undefined>>;
  warn(text: string): void;
}

export interface StartedTrust {
  readonly trust: ProjectTrust;
  /** Whether the project was trusted at the start. */
  readonly now: boolean;
  /** Whether the project's present files may grant and execute. */
  inForce(): Promise<boolean>;
  /**
   * Whether the folder is trusted, or `--trust` was given and nothing needed it. A document in use is judged by
   * its text.
   */
  covers(used?: UsedDocument): Promise<boolean>;
  /** Like `covers`, also for a folder without configuration. */
  accepted(): Promise<boolean>;
}

/**
 * Determines a session's trust and reports untrusted content once. Trust for one run covers the files as of
 * the start.
 */
export async function startTrust(start: TrustStart): Promise<StartedTrust> {
  const once = start.env.PORTCULLIS_TRUST;
  if (once !== undefined && once !== '' && once !== 'once') {
    // fail-closed: no other value means yes.
    start.warn(`PORTCULLIS_TRUST is ${JSON.stringify(once)}; only "once" is understood`);
  }
  const trust = start.asked ?? openProjectTrust(start);
  const isGiven = start.given || once === 'once';
  const first = await trust.check({ atStart: true });
  if (isGiven) await trust.accept(first, { store: false });
  else warnAbout(first, start.warn);
  let verdict = isGiven && first.verdict !== 'nothing' ? 'trusted' : first.verdict;
  const check = async (used?: UsedDocument): Promise<TrustCheck> => {
    const now = await trust.check({ used });
    if (now.verdict !== verdict) warnAbout(now, start.warn);
    verdict = now.verdict;
    return now;
  };
  const isTrusted = (now: TrustCheck, coversNothing: boolean): boolean =>
    now.verdict === 'trusted' || (coversNothing && isGiven && now.verdict === 'nothing');
  return {
    trust,
    now: verdict === 'trusted',
    inForce: async () => isTrusted(await check(), false),
    accepted: async () => isTrusted(await check(), true),
    async covers(used) {
      const now = await check(used);
      return isTrusted(now, !first.isEmptyProject && !now.isEmptyProject);
    },
  };
}

function warnAbout(check: TrustCheck, warn: (text: string) => void): void {
  const notice = trustNotice(check);
  if (notice !== undefined) warn(notice);
}
