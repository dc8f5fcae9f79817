import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { discoverLocalServers } from '../../src/model/catalog/discover.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';

describe('discoverLocalServers', () => {
  it('finds servers of both kinds and passes over silent, strange and absent ones', async () => {
    const chat = await startFakeModelServer({ models: ['qwen', 'llama'] });
    const start = async (handler: http.RequestListener) => {
      const server = http.createServer(handler);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return { server, port: (server.address() as AddressInfo).port };
    };
    const tags = await start((request, response) => {
      response.statusCode = request.url === '/api/tags' ? 200 : 404;
      response.end(JSON.stringify({ models: [{ name: 'gemma' }] }));
    });
    const page = await start((_request, response) => response.end('<html>'));
    const mute = await start(() => {});
    const found = await discoverLocalServers({
      deadlineMs: 500,
      candidates: [
        { name: 'chat', port: Number(new URL(chat.url).port) },
        { name: 'tags', port: tags.port },
        { name: 'page', port: page.port },
        { name: 'mute', port: mute.port },
        { name: 'absent', port: 9 },
      ],
    });
    expect(found).toEqual([
      { name: 'chat', baseUrl: `${chat.url}/v1`, models: ['qwen', 'llama'] },
      { name: 'tags', baseUrl: `http://127.0.0.1:${tags.port}/v1`, models: ['gemma'] },
    ]);
    for (const { server } of [tags, page, mute]) {
      server.closeAllConnections();
      server.close();
    }
    await chat.close();
  });
});
