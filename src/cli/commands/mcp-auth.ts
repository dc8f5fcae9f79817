import { createInterface, type Interface } from 'node:readline';
import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { createProcessSupervisor } from '../../env/node-process.js';
import { stateDirectory } from '../../env/paths.js';
import { createWebFetch } from '../../env/web-fetch.js';
import { PortcullisError } from '../../errors.js';
import { createServerAuth } from '../../mcp/oauth.js';
import { browserAgent, pasteAgent } from '../../mcp/oauth-agents.js';
import { openBrowser } from '../../mcp/oauth-browser.js';
import type { RemoteDeclaration, ServerAuth, SignInAgent } from '../../mcp/oauth-types.js';
import type { ServerDeclaration } from '../../mcp/server.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { mcpHere, serverNamed } from './mcp-here.js';
import { refuseAgent } from './person-only.js';

export const USAGE = 'portcullis mcp auth <name> [--no-browser] [--json]';
/** A person may have to find a password first. */
const PATIENCE_MS = 10 * 60_000;

/** Signs in to a server. Tokens go to a file of the state directory and are never shown. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, {
    usage: USAGE,
    switches: ['no-browser', 'json'],
  });
  const [name] = words;
  if (name === undefined || words.length > 1)
    throw new PortcullisError('usage', 'mcp auth wants one name', { remedy: `usage: ${USAGE}` });
  refuseAgent('mcp auth');
  const json = switches.has('json');
  const declaration = remoteDeclaration(serverNamed(await mcpHere(), name));
  const auth = authFor(declaration);
  const tell = (text: string): void => {
    // Standard output holds nothing but the answer then.
    if (json) process.stderr.write(text);
    else output.out(text);
  };
  const done = await auth.signIn(
    agentFor(declaration, { noBrowser: switches.has('no-browser'), tell }),
    AbortSignal.timeout(PATIENCE_MS),
  );
  if (json) {
    const state = done.ok
      ? { status: 'signed-in' }
      : { status: 'failed', error: done.error.message };
    output.out(`${JSON.stringify({ name, ...state })}\n`);
  } else if (done.ok) output.out(`Signed in to "${visible(name)}".\n`);
  else output.warn(done.error.message);
  return done.ok ? EXIT.done : EXIT.error;
}

/** fail-closed: no sign-in for a server that could not be used afterwards. */
export function remoteDeclaration(
  declaration: ServerDeclaration,
  wanted: 'usable' | 'whatever its standing' = 'usable',
): RemoteDeclaration {
  const { name, entry, standing } = declaration;
  if ((wanted === 'usable' && standing.kind !== 'ready') || entry === undefined) {
    const reason = standing.kind === 'ready' ? 'it has no entry' : standing.reason;
    throw new PortcullisError('config', `"${visible(name)}" cannot be used: ${visible(reason)}`, {
      remedy: `portcullis mcp get ${visible(shellWord(name))} shows it`,
    });
  }
  if (entry.type === 'stdio' || entry.type === 'sdk' || entry.type === 'ws')
    throw new PortcullisError(
      'usage',
      `"${visible(name)}" is a ${entry.type} server, which has no sign-in`,
      {
        remedy: 'only http and sse servers are signed in to',
      },
    );
  if (Object.keys(entry.headers).some((header) => header.toLowerCase() === 'authorization'))
    throw new PortcullisError(
      'config',
      `"${visible(name)}" brings an Authorization header of its own, which is used instead`,
      { remedy: 'remove the header from the entry to sign in' },
    );
  return { name, entry };
}

export function authFor(declaration: RemoteDeclaration): ServerAuth {
  const { env } = process;
  return createServerAuth(declaration, {
    fs: nodeFileSystem,
    stateDirectory: stateDirectory(env),
    clock: systemClock,
    fetch: createWebFetch({ environment: env }),
  });
}

function agentFor(
  { name, entry }: RemoteDeclaration,
  { noBrowser, tell }: { readonly noBrowser: boolean; readonly tell: (text: string) => void },
): SignInAgent {
  const port = entry.oauth?.callbackPort ?? portFrom(process.env.MCP_OAUTH_CALLBACK_PORT);
  if (noBrowser) {
    return pasteAgent({
      port,
      ...lineReader(),
      tell: (url) =>
        tell(
          `Open this page in any browser to sign in to "${visible(name)}":\n\n${url}\n\n` +
            'It leads to an address on localhost that may not load. Paste that whole address here:\n',
        ),
      complain: (reason) => tell(`That did not work: ${reason}. Paste the whole address:\n`),
    });
  }
  const processes = createProcessSupervisor();
  return browserAgent({
    port,
    tell: (url) =>
      tell(`Sign in to "${visible(name)}" in your browser. If it does not open:\n\n${url}\n\n`),
    open: (url) =>
      openBrowser(url, {
        processes,
        env: process.env,
        cwd: process.cwd(),
        platform: hostFacts().os,
      }),
  });
}

function portFrom(text: string | undefined): number | undefined {
  const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : undefined;
}

/** One reader for all tries: a second one would lose what the first has taken in. */
function lineReader(): {
  nextLine(signal: AbortSignal): Promise<string | undefined>;
  finished(): void;
} {
  let source: Interface | undefined;
  let lines: AsyncIterator<string> | undefined;
  return {
    async nextLine(signal) {
      source ??= createInterface({ input: process.stdin, signal });
      lines ??= source[Symbol.asyncIterator]();
      const { value, done } = await lines.next();
      return done === true ? undefined : value;
    },
    finished: () => source?.close(),
  };
}
