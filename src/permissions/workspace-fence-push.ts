import { isAbsolute, join } from '../platform/fs/paths.js';
import type { PathJudge } from './paths.js';
import { type Fence, isWithin } from './workspace-fence-paths.js';

export interface PushPlace {
  readonly fence: Fence;
  readonly judge: Pick<PathJudge, 'spell' | 'disk'>;
}

/**
 * Why a `git push` may not run: it leads to this very repository, where it moves the branches that
 * others work on. `rest`: what stands behind `push`.
 */
export async function pushProblem(
  rest: readonly string[],
  place: PushPlace,
): Promise<string | undefined> {
  const given = rest.filter((_, at) => !WITH_VALUE.test(rest[at - 1] ?? ''));
  const operands = given.filter((value) => !value.startsWith('-'));
  const [first] = operands;
  const near = operands.find((value) => NEAR.test(value));
  if (near !== undefined) return leadsBack(near);
  const named = [...(first === undefined ? [] : [first]), ...repositoriesOf(rest)];
  const config = await configOf(place);
  if (named.length === 0) return unnamedProblem(config, place);
  for (const name of named) {
    if (isFarAway(name)) continue;
    // fail-closed: what is no remote is taken for a directory.
    if (/[/:]/.test(name) || NEAR.test(name)) return leadsBack(name);
    if (config === undefined) continue;
    const addresses = config.addresses.get(name) ?? [];
    if (addresses.length === 0) return leadsBack(name);
    for (const address of addresses) {
      if (await leadsHere(address, place)) return leadsBack(name);
    }
  }
  return undefined;
}

function leadsBack(name: string): string {
  return `\`git push ${name}\` may lead to a repository on this machine and move a branch that others work on; commit, and leave the branch to whoever takes the work over, or name a remote on another machine`;
}

const WITH_VALUE = /^(-o|--push-option|--receive-pack|--exec|--repo)$/;
const NEAR = /^(\.{1,2}(\/|$)|[/~]|file:|\.git$)/i;

/** `--repo` stands for the operand. */
function repositoriesOf(rest: readonly string[]): readonly string[] {
  return rest.flatMap((value, at) => {
    const [, attached] = /^--repo?=(.*)$/s.exec(value) ?? [];
    if (attached !== undefined) return [attached];
    return /^--repo?$/.test(value) ? [rest[at + 1] ?? ''] : [];
  });
}

/** Without a name it goes to whichever remote the branch has. */
async function unnamedProblem(
  config: Remotes | undefined,
  place: PushPlace,
): Promise<string | undefined> {
  for (const name of config?.chosen ?? []) {
    const addresses = config?.addresses.get(name) ?? [name];
    for (const address of addresses) {
      if (await leadsHere(address, place)) {
        return `\`git push\` may lead to "${name}", which is this repository: name another remote and the branch`;
      }
    }
  }
  return undefined;
}

const FAR =
  /^(?:(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/(?:[^/@]*@)?([^/:@[\]]+)(?::\d+)?(?:\/|$)|(?:[\w.+-]+@)?([\w.-]{2,}):(?!:)(?!\/\/))/i;

/** Whether an address surely is another machine's. */
export function isFarAway(address: string): boolean {
  const found = FAR.exec(address);
  const host = found?.[1] ?? found?.[2];
  return host !== undefined && !/^(localhost(\..*)?|127\..*|0|0\.0\.0\.0)$/i.test(host);
}

async function leadsHere(address: string, { fence, judge }: PushPlace): Promise<boolean> {
  if (isFarAway(address)) return false;
  const path = address.replace(/^file:\/\//i, '');
  // fail-closed: whatever else there is by which git finds a repository.
  if (!isAbsolute(path)) return true;
  const { real } = await judge.spell(path);
  return isWithin(real, [...fence.project, ...fence.writable]);
}

interface Remotes {
  readonly addresses: ReadonlyMap<string, readonly string[]>;
  /** What branches, and all of them together, are pushed to. */
  readonly chosen: readonly string[];
}

/** Undefined where the repository's configuration is not found in its place. */
async function configOf({ fence, judge }: PushPlace): Promise<Remotes | undefined> {
  for (const directory of fence.project) {
    const file = join(directory, '.git/config');
    // Without it only git knows the remotes, and those are not the agent's to make.
    const text = await judge.disk.readText(file).catch(() => undefined);
    if (text !== undefined) return remotesIn(text);
  }
  return undefined;
}

function remotesIn(text: string): Remotes {
  const addresses = new Map<string, string[]>();
  const chosen = new Set<string>();
  let section = '';
  let name = '';
  for (const line of text.split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      section = (header[1] ?? '').toLowerCase();
      name = (header[2] ?? '').replace(/\\(.)/g, '$1');
    }
    const setting = /^([\w-]+)\s*=(.*)$/.exec(line.slice(header?.[0].length ?? 0).trim());
    const key = `${section}.${setting?.[1]?.toLowerCase()}`;
    const value = (setting?.[2] ?? '').trim().replace(/"/g, '');
    if (/^remote\.(url|pushurl)$/.test(key)) {
      addresses.set(name, [...(addresses.get(name) ?? []), value]);
    }
    if (/^(branch\.(remote|pushremote)|remote\.pushdefault)$/.test(key)) chosen.add(value);
  }
  return {
    addresses,
    chosen: ['origin', ...chosen].filter((one) => one !== 'origin' || addresses.has(one)),
  };
}
