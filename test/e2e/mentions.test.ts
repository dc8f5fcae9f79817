import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { drive, type Frame, isResult } from './host.js';
import { expectContinues, run, userTexts, warnings } from './worlds.js';

const FILES = { 'src/a.ts': 'const one = 1;\n', '.env': 'SECRET=1\n' };
const SHOWN = '1\tconst one = 1;';

describe.concurrent('@path in a prompt of the program', () => {
  it('is attached headless, and stays in the conversation', async () => {
    const done = await run({ files: FILES, prompt: 'explain @src/a.ts.', script: ['done'] });
    expect(done).toMatchObject({ exitCode: 0, stderr: '', scriptProblems: [] });
    const texts = userTexts(done.requests[0]?.body);
    expect(texts.at(-2)).toBe('explain @src/a.ts.');
    expect(texts.at(-1)).toContain(SHOWN);
    const later = await expectContinues(done, 'explain @src/a.ts.');
    expect(userTexts(later.requests[0]?.body).join()).toContain(SHOWN);
  });

  it('is told on standard error where it is refused or missing, and the run goes on', async () => {
    const done = await run({
      files: FILES,
      prompt: 'see @.env and @src/b.ts, ask me@src.org',
      args: ['--disallowedTools', 'Read(.env)'],
      format: 'text',
      script: ['done'],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    expect(warnings(done)).toHaveLength(2);
    expect(done.stderr).toContain('@.env was not attached');
    expect(done.stderr).toContain('nothing is at @src/b.ts');
    expect(JSON.stringify(done.requests)).not.toContain('SECRET');
  });

  it('is attached when the prompt is piped in, and not in what is piped in beside one', async () => {
    const prompt = await run({
      files: FILES,
      prompt: null,
      stdin: 'see @src/a.ts',
      script: ['done'],
    });
    expect(userTexts(prompt.requests[0]?.body).at(-1)).toContain(SHOWN);
    const beside = await run({
      files: FILES,
      prompt: 'what is this?',
      stdin: 'see @src/a.ts',
      script: ['done'],
    });
    expect(userTexts(beside.requests[0]?.body).at(-1)).toBe('what is this?\nsee @src/a.ts');
  });

  it('is not looked for in what a hook says', async () => {
    const output = { hookEventName: 'SessionStart', initialUserMessage: 'see @src/a.ts' };
    const command = `echo '${JSON.stringify({ hookSpecificOutput: output })}'`;
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
    const done = await run({
      files: { ...FILES, '.claude/settings.json': JSON.stringify({ hooks }) },
      args: ['--trust'],
      script: ['one', 'two'],
    });
    expect(done.scriptProblems).toEqual([]);
    expect(userTexts(done.requests[0]?.body)).toContain('see @src/a.ts');
    expect(JSON.stringify(done.requests)).not.toContain('mentioned-file');
  });

  it('is attached over JSON lines, and not in a text that the client composed', async () => {
    const done = await drive({ files: FILES, script: ['one', 'two'] }, async (host) => {
      host.prompt('look at @src/a.ts');
      await host.next(isResult);
      host.prompt('look at @.env', { client_composed: true });
      await host.next(isResult);
      host.end();
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(userTexts(done.requests[0]?.body).at(-1)).toContain(SHOWN);
    expect(userTexts(done.requests[1]?.body).at(-1)).toBe('look at @.env');
  });

  it('is attached in a message that is sent while a turn runs', async () => {
    const isAssistant = (frame: Frame) => frame.type === 'assistant';
    const command = 'until [ -e go ]; do sleep 0.02; done';
    const done = await drive(
      {
        files: FILES,
        args: ['--allowedTools', 'Bash'],
        script: [{ tool: 'Bash', input: { command, timeout: 10_000 } }, 'saw it'],
      },
      async (host) => {
        host.prompt('FIRST');
        const { cwd } = await host.next((frame) => frame.subtype === 'init');
        await host.next(isAssistant);
        host.prompt('look at @src/a.ts too');
        host.prompt('and at @.env', { isSynthetic: true });
        // Answered in order: once this is back, the prompts before it have been read.
        await host.request({ subtype: 'mcp_status' });
        writeFileSync(path.join(String(cwd), 'go'), '');
        await host.next(isResult);
        host.end();
      },
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.requests).toHaveLength(2);
    const texts = userTexts(done.requests[1]?.body);
    const at = texts.indexOf('look at @src/a.ts too');
    expect(texts[at + 1]).toContain(SHOWN);
    expect(texts).toContain('and at @.env');
    expect(JSON.stringify(done.requests)).not.toContain('SECRET');
  });

  it('that lies elsewhere is the host to allow', async () => {
    const asks = (frame: Frame) => frame.type === 'control_request';
    const done = await drive(
      {
        home: { 'note.txt': 'A NOTE' },
        args: ['--permission-prompt-tool', 'stdio'],
        script: ['one'],
      },
      async (host) => {
        host.prompt('look at @~/note.txt');
        const question = await host.next(asks);
        expect(question).toMatchObject({ request: { subtype: 'can_use_tool', tool_name: 'Read' } });
        host.answer(question, { behavior: 'allow' });
        await host.next(isResult);
        host.end();
      },
    );
    expect(userTexts(done.requests[0]?.body).at(-1)).toContain('1\tA NOTE');
  });
});
