// The client that the public conformance suite examines: our connection and our authorization, with a
// "browser" that agrees to everything. Called with the address of a server, as the suite does.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ServerAuth } from '../../src/mcp/auth/server-auth.js';
import { browserAgent } from '../../src/mcp/auth/sign-in-agents.js';
import type { MachineGrant } from '../../src/mcp/auth/types.js';
import { createConnection } from '../../src/mcp/connection/connection.js';
import { createElicit } from '../../src/mcp/resources/elicitation.js';
import type { RemoteEntry, ServerDeclaration } from '../../src/mcp/server.js';
import { systemClock } from '../../src/platform/clock.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createFetch } from '../../src/platform/http/fetch.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = contextOf(process.env.MCP_CONFORMANCE_CONTEXT);
const directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-conformance-'));
const processes = createProcessSupervisor();
const environment = withoutProxies(process.env);

process.exitCode = await main(process.argv[2] ?? '').finally(() => {
  rmSync(directory, { recursive: true, force: true });
});

async function main(url: string): Promise<number> {
  const declaration = declarationOf(url);
  const auth = authFor(declaration);
  const connection = createConnection(declaration, {
    processes,
    env: environment,
    cwd: directory,
    clock: systemClock,
    roots: () => [],
    elicit: createElicit({
      scene: () => undefined as never,
      clock: systemClock,
      // A person who agrees and leaves every field as it was.
      ask: async () => ({ action: 'accept', content: {} }),
    }),
    authProvider: auth.provider,
    stepUp: (challenge) => auth.stepUp(challenge),
    refreshAuth: () => auth.refresh(),
    clientInfo: { name: 'portcullis', version: '0.0.0-conformance' },
  });
  try {
    const connected = await connection.connect();
    if (!connected.ok) return failed(connected.error.message);
    const tools = await connection.listTools();
    if (!tools.ok) return failed(tools.error.message);
    for (const { name } of tools.value) {
      const args = name === 'add_numbers' ? { a: 5, b: 3 } : {};
      const request = { tool: name, arguments: args };
      const result = await connection.call(request, AbortSignal.timeout(20_000));
      if (!result.ok) return failed(result.error.message);
    }
    return 0;
  } finally {
    await connection.close();
  }
}

function authFor({ name, entry }: ServerDeclaration & { readonly entry: RemoteEntry }) {
  const machine = machineGrant();
  return new ServerAuth(
    { name, entry },
    {
      fs: nodeFileSystem,
      stateDirectory: directory,
      clock: systemClock,
      fetch: createFetch({ environment }),
      ...(machine === undefined ? { agent: agreeable() } : { machine }),
      // The suite would look the address up; only the scenario that is about it may do so.
      ...(scenario === 'auth/basic-cimd'
        ? { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }
        : {}),
    },
  );
}

/** Follows the redirects of the page to our own listener, as a browser with a willing person would. */
function agreeable() {
  return browserAgent({
    tell: () => undefined,
    open: async (url) => (await fetch(url)).ok,
  });
}

function declarationOf(url: string): ServerDeclaration & { readonly entry: RemoteEntry } {
  const client =
    scenario === 'auth/pre-registration'
      ? { oauth: { clientId: context.client_id, clientSecret: context.client_secret } }
      : {};
  return {
    name: 'conformance',
    key: 'conformance',
    scope: 'dynamic',
    entry: { type: 'http', url, headers: {}, ...client },
    origin: {},
    standing: { kind: 'ready' },
    contentHash: '',
  };
}

function machineGrant(): MachineGrant | undefined {
  const clientId = context.client_id ?? '';
  if (scenario === 'auth/client-credentials-basic') {
    return { kind: 'client-secret', clientId, clientSecret: context.client_secret ?? '' };
  }
  if (scenario === 'auth/client-credentials-jwt') {
    const algorithm = context.signing_algorithm ?? 'ES256';
    return { kind: 'private-key', clientId, privateKey: context.private_key_pem ?? '', algorithm };
  }
  return undefined;
}

function contextOf(text: string | undefined): Readonly<Record<string, string | undefined>> {
  return text === undefined ? {} : JSON.parse(text);
}

/** All of it happens on this machine. */
function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_proxy$/i.test(name)));
}

function failed(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}
