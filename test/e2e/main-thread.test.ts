import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';

/** How much each thread of a process steps back, by its id. */
function nicenessOf(pid: number): ReadonlyMap<number, number> {
  return new Map(
    readdirSync(`/proc/${pid}/task`).map((id) => {
      const [, facts = ''] = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8').split(') ');
      return [Number(id), Number(facts.split(' ')[16])];
    }),
  );
}

it.runIf(process.platform === 'linux')(
  'the threads of V8 step back behind the one that works, where cores are few',
  async () => {
    const project = makeTempProject({ files: { 'a.txt': 'alpha\n' } });
    let niceness: ReadonlyMap<number, number> = new Map();
    const server = createServer((_request, response) => {
      niceness = nicenessOf(child.pid ?? 0);
      response.writeHead(401).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const [node = '', program = ''] = PROGRAM;
    const child = spawn(node, [program, '-p', 'go'], {
      cwd: project.directory,
      env: {
        PATH: process.env.PATH,
        HOME: project.home,
        TMPDIR: project.root,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
        ANTHROPIC_API_KEY: 'none',
      },
      stdio: 'ignore',
    });
    try {
      await new Promise((resolve) => child.on('close', resolve));
      const own = nicenessOf(process.pid).get(process.pid) ?? 0;
      expect(niceness.get(child.pid ?? 0)).toBe(own);
      const others = [...niceness].filter(([id]) => id !== child.pid).map(([, nice]) => nice);
      expect(others.length).toBeGreaterThan(3);
      if (availableParallelism() <= 4)
        expect(others.filter((nice) => nice > own).length).toBeGreaterThan(3);
      else expect(new Set(others)).toEqual(new Set([own]));
    } finally {
      server.close();
      project.remove();
    }
  },
);
