import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PortcullisError } from '../../errors.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import { sha256 } from '../../platform/hash.js';
import type { FleetSession, Snapshot } from '../types.js';

export interface WorkspaceSettings {
  /** Directory of this machine for clones and workspaces. The same path on every machine. */
  readonly root: string;
  /** Address of the repository that keeps snapshots; absent: one below the root, for one machine. */
  readonly snapshots?: string | undefined;
  /** Runs in a new workspace before the first turn on this machine. */
  readonly setup?: string | undefined;
  /** Whether snapshots hold files that git ignores. Files that look like secrets never are in one. */
  readonly ignored: 'skip' | 'keep';
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Workspace {
  readonly directory: string;
  /** The files are those of the snapshot, or of the base where there is none. */
  readonly restored: boolean;
}

/** Never in a snapshot, whatever the policy for ignored files says. */
const SECRETS = [
  '.env',
  '.env.*',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  'id_rsa*',
  'id_ed25519*',
  '.npmrc',
  '.netrc',
  '.git-credentials',
  '.aws',
  '.ssh',
];
const GIT_MS = 300_000;
const LOCK = { waitMs: GIT_MS };
const NO_PROGRAMS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** Working trees of sessions: made from a clone, saved as snapshots, restored on another machine. */
export class Workspaces {
  readonly #settings: WorkspaceSettings;

  constructor(settings: WorkspaceSettings) {
    this.#settings = settings;
  }

  /** Makes the workspace of a session: as its drive before left it here, or from its snapshot or base. */
  async open(session: FleetSession): Promise<Workspace> {
    const { id } = session.order;
    // A worker that lost the session while it was slow must not replace the files of the one that has it.
    if (!this.#isOwner(session)) {
      throw new PortcullisError('session', 'another worker has taken the session over');
    }
    stateFiles.write(this.#owner(id), String(session.epoch));
    const directory = join(this.#place(id), 'work');
    const kept = stateFiles.read(this.#marker(id));
    // Without the marker the files may be in any state: the snapshot is restored.
    stateFiles.remove(this.#marker(id));
    if (
      kept !== undefined &&
      kept === markOf({ ...session, epoch: session.epoch - 1 }) &&
      existsSync(directory)
    ) {
      return { directory, restored: false };
    }
    this.#setAside(directory);
    mkdirSync(this.#place(id), { recursive: true, mode: 0o700 });
    const clone = await this.#clone(session);
    await this.#locked(clone, async () => {
      await this.#git(['worktree', 'prune'], clone);
      const { snapshot } = session;
      if (snapshot !== undefined) {
        const ref = refOf(id, snapshot);
        await this.#git(['fetch', '--quiet', '--no-tags', this.#store, ref], clone);
      }
      const commit = snapshot?.head ?? (await this.#base(session, clone));
      await this.#git(['worktree', 'add', '--detach', '--force', directory, commit], clone);
      if (snapshot === undefined) return;
      // The files of the snapshot, over the commit that the session had checked out.
      await this.#git(['read-tree', '--reset', '-u', snapshot.commit], directory);
      await this.#git(['reset', '--quiet'], directory);
    });
    await this.#setup(session, directory);
    return { directory, restored: true };
  }

  /**
   * Saves the files as a commit. Undefined: they are those of the last snapshot. `outdated`: a snapshot that no worker restores any
   * more; the newer ones have it as an ancestor.
   */
  async snapshot(
    session: FleetSession,
    turn: number,
    outdated?: Snapshot,
  ): Promise<Snapshot | undefined> {
    const { id } = session.order;
    const directory = join(this.#place(id), 'work');
    const index = { GIT_INDEX_FILE: join(this.#place(id), 'index') };
    const force = this.#settings.ignored === 'keep' ? ['--force'] : [];
    const without = SECRETS.map((pattern) => `:(exclude,glob)**/${pattern}`);
    await this.#git(['add', '--all', ...force, '--', '.', ...without], directory, index);
    const tree = (await this.#git(['write-tree'], directory, index)).trim();
    if (tree === session.snapshot?.tree) return undefined;
    const head = (await this.#git(['rev-parse', 'HEAD'], directory)).trim();
    // The checked-out commit is a parent, so that commits of the session are saved with it.
    const parents = new Set([session.snapshot?.commit ?? head, head]);
    const from = [...parents].flatMap((parent) => ['-p', parent]);
    const message = `Session ${id}, turn ${turn}`;
    const made = await this.#git(['commit-tree', tree, ...from, '-m', message], directory, AUTHOR);
    const commit = made.trim();
    await this.#snapshotStore();
    const refs = [`${commit}:${refOf(id, { turn, commit })}`];
    if (outdated !== undefined) refs.push(`:${refOf(id, outdated)}`);
    await this.#git(['push', '--quiet', '--no-verify', this.#store, ...refs], directory);
    return { turn, commit, tree, head };
  }

  /** The drive ended in order: the next one here may go on with the files as they are. */
  keep(session: FleetSession): void {
    stateFiles.write(this.#marker(session.order.id), markOf(session));
  }

  /** Frees the disk: the snapshot has the files. */
  async remove(session: FleetSession): Promise<void> {
    const { id } = session.order;
    if (!this.#isOwner(session)) return;
    stateFiles.remove(this.#marker(id));
    rmSync(this.#place(id), { recursive: true, force: true });
  }

  async #base({ order }: FleetSession, clone: string): Promise<string> {
    const head = order.base ?? (await this.#git(['symbolic-ref', '--short', 'HEAD'], clone)).trim();
    for (const name of [`refs/remotes/origin/${head}`, head]) {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
      const found = await this.#git(args, clone).catch(() => '');
      if (found !== '') return found.trim();
    }
    throw new PortcullisError('config', `${order.repository ?? 'the repository'} has no ${head}`, {
      remedy: 'submit the session with --base and a branch, tag or commit that exists',
    });
  }

  /** A clone of the repository without file contents, shared by all sessions of this machine. */
  async #clone({ order }: FleetSession): Promise<string> {
    const { repository } = order;
    const clone = join(this.#settings.root, 'clones', sha256(repository ?? '').slice(0, 16));
    await this.#locked(clone, async () => {
      if (!existsSync(join(clone, 'HEAD'))) await this.#makeClone(clone, repository);
      else if (repository !== undefined) {
        await this.#git(
          ['fetch', '--quiet', '--prune', 'origin', '+refs/heads/*:refs/remotes/origin/*'],
          clone,
        );
      }
    });
    return clone;
  }

  async #makeClone(clone: string, repository: string | undefined): Promise<void> {
    const draft = `${clone}.new-${process.pid}`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(join(this.#settings.root, 'clones'), { recursive: true, mode: 0o700 });
    if (repository === undefined) {
      await this.#git(['init', '--quiet', '--bare', draft], this.#settings.root);
      const tree = (await this.#git(['mktree'], draft)).trim();
      const commit = await this.#git(['commit-tree', tree, '-m', 'Empty workspace'], draft, AUTHOR);
      await this.#git(['update-ref', 'HEAD', commit.trim()], draft);
    } else {
      if (repository.startsWith('-'))
        throw new PortcullisError('usage', `"${repository}" is no repository`);
      await this.#git(
        ['clone', '--quiet', '--bare', '--filter=blob:none', '--', repository, draft],
        this.#settings.root,
      );
      await this.#git(['fetch', '--quiet', 'origin', '+refs/heads/*:refs/remotes/origin/*'], draft);
    }
    renameSync(draft, clone);
  }

  async #snapshotStore(): Promise<void> {
    if (this.#settings.snapshots !== undefined || existsSync(join(this.#store, 'HEAD'))) return;
    await this.#locked(this.#store, async () => {
      if (existsSync(join(this.#store, 'HEAD'))) return;
      // Renamed when complete: git writes HEAD first, and other workers push without the lock.
      const draft = `${this.#store}.new-${process.pid}`;
      rmSync(draft, { recursive: true, force: true });
      await this.#git(['init', '--quiet', '--bare', draft], this.#settings.root);
      renameSync(draft, this.#store);
    });
  }

  async #setup(session: FleetSession, directory: string): Promise<void> {
    const { setup } = this.#settings;
    if (setup === undefined) return;
    await run(setup, [], {
      cwd: directory,
      env: { ...this.#settings.env, PORTCULLIS_SESSION: session.order.id },
    });
  }

  /** A process that was taken for dead may still write there: it keeps its directory, under another name. */
  #setAside(directory: string): void {
    if (!existsSync(directory)) return;
    const aside = `${directory}.lost-${Date.now()}`;
    renameSync(directory, aside);
    rmSync(aside, { recursive: true, force: true });
  }

  get #store(): string {
    return this.#settings.snapshots ?? join(this.#settings.root, 'snapshots.git');
  }

  #isOwner({ order, epoch }: FleetSession): boolean {
    return Number(stateFiles.read(this.#owner(order.id)) ?? 0) <= epoch;
  }

  /** The epoch of the drive that has the files here. */
  #owner(id: string): string {
    return join(this.#settings.root, 'owners', id);
  }

  #place(id: string): string {
    return join(this.#settings.root, 'sessions', id);
  }

  #marker(id: string): string {
    return join(this.#settings.root, 'kept', id);
  }

  async #locked<T>(path: string, work: () => Promise<T>): Promise<T> {
    const done = await withFileLock(`${path}.lock`, LOCK, work);
    if (done === undefined) throw new PortcullisError('io', `${path} is in use by another worker`);
    return done.value;
  }

  async #git(
    args: readonly string[],
    cwd: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const env = { ...this.#settings.env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', ...more };
    return await run('git', ['--no-pager', ...NO_PROGRAMS, ...args], { cwd, env });
  }
}

const AUTHOR: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: 'Portcullis',
  GIT_AUTHOR_EMAIL: 'portcullis@localhost',
  GIT_COMMITTER_NAME: 'Portcullis',
  GIT_COMMITTER_EMAIL: 'portcullis@localhost',
};

/** A name of its own for each snapshot: a worker that lost its session cannot replace the files of the one that has it. */
export function refOf(
  session: string,
  { turn, commit }: Pick<Snapshot, 'turn' | 'commit'>,
): string {
  return `refs/portcullis/${session}/${turn}-${commit}`;
}

/** What the files of a workspace are, where the drive before ended in order. */
function markOf({ epoch, snapshot }: FleetSession): string {
  return `${epoch} ${snapshot?.commit ?? 'base'}`;
}

function run(
  program: string,
  args: readonly string[],
  {
    cwd,
    env,
  }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env, encoding: 'utf8' as const, timeout: GIT_MS, maxBuffer: 16 << 20 };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const said = stderr.trim().split('\n').at(-1) ?? '';
      const word = args.find((arg) => /^[a-z]/.test(arg) && !arg.includes('=')) ?? '';
      const message = said === '' ? error.message : said;
      reject(new PortcullisError('process', `${program} ${word} failed in ${cwd}: ${message}`));
    }).stdin?.end();
  });
}
