import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../env/clock.js';
import { PortcullisError } from '../../errors.js';
import { openSession } from '../../harness.js';
import { visible } from '../../util/visible.js';
import type { Output } from '../output.js';
import { createRenderer } from '../render.js';
import { readArguments } from './arguments.js';
import { DEMO_PROMPT, DEMO_REPLIES, SAMPLE_FILES } from './demo-script.js';

export const USAGE = 'portcullis demo [--quiet]';

/**
 * The whole runtime on a project of its own, with the scripted model: real files, real processes,
 * the real gate. Everything it makes is removed at the end.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['quiet'] });
  if (words.length > 0) {
    throw new PortcullisError('usage', `demo takes no "${visible(words[0] ?? '')}"`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const root = mkdtempSync(path.join(tmpdir(), 'portcullis-demo-'));
  try {
    const project = makeProject(root);
    const show = createRenderer({
      colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
      width: 100,
    });
    output.out(
      `Portcullis, with a scripted model (no key, no network), in the sample project ${project}\n\n> ${DEMO_PROMPT}\n\n`,
    );
    const decisions: string[] = [];
    const session = await openSession({
      cwd: project,
      env: {
        ...process.env,
        CLAUDE_CONFIG_DIR: path.join(root, 'config'),
        PORTCULLIS_HOME: path.join(root, 'state'),
      },
      entrypoint: 'portcullis-demo',
      script: path.join(root, 'script.json'),
      allowedTools: ['Bash(node --test *)'],
      permissionMode: 'acceptEdits',
      trust: false,
      persist: true,
      fork: false,
      start: { kind: 'new', id: undefined },
      emit(event) {
        if (event.type === 'decision') {
          const { receipt } = event;
          decisions.push(
            `  ${receipt.decision === 'allow' ? 'allowed' : 'refused'}  ${receipt.tool.padEnd(5)} ${receipt.reason}`,
          );
        }
        const text = show(event);
        if (text !== undefined && text !== '') output.out(`${text}\n`);
      },
    });
    const run = await session.run([
      { uuid: systemClock.uuid(), content: [{ type: 'text', text: DEMO_PROMPT }] },
    ]);
    const transcript = session.info().transcriptPath;
    await session.close();
    output.out(`\nWhy each call was allowed or refused\n${decisions.join('\n')}\n`);
    output.out(
      `\n${run.outcome.turns} model calls, ${run.denials.length} refused; the transcript was ${path.basename(transcript)} in the session log.\n`,
    );
    if (!switches.has('quiet')) output.out(await nextSteps());
    return run.outcome.reason.kind === 'completed' ? 0 : 1;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

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
  const { discoverLocalServers } = await import('../../model/discover.js');
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
