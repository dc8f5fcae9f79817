import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/testing/scenario.js';
import { drive, isResult } from '../e2e/host.js';
import { run, transcript, userTexts } from '../e2e/worlds.js';
import {
  allowBash,
  bash,
  command,
  context,
  type Handler,
  modelText,
  notices,
  on,
  onTool,
  requestText,
  says,
  specific,
  userHooks,
} from './e2e-rig.js';

/** Adds for the model, says something to the person, and prints on standard error besides. */
const talks = (event: string): Handler =>
  command(
    `${String(says({ systemMessage: `SYSTEM-${event}`, ...context(event, `CONTEXT-${event}`) }).command)}; echo "STDERR-${event}" >&2`,
  );

describe('additionalContext', () => {
  const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch'];

  it('reaches the model where it belongs; systemMessage and standard error never do', async () => {
    const groups = Object.fromEntries(EVENTS.map((event) => [event, on(talks(event))]));
    const done = await run({
      home: userHooks(groups),
      args: allowBash,
      script: [bash('echo hi'), 'end'],
    });
    const [first, second] = [requestText(done, 0), requestText(done, 1)];
    for (const event of ['SessionStart', 'UserPromptSubmit']) {
      expect(first.split(`CONTEXT-${event}`)).toHaveLength(2);
    }
    for (const event of ['PreToolUse', 'PostToolUse', 'PostToolBatch']) {
      expect(first).not.toContain(`CONTEXT-${event}`);
      expect(second.split(`CONTEXT-${event}`)).toHaveLength(2);
    }
    expect(modelText(done)).not.toContain('SYSTEM-');
    expect(modelText(done)).not.toContain('STDERR-');
    const told = notices(done).join('\n');
    for (const event of EVENTS) expect(told).toContain(`SYSTEM-${event}`);
    // What the model read stands in the transcript, for whoever goes on.
    for (const event of EVENTS) expect(transcript(done).text).toContain(`CONTEXT-${event}`);
  });

  it('of Stop sends the agent on with it, and is told as such once more', async () => {
    const oncePerRun = `[ -e "$HOME/said" ] || { touch "$HOME/said"; ${String(talks('Stop').command)}; }`;
    const done = await run({
      home: userHooks({ Stop: on(command(oncePerRun)) }),
      script: ['first', 'second'],
    });
    expect(done.result).toMatchObject({ result: 'second', num_turns: 1 });
    expect(requestText(done, 1)).toContain('CONTEXT-Stop');
    expect(modelText(done)).not.toContain('SYSTEM-Stop');
    expect(notices(done).join('\n')).toContain('SYSTEM-Stop');
  });

  it('of a hook that refuses reaches the model beside the refusal', async () => {
    const no = specific('PreToolUse', {
      permissionDecision: 'deny',
      permissionDecisionReason: 'REASON',
      additionalContext: 'BESIDE',
    });
    const done = await run({
      home: userHooks({ PreToolUse: on(says({ systemMessage: 'ASIDE', ...no })) }),
      script: [bash('echo hi'), 'end'],
    });
    expect(done.toolResult(0).text).toContain('REASON');
    expect(requestText(done, 1)).toContain('BESIDE');
    expect(modelText(done)).not.toContain('ASIDE');
  });

  it('plain text is context at SessionStart and UserPromptSubmit, and nowhere else', async () => {
    const events = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
    const groups = Object.fromEntries(events.map((event) => [event, on(says(`TEXT-${event}`))]));
    const done = await run({
      home: userHooks(groups),
      args: allowBash,
      script: [bash('echo hi'), 'end'],
    });
    expect(events.filter((event) => modelText(done).includes(`TEXT-${event}`))).toEqual([
      'SessionStart',
      'UserPromptSubmit',
    ]);
  });
});

describe('updatedToolOutput', () => {
  const REPLACEMENTS: Readonly<Record<string, unknown>> = {
    'a text': 'REDACTED',
    'an object': { stdout: 'REDACTED', stderr: '', interrupted: false, isImage: false },
  };

  it.each(Object.entries(REPLACEMENTS))(
    '%s takes the place of the output for model, stream and transcript',
    async (_name, updatedToolOutput) => {
      const replaces = says(specific('PostToolUse', { updatedToolOutput }));
      const done = await run({
        home: userHooks({ PostToolUse: onTool('Bash', replaces) }),
        files: { secret: 'ORIGINAL-SECRET' },
        args: [...allowBash, '--include-partial-messages'],
        script: [bash('cat secret'), 'end'],
      });
      expect(done.toolResult(0)).toMatchObject({ text: 'REDACTED', isError: false });
      expect(done.stdout).toContain('REDACTED');
      expect(transcript(done).text).toContain('REDACTED');
      for (const where of [modelText(done), done.stdout, done.stderr, ...filesIn(done)]) {
        expect(where).not.toContain('ORIGINAL-SECRET');
      }
    },
  );

  it('leaves nothing of a long output behind, which would have been kept in a file', async () => {
    const replaces = says(specific('PostToolUse', { updatedToolOutput: 'REDACTED' }));
    const done = await run({
      home: userHooks({ PostToolUse: onTool('Bash', replaces) }),
      files: { secret: 'ORIGINAL-SECRET\n'.repeat(20_000) },
      args: allowBash,
      script: [bash('cat secret'), 'end'],
    });
    expect(done.toolResult(0)).toMatchObject({ text: 'REDACTED', isError: false });
    for (const where of [modelText(done), done.stdout, ...filesIn(done)]) {
      expect(where.includes('ORIGINAL-SECRET')).toBe(false);
    }
  });

  it('of two hooks that want different ones is withheld, and so is the output', async () => {
    const wants = (text: string) => says(specific('PostToolUse', { updatedToolOutput: text }));
    const done = await run({
      home: userHooks({ PostToolUse: onTool('Bash', wants('ONE'), wants('TWO')) }),
      files: { secret: 'ORIGINAL-SECRET' },
      args: allowBash,
      script: [bash('cat secret'), 'end'],
    });
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.toolResult(0).text).toContain('its output is withheld');
    expect(modelText(done) + done.stdout).not.toContain('ORIGINAL-SECRET');
  });

  it('a hook that must look at the output first and fails, withholds it', async () => {
    const done = await run({
      home: userHooks({ PostToolUse: onTool('Bash', command('exit 5', { onFailure: 'block' })) }),
      files: { secret: 'ORIGINAL-SECRET' },
      args: allowBash,
      script: [bash('cat secret'), 'end'],
    });
    expect(done.toolResult(0).text).toMatch(
      /withheld: guard failed: .* \(exit-code, after \d+ ms\)/,
    );
    for (const where of [modelText(done), done.stdout, ...filesIn(done)]) {
      expect(where).not.toContain('ORIGINAL-SECRET');
    }
  });
});

/** The texts of everything that the program keeps about its sessions. */
function filesIn({ project }: { readonly project: { readonly home: string } }): readonly string[] {
  return ['.claude/projects', '.portcullis'].flatMap((place) => {
    const root = path.join(project.home, place);
    return (
      readdirSync(root, { recursive: true, withFileTypes: true })
        // The journal of changes holds the files of the project themselves, which is its purpose.
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('/checkpoints/'))
        .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
    );
  });
}

describe('CLAUDE_ENV_FILE', () => {
  it('gives later commands the variables of SessionStart and CwdChanged hooks, but not BASH_ENV', async () => {
    const leaves = (...lines: readonly string[]) =>
      command(lines.map((line) => `echo '${line}' >> "$CLAUDE_ENV_FILE"`).join('; '));
    const done = await run({
      home: {
        ...userHooks({
          SessionStart: on(
            leaves('export FROM_START="a b"', 'export BASH_ENV="$HOME/evil.sh"', 'echo() { :; }'),
          ),
          CwdChanged: on(leaves('export FROM_MOVE=moved')),
        }),
        'evil.sh': 'touch "$HOME/evil-was-here"',
      },
      files: { 'sub/x': '' },
      args: allowBash,
      script: [
        bash('echo "start=$FROM_START move=$FROM_MOVE bash=$BASH_ENV"'),
        bash('cd sub'),
        bash('echo "start=$FROM_START move=$FROM_MOVE"'),
        'end',
      ],
    });
    expect(done.toolResult(0).text).toBe('start=a b move= bash=');
    expect(done.toolResult(2).text).toBe('start=a b move=moved');
    expect(done.project.exists('../home/evil-was-here')).toBe(false);
    expect(notices(done).join('\n')).toMatch(/may not set these variables.*BASH_ENV/);
  });

  it('is not there for hooks of other events', async () => {
    const done = await run({
      home: userHooks({ PreToolUse: on(command('echo "<$CLAUDE_ENV_FILE>" >> "$HOME/file"')) }),
      env: { CLAUDE_ENV_FILE: '/tmp/inherited' },
      args: allowBash,
      script: [bash('cat "$HOME/file"'), 'end'],
    });
    expect(done.toolResult(0).text).toBe('<>');
  });
});

describe('a prompt', () => {
  it('is put in the place of another; the transcript keeps both', async () => {
    const replaces = says(specific('UserPromptSubmit', { updatedPrompt: 'THE BETTER PROMPT' }));
    const done = await run({
      home: userHooks({ UserPromptSubmit: on(replaces) }),
      prompt: 'THE TYPED PROMPT',
      script: ['end'],
    });
    expect(userTexts(done.requests[0]?.body)).toContain('THE BETTER PROMPT');
    expect(modelText(done)).not.toContain('THE TYPED PROMPT');
    expect(transcript(done).text).toContain('THE BETTER PROMPT');
    expect(transcript(done).text).toContain('THE TYPED PROMPT');
    const next = await run({ world: done.world, args: ['--continue'], script: ['end'] });
    expect(modelText(next)).not.toContain('THE TYPED PROMPT');
  });

  it('that two hooks want different is blocked, and so is one that a hook refuses', async () => {
    const wants = (text: string) => says(specific('UserPromptSubmit', { updatedPrompt: text }));
    const cases: readonly (readonly Handler[])[] = [
      [wants('one'), wants('two')],
      [says({ decision: 'block', reason: 'NOT TODAY' })],
      [command('echo "NOT TODAY" >&2; exit 2')],
    ];
    for (const handlers of cases) {
      const done = await run({
        home: userHooks({ UserPromptSubmit: on(...handlers) }),
        script: ['never'],
      });
      expect(done.requests).toEqual([]);
      expect(done.result).toMatchObject({ terminal_reason: 'prompt_blocked' });
      expect(done.result?.result).toMatch(/NOT TODAY|two hooks want different prompts/);
    }
  });
});

describe('a summary', () => {
  it('is made with the words of PreCompact hooks, and keeps what they preserve', async () => {
    const done = await compacted({
      PreCompact: on(
        says('MIND THE TESTS'),
        says(specific('PreCompact', { preserve: ['KEEP THIS AS IT IS'] })),
      ),
    });
    expect(requestText(done, 1)).toContain('MIND THE TESTS');
    expect(requestText(done, 1)).toContain('what I name');
    expect(requestText(done, 2)).toContain('KEEP THIS AS IT IS');
    expect(requestText(done, 2)).toContain('THE SUMMARY');
  });

  it('is not made when a PreCompact hook says no', async () => {
    const no = command('echo "NOT NOW" >&2; exit 2');
    const done = await compacted({ PreCompact: on(no) }, ['one', 'three']);
    expect(requestText(done, 1)).toContain('hello');
    expect(done.frames.filter(isResult)[1]?.result).toContain('NOT NOW');
  });
});

/** A prompt, `/compact`, and another prompt. */
function compacted(
  hooks: Parameters<typeof userHooks>[0],
  script: NonNullable<Scenario['script']> = ['one', '<summary>THE SUMMARY</summary>', 'three'],
) {
  return drive({ home: userHooks(hooks), script }, async (host) => {
    for (const prompt of ['hello', '/compact what I name', 'go on']) {
      host.prompt(prompt);
      await host.next(isResult);
    }
    host.end();
  });
}
