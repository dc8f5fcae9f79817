import type { FileSystem } from '../../platform/fs/fs.js';
import { basename, dirname, join, relative, toPosix } from '../../platform/fs/paths.js';
import { lookAtLevels, projectLevels } from '../../platform/fs/project-levels.js';
import { collectDeclarations } from './collect.js';
import { trustNotice } from './messages.js';
import { changedScript, type PinPlace, type SeenScripts } from './scripts.js';
import { openTrustStore, type TrustedDeclaration, type TrustRecord } from './store.js';
import type { Declaration, PendingDeclaration, TrustCheck, UsedDocument } from './types.js';

export interface TrustPlaces {
  readonly fs: FileSystem;
  readonly cwd: string;
  /** The user's configuration directory. */
  readonly configDir: string;
  /** Where this program keeps its own state. */
  readonly stateDirectory: string;
  /** Which optional settings sources count; default: all. */
  readonly sources?: readonly string[];
  now(): number;
}

/** What of a project may grant and execute: what a person accepted, as long as it stays the same. */
export interface ProjectTrust {
  /** Compares the files as they are now with what was accepted. */
  check(options?: CheckOptions): Promise<TrustCheck>;
  /** Accepts what `seen` shows, and nothing that came later. Not stored: holds for this process. */
  accept(seen: TrustCheck, options: { store: boolean }): Promise<Acceptance>;
  /**
   * Accepts what this program itself wrote into a settings file of the project as a person's answer,
   * so that the answer does not cost the folder its trust.
   */
  rebind(written: OwnWrite): Promise<Binding>;
  /**
   * The first of the files that a project's command hook stands for (its script, `.claude/hooks`)
   * that changed since the hook was accepted; undefined when none did.
   */
  changedScript(hook: HookPlace): Promise<string | undefined>;
}

export interface CheckOptions {
  /**
   * The check at the start of a session. A declaration that cannot be pinned counts as accepted here
   * and at no later check.
   */
  readonly atStart?: boolean;
  /** A skill, command or agent that is used now: this text is judged in place of its file's. */
  readonly used?: UsedDocument;
}

/** A command hook of a project: where it is declared, and all words of what it runs. */
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
  const { fs } = places;
  const store = openTrustStore(places);
  /** Digests accepted in this process, by whether the declaration is pinned. */
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
      // fail-closed: an unpinned digest does not tell whether the content changed.
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
      // fail-closed: the scripts of a hook that was never accepted are unknown.
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

/** The level whose `.claude` a hook's file is in; undefined when it is in none. */
async function placeOfHook(places: TrustPlaces, file: string): Promise<PinPlace | undefined> {
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
  // One unaccepted declaration holds back all: they may only make sense, or harm, together.
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
  /** Trust that a host has already asked a person about. */
  readonly asked?: ProjectTrust;
  /** `--trust`, or the same from an SDK. */
  readonly given: boolean;
  /** Of the process; variables from settings files are never in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  warn(text: string): void;
}

export interface StartedTrust {
  readonly trust: ProjectTrust;
  /**
   * Whether the project's files may grant and execute, as they are now: all of them are read. A
   * document that is used is judged by the text in which it is used.
   */
  inForce(used?: UsedDocument): Promise<boolean>;
  /** True if the folder is trusted, or if `--trust` was given and nothing in it needed trust. */
  covers(used?: UsedDocument): Promise<boolean>;
  /** As `covers`, also for a folder that configures nothing. */
  accepted(): Promise<boolean>;
}

/**
 * Decides for one session whether its folder is trusted, and reports once what is held back. Trust
 * for one run covers the files as they are at the start: later changes need a new answer.
 */
export async function startTrust(start: TrustStart): Promise<StartedTrust & { now: boolean }> {
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
    inForce: async (used) => isTrusted(await check(used), false),
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
