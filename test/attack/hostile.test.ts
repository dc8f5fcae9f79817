import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  begin,
  call,
  end,
  event,
  hostileServer,
  KEY,
  project,
  say,
  start,
  stream,
} from './hostile-server.js';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('a hostile model server', () => {
  it('cannot crash a run with nesting that nobody can write out again', async () => {
    const { url } = await hostileServer((response, { count }) =>
      stream(
        response,
        count === 1
          ? begin() + call('Read', `{"file_path":"a","x":${nested(100_000)}}`) + end('tool_use')
          : say('done'),
      ),
    );
    const where = { project: project(), url };
    expect(await start(['-p', 'go'], where)).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(await start(['-p', 'go on', '--continue'], where)).toMatchObject({ code: 0 });
  });

  it('cannot fill the memory with an answer without end', async () => {
    const { url } = await hostileServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin());
      const piece = event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'x'.repeat(500_000) },
      });
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    const done = await start(['-p', 'go'], { project: project(), url });
    expect(done).toMatchObject({ code: 1, stderr: '' });
    expect(done.stdout).toContain('an answer without end');
  });

  it('does not have the key that it quotes shown to anybody', async () => {
    const { url } = await hostileServer((response, { headers }) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      const message = `bad key ${headers['x-api-key']}`;
      response.end(JSON.stringify({ error: { type: 'authentication_error', message } }));
    });
    const where = { project: project(), url };
    const debugFile = path.join(where.project.root, 'debug');
    const args = ['--output-format', 'stream-json', '--verbose', '--debug-file', debugFile];
    const done = await start(['-p', 'go', ...args], where);
    expect(done.code).toBe(1);
    expect(done.stdout).toContain('bad key [the key]');
    expect(done.stdout + done.stderr).not.toContain(KEY);
    const files = spawnSync('grep', ['-rlF', KEY, where.project.root], { encoding: 'utf8' });
    expect(files).toMatchObject({ status: 1, stdout: '' });
  });

  it('cannot give a budget back what was spent, or answer as a model without a price', async () => {
    const lies = await hostileServer((response, { count }) => {
      const usage = { input_tokens: count % 2 === 1 ? 200_000 : -1e12, output_tokens: 0 };
      stream(response, begin(usage) + call('Read', `{"file_path":"a${count}"}`) + end('tool_use'));
    });
    const args = ['--output-format', 'json', '--max-budget-usd', '1'];
    const counted = await start(['-p', 'go', ...args], { project: project(), url: lies.url });
    expect(counted.code).toBe(6);
    expect(JSON.parse(counted.stdout).total_cost_usd).toBeGreaterThanOrEqual(1);

    const renamed = await hostileServer((response, { count }) => {
      const answer = begin() + call('Read', `{"file_path":"a${count}"}`) + end('tool_use');
      stream(response, answer.replace('claude-sonnet-4-5', 'a-model-of-mine'));
    });
    const unknown = await start(['-p', 'go', ...args], { project: project(), url: renamed.url });
    expect(unknown.code).toBe(6);
    expect(renamed.bodies).toHaveLength(1);
  });
});

describe('a hostile project', () => {
  it.each([
    [
      'a pipe for HEAD',
      (at: (name: string) => string) => execFileSync('mkfifo', [at('.git/HEAD')]),
    ],
    [
      'a device for HEAD',
      (at: (name: string) => string) => symlinkSync('/dev/zero', at('.git/HEAD')),
    ],
  ])('cannot keep the program from starting with %s', async (_what, make) => {
    const { url } = await hostileServer((response) => stream(response, say('started')));
    const where = { project: project({ files: { '.git': { directory: true } } }), url };
    make(where.project.at);
    expect(await start(['-p', 'go'], where)).toMatchObject({ code: 0, stdout: 'started\n' });
  });

  it('cannot have a secret sent to the model by a link', async () => {
    const { url, bodies } = await hostileServer((response) => stream(response, say('x')));
    const where = { project: project(), url };
    writeFileSync(path.join(where.project.home, 'id_rsa'), 'PRIVATE KEY');
    symlinkSync(path.join(where.project.home, 'id_rsa'), where.project.at('CLAUDE.md'));
    const done = await start(['-p', 'go'], where);
    expect(done.code).toBe(0);
    expect(done.stderr).toContain('CLAUDE.md was not read');
    expect(JSON.stringify(bodies)).not.toContain('PRIVATE KEY');
  });
});

describe('a host that names its prompts carelessly', () => {
  it('loses no part of the conversation', async () => {
    const { url, bodies } = await hostileServer((response, { count }) =>
      stream(response, say(`answer ${count}`)),
    );
    const where = { project: project(), url };
    const uuid = '99999999-9999-4999-8999-999999999999';
    const line = (content: string): string =>
      `${JSON.stringify({ type: 'user', uuid, message: { role: 'user', content } })}\n`;
    const wire = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
    for (const prompt of ['one', 'two', 'three']) {
      const args = prompt === 'one' ? wire : [...wire, '--continue'];
      expect(await start(['-p', ...args], { ...where, input: line(prompt) })).toMatchObject({
        code: 0,
      });
    }
    const said = JSON.stringify(bodies.at(-1));
    for (const words of ['one', 'answer 1', 'two', 'answer 2', 'three']) {
      expect(said).toContain(`"text":"${words}"`);
    }
  });
});

describe('output that nobody receives', () => {
  it('is no success', async () => {
    const { url } = await hostileServer((response) => stream(response, say('lost')));
    const done = await start(['-p', 'go'], { project: project(), url, redirect: '> /dev/full' });
    expect(done.code).toBe(1);
    expect(done.stderr).toContain('standard output could not be written');
  });

  it('is nothing to fail for when the reader had enough', async () => {
    const { url } = await hostileServer((response) => stream(response, say('y'.repeat(1_000_000))));
    const done = await start(['-p', 'go'], {
      project: project(),
      url,
      redirect: '2> err | head -c 1; cat err',
    });
    expect(done.stdout).toBe('y');
  });

  it('refuses a debug file that cannot be written before anything is asked', async () => {
    const { url, bodies } = await hostileServer((response) => stream(response, say('x')));
    const done = await start(['-p', 'go', '--debug-file', '/dev/null/x'], {
      project: project(),
      url,
    });
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(bodies).toEqual([]);
  });
});
