// What every example stands on: a throw-away project and a scripted model behind real HTTP, so that each of
// them runs without a key and without a network. With a real model, leave it out and pass your own `cwd`.
import { makeTempProject, startFakeModelServer } from 'portcullis/testing';

/**
 * `script` is what the model answers, in order; `actors` where several agents are played. `options` are
 * for `query`; `close` removes everything.
 */
export async function stage({ files = {}, home = {}, script, actors }) {
  const model = await startFakeModelServer(actors === undefined ? { script } : { actors });
  const project = makeTempProject({ files, home });
  return {
    project,
    model,
    options: {
      cwd: project.directory,
      model: 'claude-sonnet-4-5',
      env: {
        PATH: process.env.PATH,
        HOME: project.home,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'not-a-key',
      },
    },
    async close() {
      await model.close();
      project.remove();
    },
  };
}

/** All messages of a query, and its last result. */
export async function all(query) {
  const messages = [];
  for await (const message of query) messages.push(message);
  return { messages, result: messages.findLast(({ type }) => type === 'result') };
}

/** The texts of all tool results that the model was shown, in order. */
export function toolResults(model) {
  const { messages } = model.requests.at(-1).body;
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}
