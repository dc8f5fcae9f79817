import { openTranscripts, projectKeyOf } from '../../app.js';
import { isRecord } from '../../lib/own.js';
import { ellipsis } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import { contextText } from '../../project/context-text.js';
import { VERSION } from '../../version.js';
import type { CommandChoice } from '../events.js';
import { recentSessions, type SessionSummary } from '../session-summary.js';
import { type CommandContext, defineCommand, failed, text } from './command.js';

export const clear = defineCommand({
  name: 'clear',
  aliases: ['reset', 'new'],
  summary: 'Start a new conversation',
  needsIdle: true,
  async run({ session, runner }) {
    const before = session.id;
    await runner.clear();
    return text(`New conversation. /resume ${before} returns to the one before.`);
  },
});

const MAX_SESSIONS = 20;

export const resume = defineCommand({
  name: 'resume',
  aliases: ['continue'],
  summary: 'Continue an earlier conversation of this directory',
  argumentHint: '[id]',
  argumentFrom: 'client',
  needsIdle: true,
  complete: async (context) =>
    (await sessionsOf(context)).map(({ sessionId, summary }) => ({
      text: sessionId,
      description: visible(summary),
    })),
  async run(context, argument) {
    if (argument !== '') {
      const { env, session, runner } = context;
      const found = await openTranscripts(env).find(argument, projectKeyOf(session.info().cwd));
      // The open conversation is closed for it: it has to be there.
      if (found === undefined) {
        return failed(`There is no conversation ${visible(argument)} here. /resume lists them.`);
      }
      await runner.resume(argument);
      return text('');
    }
    const sessions = await sessionsOf(context);
    if (sessions.length === 0) return text('This directory has no other conversation.');
    return { text: 'Conversations of this directory:', choices: sessions.map(sessionChoice) };
  },
});

async function sessionsOf({ session, env }: CommandContext): Promise<readonly SessionSummary[]> {
  const recent = await recentSessions(env, session.info().cwd, MAX_SESSIONS);
  return recent.filter(({ sessionId }) => sessionId !== session.id);
}

function sessionChoice({
  sessionId,
  summary,
  lastModified,
  gitBranch,
}: SessionSummary): CommandChoice {
  const time = new Date(lastModified).toISOString().replace('T', ' ').slice(0, 16);
  const branch = gitBranch === undefined ? '' : ` · ${visible(gitBranch)}`;
  return {
    label: visible(ellipsis(summary.replace(/\s+/g, ' '), 100)),
    description: `${time}${branch}`,
    line: `/resume ${sessionId}`,
  };
}

export const compact = defineCommand({
  name: 'compact',
  summary: 'Summarise the conversation so far',
  argumentHint: '[what to keep in mind]',
  needsIdle: true,
  async run({ session }, argument) {
    const isDone = await session.compact(argument === '' ? undefined : argument);
    // The session itself reports how it went.
    return isDone ? text('') : { text: '', failed: true };
  },
});

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

const INIT_PROMPT = `Look at this project and write a first instruction file for coding agents.
Name it AGENTS.md, unless the project already has a CLAUDE.md: then improve that one. Keep it under 60 lines:
how to build, test and lint (the exact commands, and how to run a single test), the layout of the code,
the conventions that are not obvious from a single file. Take over what README and existing agent
instructions say where it matters. Invent nothing: leave out what you could not verify in the files.`;

export const init = defineCommand({
  name: 'init',
  summary: 'Let the model write a first AGENTS.md for this project',
  async run({ runner }, argument) {
    runner.prompt(argument === '' ? INIT_PROMPT : `${INIT_PROMPT}\nAlso: ${argument}`);
    return text('');
  },
});

export const exit = defineCommand({
  name: 'exit',
  aliases: ['quit'],
  summary: 'Leave',
  run: async () => ({ text: '', exit: true }),
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
