import { PortcullisError } from '../../errors.js';
import { shellWord } from '../../lib/text/shell-word.js';
import { visible } from '../../lib/text/visible.js';
import { ServerAuth } from '../../mcp/auth/server-auth.js';
import { browserAgent, openBrowser, pasteAgent } from '../../mcp/auth/sign-in-agents.js';
import type { RemoteDeclaration, SignInAgent } from '../../mcp/auth/types.js';
import { systemClock } from '../../platform/clock.js';
import { hostFacts } from '../../platform/host.js';
import { createFetch } from '../../platform/http/fetch.js';
import { createProcessSupervisor } from '../../platform/process/node-process.js';
import type { Project } from '../project.js';
import { serverNamed } from './mcp.js';

/** How a person who signs in is talked to. */
export interface SignInDialog {
  show(text: string): void;
  /** Where no browser is opened: reads the address that the person pastes. */
  readonly paste?: Pick<Parameters<typeof pasteAgent>[0], 'nextLine' | 'finished'> | undefined;
}

/** Sign-in and sign-out of a remote server. */
export interface ServerSignIn {
  signIn(dialog: SignInDialog, signal: AbortSignal): ReturnType<ServerAuth['signIn']>;
  readonly signOut: ServerAuth['signOut'];
}

/** Opens the sign-in of a server; `usable`: only if a session could use the server afterwards. */
export async function openSignIn(
  project: Project,
  name: string,
  wanted: 'usable' | 'any',
): Promise<ServerSignIn> {
  const declaration = remoteDeclaration(serverNamed(await project.mcp(), name), wanted);
  const { places } = project;
  const auth = new ServerAuth(declaration, {
    ...places,
    clock: systemClock,
    fetch: createFetch({ environment: places.env }),
  });
  return {
    signIn: (dialog, signal) => auth.signIn(signInAgent(project, declaration, dialog), signal),
    signOut: () => auth.signOut(),
  };
}

function remoteDeclaration(
  { name, entry, standing }: ReturnType<typeof serverNamed>,
  wanted: 'usable' | 'any',
): RemoteDeclaration {
  // fail-closed: no sign-in for a server that could not be used afterwards.
  if ((wanted === 'usable' && standing.kind !== 'ready') || entry === undefined) {
    const reason = standing.kind === 'ready' ? 'it has no entry' : standing.reason;
    throw new PortcullisError('config', `"${visible(name)}" cannot be used: ${visible(reason)}`, {
      remedy: `portcullis mcp get ${visible(shellWord(name))} shows it`,
    });
  }
  if (entry.type === 'stdio' || entry.type === 'sdk' || entry.type === 'ws') {
    const message = `"${visible(name)}" is a ${entry.type} server, which has no sign-in`;
    throw new PortcullisError('usage', message, { remedy: 'only http and sse servers have one' });
  }
  if (Object.keys(entry.headers).some((header) => header.toLowerCase() === 'authorization')) {
    const message = `"${visible(name)}" has an Authorization header, which is used instead`;
    throw new PortcullisError('config', message, {
      remedy: 'remove the header from the entry to sign in',
    });
  }
  return { name, entry };
}

function signInAgent(
  { places, cwd }: Project,
  { name, entry }: RemoteDeclaration,
  { show, paste }: SignInDialog,
): SignInAgent {
  const { env } = places;
  const port = entry.oauth?.callbackPort ?? portFrom(env.MCP_OAUTH_CALLBACK_PORT);
  if (paste !== undefined) {
    return pasteAgent({
      port,
      ...paste,
      tell: (url) =>
        show(
          `Open this page in any browser to sign in to "${visible(name)}":\n\n${url}\n\n` +
            'It leads to an address on localhost that may not load. Paste that whole address here:\n',
        ),
      complain: (reason) => show(`That did not work: ${reason}. Paste the whole address:\n`),
    });
  }
  const processes = createProcessSupervisor();
  const platform = hostFacts().os;
  return browserAgent({
    port,
    tell: (url) =>
      show(`Sign in to "${visible(name)}" in your browser. If it does not open:\n\n${url}\n\n`),
    open: (url) => openBrowser(url, { processes, env, cwd, platform }),
  });
}

function portFrom(text: string | undefined): number | undefined {
  const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : undefined;
}
