import { z } from 'zod';
import { printedAs } from '../declare.schema.js';
import {
  ALL,
  context,
  count,
  defineHookEvent,
  flag,
  is,
  LOCAL,
  list,
  may,
  PLAIN,
  part,
  text,
  watchPaths,
} from './hook-event.schema.js';

const sessionTitle = may(text(), 'A new title for the session.');
const suppressPrompt = may(
  flag(),
  'With a block: the prompt is not repeated in what the person is shown.',
);
const backgroundTasks = may(
  z.array(
    part(
      'BackgroundTaskSummary',
      'Work that still runs.',
      z.looseObject({
        id: is(text(), 'The task.'),
        type: is(text(), 'What kind of work it is.'),
        status: is(text(), 'Its status.'),
        description: is(text(), 'What it is for.'),
        command: may(text(), 'The shell command.'),
        agent_type: may(text(), 'The type of the agent.'),
        server: may(text(), 'The MCP server.'),
        tool: may(text(), 'The tool.'),
        name: may(text(), 'The name it was given.'),
      }),
    ),
  ),
  'Work that still runs.',
);
const sessionCrons = may(
  z.array(
    part(
      'SessionCronSummary',
      'A prompt that waits for its time.',
      z.looseObject({
        id: is(text(), 'The entry.'),
        schedule: is(text(), 'When it is due.'),
        recurring: is(flag(), 'More than once.'),
        prompt: is(text(), 'What is then asked.'),
      }),
    ),
  ),
  'Prompts that wait for their time.',
);
const stop = {
  stop_hook_active: is(flag(), 'The agent goes on already because a hook said so.'),
  stop_hook_feedback: may(text(), 'What hooks said when they last sent the agent on.'),
  last_assistant_message: may(text(), 'The text of the last answer.'),
  background_tasks: backgroundTasks,
  session_crons: sessionCrons,
};
const task = {
  task_id: is(text(), 'The task.'),
  task_subject: is(text(), 'Its title.'),
  task_description: may(text(), 'What is to be done.'),
  teammate_name: may(text(), 'The teammate that has it.'),
  team_name: may(text(), 'Its team.'),
};
const GOES_ON = 'the agent goes on, with the reason as its next instruction';
const STOP = {
  stop_hook_active: false,
  last_assistant_message: 'All tests pass.',
  background_tasks: [],
  session_crons: [],
};
const TASK = {
  task_id: '1',
  task_subject: 'Write the parser',
  task_description: 'With tests for broken input',
};

/** Events of sessions, prompts and agents. */
export const SESSION_EVENTS = {
  SessionStart: defineHookEvent({
    role: 'observe',
    matcherField: 'source',
    kinds: LOCAL,
    textIsContext: true,
    setsEnvironment: true,
    when: 'when a session starts, is resumed, cleared, compacted or forked, before the first prompt',
    input: {
      source: is(
        z.enum(['startup', 'resume', 'clear', 'compact', 'fork']),
        'What made the session begin.',
      ),
      model: may(text(), 'The model.'),
      session_title: may(text(), 'The title of the session.'),
      seconds_since_last_response: may(z.number().min(0), 'On resume: how long it lay still.'),
      context_tokens: may(count(), 'On resume: tokens of the conversation.'),
      prompt_cache_likely_expired: may(flag(), 'On resume: the next request reads it all anew.'),
      estimated_cache_write_usd: may(z.number().min(0), 'On resume: what that may cost.'),
    },
    output: {
      ...context,
      initialUserMessage: may(text(), 'A prompt that is run before the first one of a person.'),
      sessionTitle,
      watchPaths,
      reloadSkills: may(flag(), 'Skills are read again.'),
    },
    sample: { source: 'startup', model: 'large-model' },
  }),
  Setup: defineHookEvent({
    role: 'observe',
    matcherField: 'trigger',
    kinds: LOCAL,
    textIsContext: true,
    setsEnvironment: true,
    when: 'once, when the program is run to prepare or to maintain a project',
    input: { trigger: is(z.enum(['init', 'maintenance']), 'Which of the two was asked for.') },
    output: context,
    sample: { trigger: 'init' },
  }),
  InstructionsLoaded: defineHookEvent({
    role: 'observe',
    matcherField: 'load_reason',
    kinds: PLAIN,
    when: 'when a file of instructions or rules is added to the context',
    input: {
      file_path: is(text(), 'The file.'),
      memory_type: is(z.enum(['User', 'Project', 'Local', 'Managed']), 'Whose file it is.'),
      load_reason: is(
        z.enum(['session_start', 'nested_traversal', 'path_glob_match', 'include', 'compact']),
        'Why it was loaded.',
      ),
      globs: may(list(), 'The patterns of a rule file.'),
      trigger_file_path: may(text(), 'The file whose use made it load.'),
      parent_file_path: may(text(), 'The file that includes it.'),
    },
    sample: {
      file_path: '/project/CLAUDE.md',
      memory_type: 'Project',
      load_reason: 'session_start',
    },
  }),
  UserPromptSubmit: defineHookEvent({
    role: 'gate',
    kinds: ALL,
    textIsContext: true,
    timeoutMs: 30_000,
    noEndsTurn: 'always',
    when: 'when a prompt was submitted, before the model reads it',
    no: 'the prompt is dropped; the person reads the reason',
    input: {
      prompt: is(text(), 'The prompt.'),
      source: may(
        z.enum(['user', 'sdk', 'system', 'loop_wakeup', 'schedule_wakeup', 'poll_event']),
        'Who sent it.',
      ),
      session_title: may(text(), 'The title of the session.'),
    },
    output: {
      ...context,
      updatedPrompt: may(
        text(),
        'What the model reads in its place; the transcript keeps both. Ours.',
      ),
      sessionTitle,
      suppressOriginalPrompt: suppressPrompt,
    },
    sample: { prompt: 'Add a test for the parser', source: 'user' },
  }),
  UserPromptExpansion: defineHookEvent({
    role: 'gate',
    matcherField: 'command_name',
    kinds: ALL,
    textIsContext: true,
    noEndsTurn: 'always',
    when: 'when a typed command, skill or MCP prompt expands',
    no: 'it does not expand',
    input: {
      expansion_type: is(z.enum(['slash_command', 'mcp_prompt']), 'What expands.'),
      command_name: is(text(), 'Its name.'),
      command_args: is(text(), 'What stood after the name.'),
      command_source: may(text(), 'Where it is declared.'),
      prompt: is(text(), 'The prompt as typed.'),
    },
    output: { ...context, suppressOriginalPrompt: suppressPrompt },
    sample: {
      expansion_type: 'slash_command',
      command_name: 'review',
      command_args: 'src/parser.ts',
      command_source: 'project',
      prompt: '/review src/parser.ts',
    },
  }),
  MessageDisplay: defineHookEvent({
    role: 'observe',
    kinds: PLAIN,
    timeoutMs: 10_000,
    when: 'when text of the model is about to be shown',
    input: {
      turn_id: is(text(), 'The turn.'),
      message_id: is(text(), 'The message.'),
      index: is(count(), 'Which batch of the message, from 0.'),
      final: is(flag(), 'It is the last batch.'),
      delta: is(text(), 'The text that is about to be shown.'),
    },
    output: {
      displayContent: may(text(), 'What the screen shows in its place; the model does not see it.'),
    },
    sample: {
      turn_id: 'turn_sample',
      message_id: 'msg_sample',
      index: 0,
      final: true,
      delta: 'All tests pass.',
    },
  }),
  Notification: defineHookEvent({
    role: 'observe',
    matcherField: 'notification_type',
    kinds: PLAIN,
    when: 'when the attention of a person is wanted',
    input: {
      message: is(text(), 'What is said.'),
      title: may(text(), 'Its title.'),
      notification_type: is(
        text(),
        '`permission_prompt`: a question is open for 6 seconds. `idle_prompt`: the terminal has waited 60 seconds for a prompt. `elicitation_dialog`, `elicitation_url_dialog`, `elicitation_response`: an MCP server asks, and is answered.',
      ),
    },
    output: context,
    sample: {
      message: 'A question about Bash is waiting for an answer',
      notification_type: 'permission_prompt',
    },
  }),
  SubagentStart: defineHookEvent({
    role: 'observe',
    matcherField: 'agent_type',
    kinds: PLAIN,
    when: 'when a subagent starts, before its first request',
    input: {
      agent_id: is(text(), 'The subagent.'),
      agent_type: is(text(), 'Its type.'),
    },
    output: { additionalContext: may(text(), 'For the subagent.') },
    sample: { agent_id: 'agent_sample', agent_type: 'reviewer' },
  }),
  SubagentStop: defineHookEvent({
    role: 'block',
    matcherField: 'agent_type',
    kinds: ALL,
    failureNeverBlocks: true,
    takesImpossible: true,
    when: 'when a subagent is about to finish',
    no: GOES_ON,
    input: {
      ...stop,
      agent_id: is(text(), 'The subagent.'),
      agent_type: is(text(), 'Its type.'),
      agent_transcript_path: is(text(), 'Its own transcript.'),
    },
    output: { additionalContext: may(text(), 'For the subagent, which then goes on.') },
    sample: {
      ...STOP,
      agent_id: 'agent_sample',
      agent_type: 'reviewer',
      agent_transcript_path: '/transcripts/agent_sample.jsonl',
    },
  }),
  Stop: defineHookEvent({
    role: 'block',
    kinds: ALL,
    failureNeverBlocks: true,
    takesImpossible: true,
    when: 'when the main agent is about to finish; not after an interrupt or an error of the model',
    no: GOES_ON,
    note: '`additionalContext` makes it go on as well. A hook that sees `stop_hook_active` should let it end.',
    input: stop,
    output: { additionalContext: may(text(), 'For the model, which then goes on.') },
    sample: STOP,
  }),
  StopFailure: defineHookEvent({
    role: 'observe',
    matcherField: 'error',
    kinds: PLAIN,
    when: 'in place of Stop, when an error of the model ended the turn',
    input: {
      error: is(
        printedAs('SDKAssistantMessageError', text()),
        '`rate_limit`, `overloaded`, `authentication_failed`, `server_error` …',
      ),
      error_details: may(text(), 'What the provider said.'),
      last_assistant_message: may(text(), 'The text of the last answer.'),
    },
    sample: { error: 'overloaded', error_details: 'The provider is overloaded' },
  }),
  TaskCreated: defineHookEvent({
    role: 'block',
    kinds: ALL,
    when: 'when a task is put on the list',
    no: 'the task is taken off again; the model reads the reason',
    input: task,
    sample: TASK,
  }),
  TaskCompleted: defineHookEvent({
    role: 'block',
    kinds: ALL,
    failureNeverBlocks: true,
    when: 'when a task is marked as completed',
    no: 'it stays open; the model reads the reason',
    input: task,
    sample: TASK,
  }),
  TeammateIdle: defineHookEvent({
    role: 'block',
    kinds: ALL,
    failureNeverBlocks: true,
    noEndsTurn: 'prompt',
    when: 'when a teammate is about to rest',
    no: 'it goes on working',
    input: {
      teammate_name: is(text(), 'The teammate.'),
      team_name: is(text(), 'Its team.'),
    },
    sample: { teammate_name: 'tester', team_name: 'release' },
  }),
};
