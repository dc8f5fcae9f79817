import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { systemCodeOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';

/** Receives the one request with which a browser returns the result of a sign-in. */
export interface LoopbackCallback {
  readonly redirectUrl: string;
  /** Resolves with the parameters of the first answer that carries `state`. Closes then. */
  answer(state: string, signal: AbortSignal): Promise<Result<URLSearchParams, string>>;
  close(): Promise<void>;
}

/** How long a browser may take to read the last page. */
const GRACE_MS = 500;

export const CALLBACK_PATH = '/callback';

/** `port` 0 or absent: any that is free. Reachable from this machine alone. */
export async function listenForCallback(port = 0): Promise<Result<LoopbackCallback, string>> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 });
  const started = await listening(server, port);
  if (!started.ok) return started;
  let take: ((url: URL) => boolean) | undefined;
  server.on('request', (request, response) =>
    serve(request, response, (url) => take?.(url) ?? false),
  );
  const close = async (): Promise<void> => {
    take = undefined;
    // The last page must still reach the browser.
    const giveUp = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    clearTimeout(giveUp);
  };
  return ok({
    redirectUrl: `http://localhost:${started.value}${CALLBACK_PATH}`,
    close,
    async answer(state, signal) {
      const parameters = new Promise<URLSearchParams>((resolve) => {
        take = (url) => {
          // fail-closed: an answer with another state is ignored, and the wait goes on.
          if (url.searchParams.get('state') !== state) return false;
          // One use: later requests are not accepted.
          take = undefined;
          resolve(url.searchParams);
          return true;
        };
      });
      const answered = await orAbort(parameters, signal).then(ok, () =>
        err('the sign-in was given up'),
      );
      void close();
      return answered;
    },
  });
}

function listening(server: Server, port: number): Promise<Result<number, string>> {
  return new Promise((resolve) => {
    server.once('error', (error) => {
      const busy = systemCodeOf(error) === 'EADDRINUSE';
      resolve(
        err(
          busy
            ? `port ${port} is in use; free it, or choose another one as callbackPort`
            : `nothing can listen on port ${port} (${systemCodeOf(error) ?? 'unknown reason'})`,
        ),
      );
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      resolve(ok(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  take: (url: URL) => boolean,
): void {
  const target = `http://localhost${request.url ?? '/'}`;
  const url = parseUrl(target);
  if (!isOurHost(request.headers.host)) page(response, 421, 'Wrong host.');
  else if (url?.pathname !== CALLBACK_PATH) page(response, 404, 'Page not found.');
  else if (request.method !== 'GET') page(response, 405, 'Only GET is accepted.');
  else if (!take(url)) page(response, 400, 'No sign-in is waiting for this answer.');
  else {
    const how = url.searchParams.has('error') ? 'The sign-in was refused.' : 'Thank you.';
    page(response, 200, `${how} You can close this page and return to the terminal.`);
  }
}

/** fail-closed: a page of another site that had its name point here is not answered. */
function isOurHost(host: string | undefined): boolean {
  return /^(localhost|127\.0\.0\.1)(:\d+)?$/i.test(host ?? '');
}

/** Shows no part of the request, so nothing in it can do harm. */
function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><title>Portcullis</title><p>${text}</p>\n`);
}
