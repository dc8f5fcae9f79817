import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer, connect as dial } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeSandboxHost } from '../../src/sandbox/host/host.js';
import type { Reach } from '../../src/sandbox/host/proxy-rules.js';
import { openSandbox } from '../../src/sandbox/session/sandbox.js';
import type { SandboxNetwork } from '../../src/sandbox/types.js';
import { environment, type SessionEnvironment, start, whyNot } from './inside.js';

const reason = await whyNot();

describe.skipIf(reason !== undefined)(`the filtered network${reason ? ` (${reason})` : ''}`, () => {
  let g: SessionEnvironment;
  let web: Server;
  let echo: ReturnType<typeof createServer>;
  /** What was dialled: nothing else may be. */
  let dialled: string[];
  let resolved: string[];
  let addresses: Record<string, readonly string[]>;
  let seen: { url: string | undefined; headers: Record<string, unknown>; body: string }[];

  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

  /** Public addresses lead to our servers; nothing leaves this machine. */
  const reach: Reach = {
    async resolve(host) {
      resolved.push(host);
      return addresses[host] ?? (/^[\d.]+$|:/.test(host) ? [host] : []);
    },
    async connect(address, port): Promise<Duplex> {
      dialled.push(`${address}:${port}`);
      const socket = dial({ port: portOf(port === 443 ? echo : web), allowHalfOpen: true });
      await once(socket, 'connect');
      return socket;
    },
    upstream: () => undefined,
  };

  const filtered = (
    more: { hosts?: string[]; named?: string[] } = {},
  ): { network: SandboxNetwork } => {
    const { hosts = ['good.example'], named = [] } = more;
    return {
      network: {
        kind: 'filtered',
        allows: async (host) => hosts.includes(host) || hosts.includes('*') || named.includes(host),
        named: (host) => named.includes(host),
      },
    };
  };

  beforeAll(async () => {
    web = createHttpServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        seen.push({ url: request.url, headers: { ...request.headers }, body });
        response.setHeader('x-answer', 'yes');
        response.end(`hello ${request.url}`);
      });
    });
    web.listen(0, '127.0.0.1');
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await Promise.all([once(web, 'listening'), once(echo, 'listening')]);
    g = await environment({ reach });
  });
  afterAll(async () => {
    web.close();
    web.closeAllConnections();
    echo.close();
    await g.close();
  });
  beforeEach(() => {
    dialled = [];
    resolved = [];
    seen = [];
    addresses = { 'good.example': ['198.51.99.7'], 'evil.example': ['198.51.99.8'] };
  });

  it('lets an allowed host pass, resolved once and dialled by that address', async () => {
    const ran = await g.run(
      'curl -si http://good.example/path?q=1; curl -s -d body=1 http://good.example/post; curl -s http://GOOD.example./dot',
      filtered(),
    );
    expect(ran.out).toContain('hello /path?q=1');
    expect(ran.out).toContain('x-answer: yes');
    expect(seen.map(({ url, body }) => [url, body])).toEqual([
      ['/path?q=1', ''],
      ['/post', 'body=1'],
      ['/dot', ''],
    ]);
    expect(seen[0]?.headers).not.toHaveProperty('proxy-connection');
    expect(resolved).toEqual(['good.example', 'good.example', 'good.example']);
    expect(dialled).toEqual(['198.51.99.7:80', '198.51.99.7:80', '198.51.99.7:80']);
    expect(ran.refusals).toBeUndefined();
  });

  it('refuses plain HTTP to other hosts, whatever the Host header says (SC-296)', async () => {
    const ran = await g.run(
      `curl -s http://evil.example/; curl -s -H 'Host: good.example' http://evil.example/
         curl -s -H 'Host: evil.example' http://good.example/; curl -s -H 'Host: good.example:81' http://good.example/
         curl -s -H 'Host:' http://good.example/; exec 7<>/dev/tcp/127.0.0.1/3128
         printf 'GET http://good.example/ HTTP/1.1\\r\\nHost: good.example\\r\\nHost: evil.example\\r\\nConnection: close\\r\\n\\r\\n' >&7; cat <&7
         exec 8<>/dev/tcp/127.0.0.1/3128; printf 'GET /relative HTTP/1.1\\r\\nHost: good.example\\r\\nConnection: close\\r\\n\\r\\n' >&8; cat <&8`,
      filtered(),
    );
    expect(dialled).toEqual([]);
    expect(resolved).toEqual([]);
    expect(ran.out).toContain(
      'Refused by the Portcullis sandbox: evil.example:80 is not an allowed host',
    );
    expect(ran.refusals).toContain('network: evil.example:80 was refused');
  });

  it('refuses user names in front of hosts and other tricks of URLs', async () => {
    const ask = (line: string): string =>
      `exec 7<>/dev/tcp/127.0.0.1/3128; printf '${line} HTTP/1.1\\r\\nHost: good.example\\r\\nConnection: close\\r\\n\\r\\n' >&7; cat <&7`;
    await g.run(
      [
        ask('GET http://good.example@evil.example/'),
        ask('GET http://evil.example#@good.example/'),
        ask('GET http://evil.example\\\\@good.example/'),
        ask('GET https://good.example/'),
        ask('GET ftp://good.example/'),
        ask('CONNECT good.example'),
        ask('CONNECT evil.example:443#good.example:443'),
        ask('CONNECT good.example@evil.example:443'),
        ask('CONNECT http://good.example:443/'),
      ].join('\n'),
      filtered(),
    );
    expect(dialled).toEqual([]);
  });

  it('judges CONNECT and SOCKS by the host that is dialled', async () => {
    const socks = 'curl -s -m 5 --socks5-hostname 127.0.0.1:3128';
    const ran = await g.run(
      `curl -sk -m 5 https://evil.example/ -o /dev/null -w '%{http_connect}\\n'
         curl -s -m 5 -p http://evil.example/ -w '%{http_connect}\\n'
         ${socks} http://evil.example/; echo $?; ${socks} http://good.example/socks; curl -s -p http://good.example/tunnel
         exec 7<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT good.example:443 HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n' >&7; head -1 <&7`,
      filtered(),
    );
    expect(ran.out).toContain('403');
    expect(ran.out).toContain('hello /socks');
    expect(ran.out).toContain('hello /tunnel');
    expect(ran.out).toContain('HTTP/1.1 403 Forbidden');
    expect(dialled).toEqual(['198.51.99.7:80', '198.51.99.7:80']);
    expect(ran.refusals).toContain('evil.example:443');
  });

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'LOCALHOST.',
    '169.254.169.254',
    'metadata.google.internal',
    '10.0.0.1',
    '198.51.99.7',
    '0.0.0.0',
  ])('refuses the address %s, though every name is allowed', async (host) => {
    const ran = await g.run(
      `export NO_PROXY= no_proxy=; curl -s -m 5 http://${host}/ ; curl -s -m 5 -p http://${host}/; curl -s -m 5 --socks5-hostname 127.0.0.1:3128 http://${host}/; curl -s -m 5 --socks5 127.0.0.1:3128 http://${host}/; true`,
      filtered({ hosts: ['*'] }),
    );
    expect(dialled).toEqual([]);
    expect(ran.out).not.toContain('hello');
  });

  it('refuses names that lead to this machine or an inner network', async () => {
    addresses = {
      'a.example': ['127.0.0.1'],
      'b.example': ['198.51.99.7', '10.0.0.1'],
      'c.example': ['169.254.169.254'],
      'd.example': ['::ffff:10.0.0.1'],
      'e.example': ['fd00::1'],
    };
    const names = Object.keys(addresses);
    const ran = await g.run(
      names.map((name) => `curl -s http://${name}/; curl -s -p http://${name}/`).join('\n'),
      filtered({ hosts: ['*'] }),
    );
    expect(dialled).toEqual([]);
    expect(ran.out).toContain('which is not a public address');
  });

  it('is not moved by a name that changes its mind', async () => {
    let count = 0;
    addresses = {
      get 'good.example'() {
        count += 1;
        return count === 1 ? ['198.51.99.7'] : ['127.0.0.1'];
      },
    };
    const ran = await g.run(
      'curl -s http://good.example/1; curl -s http://good.example/2',
      filtered(),
    );
    expect(dialled).toEqual(['198.51.99.7:80']);
    expect(ran.out).toContain('hello /1');
  });

  it('reaches an inner host that settings name, but metadata only by its address', async () => {
    addresses = { 'build.corp': ['10.1.2.3'], 'meta.corp': ['169.254.169.254'] };
    const ran = await g.run(
      'curl -s http://build.corp/named; curl -s http://meta.corp/; NO_PROXY= no_proxy= curl -s http://127.0.0.1:8080/own',
      filtered({ named: ['build.corp', 'meta.corp', '127.0.0.1'] }),
    );
    expect(ran.out).toContain('hello /named');
    expect(dialled).toEqual(['10.1.2.3:80', '127.0.0.1:8080']);
  });

  it('fails closed where the decision fails', async () => {
    const network: SandboxNetwork = {
      kind: 'filtered',
      allows: () => Promise.reject(new Error('x')),
    };
    await g.run('curl -s http://good.example/', { network });
    expect(dialled).toEqual([]);
  });

  it('has no other way out than the proxy', async () => {
    const ran = await g.run(
      `unset http_proxy HTTP_PROXY all_proxy ALL_PROXY; curl -s -m 3 --noproxy '*' http://198.51.99.7/ ; echo $?; curl -s -m 3 --noproxy '*' http://good.example/; echo $?; (exec 7<>/dev/tcp/127.0.0.1/${portOf(web)}) && echo GOT; ls -l /proc/self/fd | wc -l`,
      filtered(),
    );
    expect(dialled).toEqual([]);
    expect(ran.out).not.toContain('GOT');
    expect(ran.out).toMatch(/^7\n6\n/);
    expect(ran.refusals).toBeUndefined();
  });

  it('gains nothing by speaking to the pipes itself', async () => {
    const ran = await g.run(
      `curl -s http://good.example/start; pid=$(pgrep -f 'node|perl' | head -1); for p in /proc/[0-9]*; do for f in $p/fd/*; do
           [ -p $f ] && printf 'CONNECT 127.0.0.1:${portOf(web)} HTTP/1.1\\r\\n\\r\\n' > $f; done; done 2>/dev/null; true`,
      filtered(),
    );
    expect(ran.out).toContain('hello /start');
    expect(dialled).toEqual(['198.51.99.7:80']);
  });

  it('carries much at once, both ways', async () => {
    const script = `
        const net = require("net");
        const one = (size) => new Promise((resolve, reject) => {
          const s = net.connect(3128, "127.0.0.1"); let got = -1; let head = "";
          s.on("error", reject);
          s.on("data", (d) => { if (got >= 0) got += d.length; else { head += d.toString("latin1"); const at = head.indexOf("\\r\\n\\r\\n"); if (at >= 0) { got = head.length - at - 4; s.end(Buffer.alloc(size, 97)); } } });
          s.on("end", () => resolve(got));
          s.write("CONNECT good.example:443 HTTP/1.1\\r\\nHost: good.example:443\\r\\n\\r\\n");
        });
        Promise.all([...Array(20)].map((_, i) => one(i === 0 ? 8e6 : 2e5))).then((all) => console.log(all.join()));`;
    const ran = await g.run(`${process.execPath} -e '${script}'`, filtered());
    expect(ran.out.trim()).toBe([8e6, ...new Array(19).fill(2e5)].join());
  });

  it('works where there is no Perl', async () => {
    const host = nodeSandboxHost();
    const without = {
      ...host,
      program: (name: string) => (name === 'perl' ? undefined : host.program(name)),
    };
    const sandbox = await openSandbox({
      env: {},
      stateDirectory: `${g.base}/state`,
      host: without,
      reach,
    });
    const program = {
      command: 'curl',
      args: ['-s', 'http://good.example/plain'],
      cwd: g.project,
      env: { PATH: '/usr/bin:/bin' },
    };
    const wrapped = await sandbox.wrap(program, g.policy(filtered()));
    const { out, err } = await start(wrapped);
    await wrapped.release();
    await sandbox.close();
    expect(err).toBe('');
    expect(out).toBe('hello /plain');
  });

  it('tells git, npm and others where the proxy is, and forgets the one outside', async () => {
    const ran = await g.run('env', filtered(), {
      env: {
        HTTPS_PROXY: 'http://corp.example:8080',
        npm_config_https_proxy: 'http://corp.example:8080',
      },
    });
    for (const name of [
      'http_proxy',
      'HTTP_PROXY',
      'https_proxy',
      'HTTPS_PROXY',
      'ALL_PROXY',
      'npm_config_https_proxy',
    ])
      expect(ran.out).toContain(`${name}=http://127.0.0.1:3128`);
    expect(ran.out).toContain('NO_PROXY=localhost');
    expect(ran.out).not.toContain('corp.example');
    expect(ran.out).not.toContain('PERL_BADLANG');
  });
});
