import { nodeFileSystem } from '../../env/node-fs.js';
import { resolve, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import type { ProjectTrust, TrustCheck } from '../../harness.js';
import { digest } from '../../settings/trust-digest.js';
import { openTrustStore, type TrustStore } from '../../settings/trust-store.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { confirmAtTerminal, hasTerminal } from '../terminal-input.js';
import { projectTrust, whatIsAsked } from '../trust-question.js';
import { refuseAgent } from './person-only.js';

export const USAGE = 'portcullis trust [folder] [--list] [--revoke] [--yes] [--json]';

interface Wishes {
  readonly folder: string;
  readonly action: 'accept' | 'list' | 'revoke';
  readonly yes: boolean;
  readonly json: boolean;
}

/** Shows what a folder would run or be allowed, and keeps the answer. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const wishes = wishesFrom(argv);
  const store = openTrustStore({
    fs: nodeFileSystem,
    stateDirectory: stateDirectory(process.env),
  });
  if (wishes.action === 'list') return await list(wishes, store, output);
  const stat = await nodeFileSystem.stat(wishes.folder);
  if (stat?.kind !== 'directory' && wishes.action === 'accept') {
    throw new PortcullisError('usage', `${visible(wishes.folder)} is not a folder`, {
      remedy: 'name a folder that exists: portcullis trust <folder>',
    });
  }
  const trust = projectTrust({ cwd: wishes.folder, env: process.env });
  const seen = await trust.check();
  if (wishes.action === 'revoke') return await revoke(wishes, { store, root: seen.root, output });
  return await accept(wishes, { trust, seen, output });
}

async function accept(
  wishes: Wishes,
  { trust, seen, output }: { trust: ProjectTrust; seen: TrustCheck; output: Output },
): Promise<number> {
  const say = (text: string): void => {
    if (!wishes.json) output.out(text);
  };
  if (seen.verdict === 'nothing') {
    say(`Nothing in ${visible(seen.root)} needs trust.\n`);
    return report(wishes, seen, output);
  }
  if (seen.verdict === 'trusted') {
    say(`${visible(seen.root)} is trusted:\n${(await trust.show(seen)).join('\n')}\n`);
    return report(wishes, seen, output);
  }
  say(await whatIsAsked(trust, seen));
  if (!wishes.yes && (wishes.json || !hasTerminal())) {
    report(wishes, seen, output);
    throw new PortcullisError('config', 'not trusted: there is no terminal to ask on', {
      remedy: 'read the list above, then accept it with: portcullis trust --yes',
    });
  }
  refuseAgent('trust');
  if (!wishes.yes && !(await confirmAtTerminal('Trust this folder?', output.out))) {
    say('Not trusted.\n');
    return EXIT.error;
  }
  const { stored, refusal } = await trust.accept(seen, { store: true });
  if (!stored) {
    throw new PortcullisError(
      'config',
      `trust in ${visible(seen.root)} cannot be kept: ${refusal}`,
      {
        remedy: 'start with --trust to accept it for one run',
      },
    );
  }
  say(`Trusted: ${visible(seen.root)}, until one of these changes.\n`);
  return report(wishes, { ...seen, verdict: 'trusted', pending: [] }, output);
}

/** For machines: the state after the command. Texts as they stand in the files. */
function report(wishes: Wishes, seen: TrustCheck, output: Output): number {
  if (wishes.json) {
    const pending = new Map(seen.pending.map(({ declaration, was }) => [declaration, was]));
    const declarations = seen.declarations.map((one) => {
      const { kind, name, text, file, level, line, pinned, digest } = one;
      return { kind, name, text, file, level, line, pinned, digest, pending: pending.get(one) };
    });
    const { root, verdict } = seen;
    const all = { root, verdict, digest: digest(seen.declarations), declarations };
    output.out(`${JSON.stringify(all, null, 2)}\n`);
  }
  return EXIT.done;
}

async function list(wishes: Wishes, store: TrustStore, output: Output): Promise<number> {
  const records = await store.list();
  if (wishes.json) output.out(`${JSON.stringify(records, null, 2)}\n`);
  else if (records.length === 0) output.out('No folder is trusted.\n');
  for (const { root, acceptedAt, declarations } of wishes.json ? [] : records) {
    const since = acceptedAt === undefined ? 'answers only' : acceptedAt.slice(0, 10);
    output.out(`${visible(root)}  ${since}  ${declarations.length} declarations\n`);
  }
  return EXIT.done;
}

async function revoke(
  wishes: Wishes,
  { store, root, output }: { store: TrustStore; root: string; output: Output },
): Promise<number> {
  const was = await store.remove(root);
  if (wishes.json) output.out(`${JSON.stringify({ root, revoked: was })}\n`);
  else
    output.out(
      was ? `No longer trusted: ${visible(root)}\n` : `${visible(root)} was not trusted.\n`,
    );
  return EXIT.done;
}

const ACTIONS: Readonly<Record<string, Partial<Wishes>>> = {
  '--list': { action: 'list' },
  '--revoke': { action: 'revoke' },
  '--yes': { yes: true },
  '-y': { yes: true },
  '--json': { json: true },
};

function wishesFrom(argv: readonly string[]): Wishes {
  let wishes: Wishes = { folder: process.cwd(), action: 'accept', yes: false, json: false };
  let named = false;
  for (const word of argv) {
    if (Object.hasOwn(ACTIONS, word)) wishes = { ...wishes, ...ACTIONS[word] };
    else if (word.startsWith('-') || named) {
      throw new PortcullisError('usage', `portcullis trust: "${visible(word)}" is not understood`, {
        remedy: `usage: ${USAGE}`,
      });
    } else {
      named = true;
      wishes = { ...wishes, folder: resolve(word) };
    }
  }
  return wishes;
}
