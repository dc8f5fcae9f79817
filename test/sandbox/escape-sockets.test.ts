import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, type SessionEnvironment, whyNot } from './inside.js';

const reason = await whyNot();

describe.skipIf(reason !== undefined)(
  `sockets, attacked from inside${reason ? ` (${reason})` : ''}`,
  () => {
    let g: SessionEnvironment;
    const servers: Server[] = [];
    let docker: string;
    let inProject: string;
    let port: number;
    let port6: number | undefined;
    let contacts = 0;
    const abstract = `portcullis-abstract-${process.pid}`;

    const listen = async (where: Parameters<Server['listen']>[0]): Promise<Server> => {
      const server = createServer((socket) => {
        contacts += 1;
        socket.on('error', () => {});
        socket.end('GOT');
      });
      server.listen(where);
      await once(server, 'listening');
      servers.push(server);
      return server;
    };
    const portOf = (server: Server): number => {
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    };
    const node = (script: string): string =>
      `${process.execPath} -e '${script.replaceAll("'", "'\\''")}'`;
    const connect = (to: string): string =>
      node(
        `const s = require("net").connect(${to}); s.on("data", (d) => console.log(String(d))); s.on("error", (e) => console.log(e.code))`,
      );

    beforeAll(async () => {
      g = await environment();
      docker = path.join(g.outside, 'docker.sock');
      inProject = path.join(g.project, 'own.sock');
      const web = createHttpServer((_request, response) => {
        contacts += 1;
        response.end('GOT');
      });
      web.listen(docker);
      await once(web, 'listening');
      servers.push(web);
      await listen(inProject);
      await listen({ path: `\0${abstract}` });
      port = portOf(await listen({ port: 0, host: '127.0.0.1' }));
      port6 = await listen({ port: 0, host: '::1' }).then(portOf, () => undefined);
    });
    afterAll(async () => {
      for (const server of servers) server.close();
      await g.close();
    });

    const expectUntouched = async (
      script: string,
      more: Parameters<SessionEnvironment['run']>[1] = {},
    ) => {
      const before = contacts;
      const ran = await g.run(script, more);
      expect(ran.out).not.toContain('GOT');
      expect(contacts).toBe(before);
      return ran;
    };

    it('reaches no service by a socket in the file system (SC-302)', async () => {
      const ran = await expectUntouched(
        `curl -s --unix-socket ${docker} http://x/containers/json; ${connect(`{ path: "${docker}" }`)}; cd ${g.outside}; ${connect('{ path: "docker.sock" }')}; ${connect(`{ path: "${inProject}" }`)}; ${connect(`{ path: "/proc/self/root${docker}" }`)}`,
      );
      expect(ran.out).toContain('EPERM');
    });

    it('reaches no abstract socket', async () => {
      await expectUntouched(
        `${connect(`{ path: "\\0${abstract}" }`)}; perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die $!; connect(S, pack("S a*", 1, "\\0${abstract}")) and print <S>'`,
      );
    });

    it('reaches neither with the network of the machine', async () => {
      await expectUntouched(
        `curl -s --unix-socket ${docker} http://x/; ${connect(`{ path: "\\0${abstract}" }`)}`,
        { network: { kind: 'open' } },
      );
    });

    it('has pairs of streams, but none that can be pointed elsewhere', async () => {
      const ran = await g.run(
        `perl -e 'use Socket; print "stream " if socketpair(A, B, AF_UNIX, SOCK_STREAM, 0); print "seqpacket " if socketpair(A, B, AF_UNIX, SOCK_SEQPACKET, 0); print "GOT" if socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0); print "GOT" if socketpair(A, B, AF_UNIX, SOCK_RAW, 0); print "GOT" if socketpair(A, B, AF_UNIX, SOCK_DGRAM | 02000000, 0)'
         ${node('const c = require("child_process").spawn("cat"); c.stdout.on("data", (d) => console.log(String(d))); c.stdin.end("piped")')}`,
      );
      expect(ran.out).toContain('stream seqpacket ');
      expect(ran.out).toContain('piped');
      expect(ran.out).not.toContain('GOT');
    });

    it('has no sockets of other families: packets, vsock, kernel crypto, Bluetooth, audit', async () => {
      const ran = await g.run(
        `perl -e 'for my $f (17, 40, 38, 31, 15, 29, 44) { socket(S, $f, $_, 0) and print "GOT $f" for 1, 2, 3 } socket(S, 16, 3, $_) and print "GOT netlink $_" for 9, 15, 6, 16; socket(S, 2, 3, 1) and print "GOT raw"; socket(S, 10, 3, 58) and print "GOT raw6"; socket(S, 16, 3, 0) and print "route"'`,
      );
      expect(ran.out).toBe('route');
    });

    it('opens only the socket that settings name', async () => {
      const weaker = { unixSockets: [docker] };
      const ran = await g.run(`curl -s --unix-socket ${docker} http://x/`, { weaker });
      expect(ran.out).toBe('GOT');
      await expectUntouched(
        `${connect(`{ path: "${inProject}" }`)}; ${connect(`{ path: "\\0${abstract}" }`)}`,
        { weaker },
      );
    });

    it('opens all where settings say so', async () => {
      const ran = await g.run(connect(`{ path: "${inProject}" }`), {
        weaker: { unixSockets: 'all' },
      });
      expect(ran.out).toContain('GOT');
    });

    it('has no network: not the loopback of the machine, by no protocol', async () => {
      const udp = createSocket('udp4');
      udp.on('message', () => {
        contacts += 1;
      });
      udp.bind(0, '127.0.0.1');
      await once(udp, 'listening');
      await expectUntouched(
        `${connect(`${port}, "127.0.0.1"`)}; ${connect(`${port6 ?? 9}, "::1"`)}; echo x > /dev/udp/127.0.0.1/${udp.address().port}
         ${node('const d = require("dns"); d.setServers(["127.0.0.1"]); d.resolve("example.invalid", (e, a) => console.log(e ? e.code : "GOT"))')}
         curl -s -m 2 http://127.0.0.1:${port}/; ip -o link 2>/dev/null | grep -v LOOPBACK && echo GOT; cat /proc/net/route | sed 1d | grep . && echo GOT`,
      );
      udp.close();
    });

    it('has a loopback of its own', async () => {
      const ran = await g.run(
        node(
          'const n = require("net"); const s = n.createServer((c) => c.end("own")).listen(0, "127.0.0.1", () => n.connect(s.address().port).on("data", (d) => { console.log(String(d)); process.exit() }))',
        ),
      );
      expect(ran.out).toContain('own');
    });

    it('cannot leave by an address', async () => {
      const ran = await g.run(`${connect('80, "203.0.113.1"')}; ${connect('80, "2001:db8::1"')}`);
      expect(ran.out).toBe('ENETUNREACH\nENETUNREACH\n');
    });

    it('has the network of the machine where settings say so', async () => {
      const ran = await g.run(connect(`${port}, "127.0.0.1"`), { network: { kind: 'open' } });
      expect(ran.out).toContain('GOT');
    });
  },
);
