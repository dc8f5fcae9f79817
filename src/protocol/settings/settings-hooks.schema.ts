import { z } from 'zod';
import { flag, list, open, text } from '../declare.schema.js';
import { HOOK_DEFINITIONS } from '../hooks/hook-events.schema.js';
import { anything, convenience, key } from './setting-key.schema.js';

/** What describes a hook or a group of hooks. */
const metadata = {
  enabled: convenience(flag, 'False switches it off.'),
  continueOnError: convenience(flag, 'Without effect; onFailure says what a failure means.'),
  name: convenience(text, 'For people.'),
  description: convenience(text, 'For people.'),
  id: convenience(anything, 'For people.'),
  priority: convenience(anything, 'For people: all hooks are asked at the same time.'),
  version: convenience(anything, 'For people.'),
  author: convenience(anything, 'For people.'),
  rewakeMessage: convenience(anything, 'Of other programs, without effect.'),
  rewakeSummary: convenience(anything, 'Of other programs, without effect.'),
};

const commonHandler = {
  if: key(text, 'One permission rule; the hook runs only for calls that it fits.'),
  timeout: key(z.number().positive(), 'Seconds until the hook counts as failed.'),
  statusMessage: key(text, 'Shown while the hook runs.'),
  once: key(flag, 'Runs at most once in a session.'),
  ...metadata,
};
const onFailure = key(
  z.enum(['block', 'continue']),
  'What it means when the hook fails: refuse, or go on.',
);

const handler = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('command'),
    command: text,
    args: key(list, 'Arguments; the command is then started without a shell.'),
    shell: key(z.enum(['bash', 'powershell']), 'The shell of a command without args.'),
    async: key(flag, 'Runs beside the session and decides nothing.'),
    asyncRewake: key(flag, 'As async; exit code 2 wakes the model.'),
    persistent: key(
      flag,
      'One process for all calls of the session: each input is one line of JSON on its standard input, each answer one line on its standard output. Not together with async, asyncRewake or once.',
    ),
    allowedEnvVars: key(list, 'Variables that pass although they look secret.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('http'),
    url: text,
    headers: key(z.record(z.string(), z.string()), 'Headers; $NAME only for listed variables.'),
    allowedEnvVars: key(list, 'Variables that headers may use.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('mcp_tool'),
    server: text,
    tool: text,
    input: key(open, 'Input of the tool.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('prompt'),
    prompt: text,
    model: key(text, 'The model that is asked.'),
    continueOnBlock: key(flag, 'A no refuses the call and lets the turn go on.'),
    onFailure,
    ...commonHandler,
  }),
  z.strictObject({
    type: z.literal('agent'),
    prompt: text,
    model: key(text, 'The model of the agent.'),
    onFailure,
    ...commonHandler,
  }),
]);

/** A handler as settings declare it, once it has been checked. */
export type HandlerSettings = z.infer<typeof handler>;

const hookGroup = z.strictObject({
  matcher: key(text, 'Names, a list a|b, or a regular expression; absent or * for all.'),
  agents: key(
    text,
    'Only for these agents: a pattern over agent paths or types (main, main/*, **/reviewer#*, reviewer).',
  ),
  hooks: z.array(handler),
  ...metadata,
});

export const eventNames = Object.keys(HOOK_DEFINITIONS) as [string, ...string[]];
export const hooks = z.partialRecord(z.enum(eventNames), z.array(hookGroup));
