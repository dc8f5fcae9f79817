import { describe, expect, it } from 'vitest';
import { canonical, marks } from './canonical.js';
import { run } from './worlds.js';

const ON_REQUEST = ['TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'];
// Measured when this was written: 9,672 bytes with the default tools, about 13,000 with all of them.
const DEFAULT_LIMIT = 16_000;
const ALL_LIMIT = 24_000;

const toolNames = (body: unknown): readonly string[] =>
  (body as { tools: { name: string }[] }).tools.map((tool) => tool.name);

describe.concurrent('the size of the first request', () => {
  it('is small with the default tools', async () => {
    const done = await run({ script: ['ok'] });
    expect(done.requests[0]?.raw.length).toBeLessThanOrEqual(DEFAULT_LIMIT);
  });

  it('is bounded with every built-in tool', async () => {
    const done = await run({
      args: ['--permission-prompt-tool', 'stdio', '--allowedTools', ...ON_REQUEST],
      stdin: [{ type: 'user', message: { role: 'user', content: 'go' } }],
      script: ['ok'],
    });
    const names = toolNames(done.requests[0]?.body);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(
      expect.arrayContaining([...ON_REQUEST, 'AskUserQuestion', 'ExitPlanMode']),
    );
    expect(done.requests[0]?.raw.length).toBeLessThanOrEqual(ALL_LIMIT);
  });

  it('does not depend on the run: two empty projects differ by their paths alone', async () => {
    const [one, two] = await Promise.all([run({ script: ['ok'] }), run({ script: ['ok'] })]);
    const text = (done: typeof one): string =>
      String(done.requests[0]?.raw).replaceAll(done.project.root, 'ROOT');
    expect(text(two)).toBe(text(one));
  });
});

describe.concurrent('the requests of a session', () => {
  it('each begin with the one before, over ten turns of all kinds', async () => {
    const done = await run({
      files: { 'a.txt': 'one\ntwo\nthree\n', 'CLAUDE.md': 'Be brief.\n' },
      args: ['--allowedTools', 'Write', 'Edit', 'Bash'],
      script: [
        { tool: 'Read', input: { file_path: 'a.txt' } },
        { tool: 'Edit', input: { file_path: 'a.txt', old_string: 'two', new_string: '2' } },
        { thinking: 'A thought.', tool: 'Bash', input: { command: 'cat a.txt' } },
        {
          blocks: [
            'Three at once.',
            { tool: 'Read', input: { file_path: 'a.txt' } },
            { tool: 'Glob', input: { pattern: '*.txt' } },
            { tool: 'Grep', input: { pattern: 'three' } },
          ],
        },
        { tool: 'Bash', rawInput: '{"command": ' },
        { tool: 'Nothing', input: {} },
        { tool: 'Write', input: { file_path: 'b/c.txt', content: 'ü\u2028\n' } },
        { tool: 'Bash', input: { command: 'cd b && pwd' } },
        {
          tool: 'TodoWrite',
          input: { todos: [{ content: 'x', status: 'pending', activeForm: 'x-ing' }] },
        },
        { tool: 'Bash', input: { command: 'false' } },
        'Done.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.requests).toHaveLength(11);
    const parts = done.requests.map((request) => canonical(request.body));
    for (const [index, part] of parts.entries()) {
      const before = parts[index - 1] ?? [];
      expect(part.slice(0, before.length)).toEqual(before);
      expect(part.length).toBeGreaterThan(before.length);
    }
    for (const request of done.requests) {
      expect(marks(request.raw)).toBeGreaterThanOrEqual(1);
      expect(marks(request.raw)).toBeLessThanOrEqual(4);
    }
  });

  it('stay within four marks and one prefix with forty results in one turn', async () => {
    const many = {
      blocks: Array.from({ length: 40 }, () => ({ tool: 'Bash', input: { command: 'pwd' } })),
    };
    const done = await run({ script: [many, many, 'Done.'] });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    const [, second, third] = done.requests;
    const before = canonical(second?.body);
    expect(canonical(third?.body).slice(0, before.length)).toEqual(before);
    for (const request of done.requests) expect(marks(request.raw)).toBeLessThanOrEqual(4);
  });
});
