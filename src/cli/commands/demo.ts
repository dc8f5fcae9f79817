import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSession } from '../../app.js';
import type { Turn } from '../../client/events.js';
import { TurnRunner } from '../../client/turn-runner.js';
import { systemClock } from '../../platform/clock.js';
import { encode, encodePlain, type Line } from '../../tui/screen/line.js';
import { TERMINAL_COLOURS } from '../../tui/screen/theme.js';
import { SessionView } from '../../tui/session-view.js';
import type { CommandSpec } from '../command.js';

/** Runs the whole runtime on a sample project: real files, processes and decisions, a scripted model. */
export const command: CommandSpec = {
  summary: 'Run a scripted session in a temporary project, without a key.',
  options: [{ flags: '--quiet', description: 'Leave out how to go on with a real model.' }],
  async run({ options, output }) {
    const root = mkdtempSync(path.join(tmpdir(), 'portcullis-demo-'));
    try {
      const project = makeProject(root);
      const isColoured = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
      const bytes = (row: Line): string =>
        isColoured ? encode(row, TERMINAL_COLOURS) : encodePlain(row);
      const now = (): number => performance.now();
      const view = new SessionView({ readText: () => undefined, now });
      output.out(
        `Portcullis, with a scripted model (no key, no network), in the sample project ${project}\n`,
      );
      const decisions: string[] = [];
      const env = {
        ...process.env,
        CLAUDE_CONFIG_DIR: path.join(root, 'config'),
        PORTCULLIS_HOME: path.join(root, 'state'),
      };
      const runner = new TurnRunner({
        env,
        clock: systemClock,
        open: ({ emit }) =>
          openSession({
            cwd: project,
            env,
            emit,
            entrypoint: 'portcullis-demo',
            script: path.join(root, 'script.json'),
            allowedTools: ['Bash(node --test *)'],
            permissionMode: 'acceptEdits',
            trust: false,
            persist: true,
            fork: false,
            start: { kind: 'new', id: undefined },
          }),
      });
      let last: Turn | undefined;
      let transcript = '';
      runner.log.subscribe(({ event }) => {
        if (event.type === 'opened') transcript = event.info.transcriptPath;
        else if (event.type === 'turn_finished') last = event.turn.run;
        else if (event.type === 'decision') {
          const { decision, tool, reason } = event.receipt;
          const word = decision === 'allow' ? 'allowed' : 'refused';
          decisions.push(`  ${word}  ${tool.padEnd(5)} ${reason}`);
        }
        if (event.type !== 'stream') view.follow(event);
        const rows = view.conversation.take({ columns: 100, now: now() });
        output.out(rows.map((row) => `${bytes(row)}\n`).join(''));
      });
      const content = [{ type: 'text' as const, text: DEMO_PROMPT }];
      runner.push({
        message: { uuid: systemClock.uuid(), content },
        priority: 'next',
        named: false,
      });
      runner.endInput();
      await runner.run();
      output.out(`\nWhy each call was allowed or refused\n${decisions.join('\n')}\n`);
      output.out(
        `\n${last?.outcome.turns ?? 0} model calls, ${last?.denials.length ?? 0} refused; the transcript was ${path.basename(transcript)} in the session log.\n`,
      );
      if (options.quiet !== true) output.out(await nextSteps());
      return last?.outcome.reason.kind === 'completed' ? 0 : 1;
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};

function makeProject(root: string): string {
  const project = path.join(root, 'sample');
  mkdirSync(project);
  for (const [name, text] of Object.entries(SAMPLE_FILES))
    writeFileSync(path.join(project, name), text);
  writeFileSync(
    path.join(root, 'script.json'),
    JSON.stringify(DEMO_REPLIES).replaceAll('{{DIR}}', project),
  );
  return project;
}

async function nextSteps(): Promise<string> {
  const { discoverLocalServers } = await import('../../model/catalog/discover.js');
  const found = await discoverLocalServers();
  const local = found.map(
    (server) =>
      `  OPENAI_BASE_URL=${server.baseUrl} npm start -- --model ${server.models[0] ?? '<model>'}   # ${server.name}, running here`,
  );
  return `
With a real model
  ANTHROPIC_API_KEY=…  npm start                                  # a conversation
  ANTHROPIC_API_KEY=…  npm start -- -p "what does this project do?"
  OPENAI_BASE_URL=http://127.0.0.1:11434/v1 npm start -- --model <model>   # Ollama, llama.cpp, vLLM, OpenRouter …
${local.length === 0 ? '' : `${local.join('\n')}\n`}`;
}

/** The sample project of the demonstration: a small program with one wrong line and its test. */
const SAMPLE_FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "sample", "type": "module", "private": true }\n',
  'CLAUDE.md': 'Run the tests with `node --test` after every change.\n',
  'price.js': `// Price of an order: a tenth off from ten pieces on.
export function price(pieces, each) {
  const total = pieces * each;
  return pieces > 10 ? total * 0.9 : total;
}
`,
  'price.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { price } from './price.js';

test('nine pieces cost nine times one', () => assert.equal(price(9, 2), 18));
test('ten pieces are a tenth cheaper', () => assert.equal(price(10, 2), 18));
`,
};

const DEMO_PROMPT = 'The test for ten pieces fails. Find out why and mend it.';

/** Only the counts, because the text before them differs between versions of Node. */
const RUN_TESTS = 'node --test 2>&1 | grep -oE "(pass|fail) [0-9]+"';

/** What the scripted model says, reply by reply. `{{DIR}}` is the sample project. */
const DEMO_REPLIES: readonly unknown[] = [
  {
    blocks: [
      { text: 'I look at the code and run the tests.' },
      { tool: 'Grep', input: { pattern: 'price\\(', output_mode: 'content' } },
      { tool: 'Read', input: { file_path: '{{DIR}}/price.js' } },
      {
        tool: 'Bash',
        input: {
          command: RUN_TESTS,
          description: 'Run the tests',
        },
      },
    ],
  },
  {
    blocks: [
      { text: 'The discount starts above ten pieces instead of at ten.' },
      {
        tool: 'Edit',
        input: {
          file_path: '{{DIR}}/price.js',
          old_string: 'pieces > 10',
          new_string: 'pieces >= 10',
        },
      },
    ],
  },
  {
    tool: 'Bash',
    input: {
      command: RUN_TESTS,
      description: 'Run the tests again',
    },
  },
  {
    blocks: [
      { text: 'Now a command that no rule allows, to show the gate:' },
      { tool: 'Bash', input: { command: 'git push --force origin main', description: 'Push' } },
    ],
  },
  'Mended: `price.js:4` compared with `>` instead of `>=`. Both tests pass. The push was refused, so nothing left this machine.',
];
