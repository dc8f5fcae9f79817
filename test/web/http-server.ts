import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

export interface TestServer {
  readonly port: number;
  readonly url: string;
  readonly requests: { method: string; url: string; headers: Record<string, unknown> }[];
  close(): Promise<void>;
}

/** A real HTTP server on the loopback interface that remembers what it was asked. */
export async function startServer(listener: RequestListener): Promise<TestServer> {
  const requests: TestServer['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
    });
    listener(request, response);
  });
  const port = await listen(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
