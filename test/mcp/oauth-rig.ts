import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { err, ok } from '../../src/lib/result.js';
import { failureInside } from '../../src/mcp/auth/failure.js';
import { ServerAuth } from '../../src/mcp/auth/server-auth.js';
import type { AuthFailure, ServerAuthDeps, SignInAgent } from '../../src/mcp/auth/types.js';
import type { OAuthEntry } from '../../src/mcp/server.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { OAuthTestServer } from './oauth-server.js';

export interface OAuthRig {
  readonly server: OAuthTestServer;
  readonly directory: string;
  /** Moves on only when a test says so. */
  readonly clock: { at: number; now(): number };
  auth(options?: AuthOptions): ServerAuth;
  /** A request as a transport makes it: with the token, again once after a 401, with a step up on 403. */
  ask(auth: ServerAuth, method?: string): Promise<number>;
  /** Asks, and tells what was thrown. */
  failure(
    auth: ServerAuth,
    method?: string,
  ): Promise<{ thrown: unknown; failure: AuthFailure | undefined }>;
  /** Somebody has signed in, and a while has passed. */
  signedIn(options?: AuthOptions): Promise<ServerAuth>;
  /** The text of the token file. */
  tokens(): string;
  stop(): Promise<void>;
}

export interface AuthOptions extends Partial<ServerAuthDeps> {
  readonly name?: string;
  readonly url?: string;
  readonly oauth?: OAuthEntry;
}

export async function startRig(): Promise<OAuthRig> {
  const server = await new OAuthTestServer().start();
  const directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-oauth-'));
  const clock = { at: 1_800_000_000_000, now: (): number => clock.at };
  const rig: OAuthRig = {
    server,
    directory,
    clock,
    async failure(auth, method) {
      const thrown = await rig.ask(auth, method).then(
        () => undefined,
        (error: unknown) => error,
      );
      return { thrown, failure: failureInside(thrown) };
    },
    async signedIn(options = {}) {
      const auth = rig.auth(options);
      const done = await auth.signIn(willing(), AbortSignal.timeout(20_000));
      if (!done.ok) throw new Error(done.error.message);
      clock.at += 60_000;
      // Without the one by which the server was asked what it wants.
      const { requests } = server;
      requests.splice(0, requests.length, ...requests.filter((one) => one.path !== '/mcp'));
      return auth;
    },
    auth({ name = 'guarded', url = server.url, oauth, ...deps } = {}) {
      const entry = { type: 'http', url, headers: {}, ...(oauth && { oauth }) } as const;
      const base = { fs: nodeFileSystem, stateDirectory: directory, clock };
      return new ServerAuth({ name, entry }, { ...base, ...deps });
    },
    ask: (auth, method = 'tools/list') => askServer(server, auth, method),
    tokens: () => readFileSync(path.join(directory, 'mcp-tokens.json'), 'utf8'),
    async stop() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return rig;
}

async function askServer(
  server: OAuthTestServer,
  auth: ServerAuth,
  method: string,
): Promise<number> {
  const send = async (): Promise<Response> => {
    const token = await auth.provider.token();
    return await fetch(server.url, {
      method: 'POST',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
    });
  };
  let response = await send();
  if (response.status === 401) {
    const context = { response, serverUrl: new URL(server.url), fetchFn: fetch };
    await auth.provider.onUnauthorized(context);
    response = await send();
  }
  if (response.status === 403) {
    const scope = /scope="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1];
    if (await auth.stepUp({ scope })) response = await send();
  }
  return response.status;
}

/** A person who signs in at once: follows the redirect of the page, as a browser would, and no further. */
export function willing(
  options: { redirectUrl?: string; onPage?: (url: string) => void } = {},
): SignInAgent {
  return {
    begin: async () =>
      ok({
        redirectUrl: options.redirectUrl ?? 'http://localhost:1/callback',
        async visit({ url, state }) {
          options.onPage?.(url);
          const response = await fetch(url, { redirect: 'manual' });
          const back = response.headers.get('location');
          if (back === null) return err('there was no redirect');
          const answer = new URL(back).searchParams;
          return answer.get('state') === state ? ok(answer) : err('its state does not match');
        },
        close: async () => undefined,
      }),
  };
}
