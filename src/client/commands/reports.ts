import { isRecord } from '../../lib/own.js';
import { ellipsis } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { contextText } from '../../project/context-text.js';
import { VERSION } from '../../version.js';
import { type CommandContext, defineCommand, failed, text } from './command.js';

export const context = defineCommand({
  name: 'context',
  summary: 'Show what fills the context of the model',
  run: async ({ session }) =>
    text(`Context Usage\n${contextText(await session.context(), session.info().cwd)}`),
});

export const cost = defineCommand({
  name: 'cost',
  aliases: ['usage'],
  summary: 'Show tokens and cost so far',
  run: async ({ session }) => text(costText(session.accounts())),
});

export function costText({
  cost: { knownUsd, unknownModels },
  modelUsage,
  agents = [],
}: ReturnType<CommandContext['session']['accounts']>): string {
  const unknown =
    unknownModels.length === 0
      ? ''
      : `, plus an unknown amount for ${visible(unknownModels.join(', '))} (no price known)`;
  const models = Object.entries(modelUsage).map(([name, row]) => {
    const tokens = (field: string): string => {
      const count = isRecord(row) ? row[field] : undefined;
      return typeof count === 'number' ? count.toLocaleString('en-US') : '0';
    };
    return `  ${visible(name)}: ${tokens('inputTokens')} in, ${tokens('outputTokens')} out, ${tokens('cacheReadInputTokens')} cache read, ${tokens('cacheCreationInputTokens')} cache write`;
  });
  const rows = agents.map(({ agent, requests, cost_usd }) => {
    const price = typeof cost_usd === 'number' ? `$${cost_usd.toFixed(4)}` : 'price not known';
    return `  ${visible(String(agent))}: ${requests} calls, ${price}`;
  });
  return [
    `Total cost: $${knownUsd.toFixed(4)}${unknown}`,
    ...models,
    ...(rows.length === 0 ? [] : ['By agent:', ...rows]),
  ].join('\n');
}

export const status = defineCommand({
  name: 'status',
  summary: 'Show the session, its model, mode and directories',
  async run({ session, runner }) {
    const info = session.info();
    const connected = info.mcpServers.filter(({ status: one }) => one === 'connected').length;
    const rows: readonly (readonly [string, string])[] = [
      ['Portcullis', VERSION],
      ['session', info.sessionId],
      ['transcript', info.transcriptPath],
      ['directory', info.cwd],
      ...info.additionalDirectories.map((one) => ['also', one] as const),
      ['model', `${info.model} (${info.provider}, key: ${info.keySource})`],
      ['mode', info.mode],
      ['MCP servers', `${connected} of ${info.mcpServers.length} connected`],
      ['background', `${runner.tasks().length} running`],
      ['questions', `${runner.questions().length} open`],
      ['cost', `$${session.accounts().cost.knownUsd.toFixed(4)}`],
    ];
    return text(rows.map(([name, value]) => `${name.padEnd(12)} ${visible(value)}`));
  },
});

export const memory = defineCommand({
  name: 'memory',
  summary: 'Show the instruction files in force',
  async run({ session }) {
    const { loaded, waiting, skipped } = (await session.context()).instructions;
    if (loaded.length + waiting.length + skipped.length === 0) {
      return text('No instruction files. /init lets the model write a first one.');
    }
    const row = (path: string, facts: string): string => `  ${visible(path)}  (${visible(facts)})`;
    return text([
      ...(loaded.length === 0 ? [] : ['In force:']),
      ...loaded.map(({ path, scope, kind, parent }) =>
        row(path, parent === undefined ? `${scope} ${kind}` : `included by ${parent}`),
      ),
      ...(waiting.length === 0 ? [] : ['In force once a file is used that they are for:']),
      ...waiting.map(({ path, scope, kind, globs }) =>
        row(path, globs === undefined ? `${scope} ${kind}` : globs.join(', ')),
      ),
      ...(skipped.length === 0 ? [] : ['Not in force:']),
      ...skipped.map(({ path, reason }) => row(path, reason)),
    ]);
  },
});

export const agents = defineCommand({
  name: 'agents',
  summary: 'List the types of agents that can be started',
  async run({ session }) {
    const rows = await session.requests.agents();
    if (rows.length === 0) return failed('There are no agent types.');
    return text(
      rows.map(({ name, description, model, source, file }) => {
        const facts = [model, file ?? source].filter((one) => one !== undefined).join(', ');
        return `  ${visible(name)}  ${visible(ellipsis(description, 100))}  (${visible(facts)})`;
      }),
    );
  },
});

export const skills = defineCommand({
  name: 'skills',
  summary: 'List the skills that are offered',
  async run({ session }) {
    const [names, commands] = await Promise.all([
      session.requests.skills(),
      session.requests.commands(),
    ]);
    if (names.length === 0) return text('There are no skills.');
    return text(
      names.map((name) => {
        const typed = commands.find((one) => one.builtin !== true && one.name === name);
        if (typed === undefined) return `  ${visible(name)}  (only the model uses it)`;
        const hint = typed.argumentHint === '' ? '' : ` ${typed.argumentHint}`;
        return `  /${visible(`${name}${hint}`)}  ${visible(ellipsis(typed.description, 100))}`;
      }),
    );
  },
});
