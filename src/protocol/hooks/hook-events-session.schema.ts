import { z } from 'zod';
import { flag, list, printedAs, text, words } from '../declare.schema.js';
import {
  ALL,
  block,
  context,
  count,
  gate,
  is,
  LOCAL,
  may,
  observe,
  PLAIN,
  part,
  watchPaths,
} from './hook-event.schema.js';

const sessionTitle = may(text, 'A new title for the session.');
const suppressPrompt = may(
  flag,
  'With a block: the prompt is not repeated in what the person is shown.',
);
const backgroundTasks = may(
  z.array(
    part(
      'BackgroundTaskSummary',
      'Work that still runs.',
      z.looseObject({
        id: is(text, 'The task.'),
        type: is(text, 'What kind of work it is.'),
        status: is(text, 'Its status.'),
        description: is(text, 'What it is for.'),
        command: may(text, 'The shell command.'),
        agent_type: may(text, 'The type of the agent.'),
        server: may(text, 'The MCP server.'),
        tool: may(text, 'The tool.'),
        name: may(text, 'The name it was given.'),
      }),
    ),
  ),
  'Work that still runs.',
  [],
);
const sessionCrons = may(
  z.array(
    part(
      'SessionCronSummary',
      'A prompt that waits for its time.',
      z.looseObject({
        id: is(text, 'The entry.'),
        schedule: is(text, 'When it is due.'),
        recurring: is(flag, 'More than once.'),
        prompt: is(text, 'What is then asked.'),
      }),
    ),
  ),
  'Prompts that wait for their time.',
  [],
);
const stop = {
  stop_hook_active: is(flag, 'The agent goes on already because a hook said so.', false),
  stop_hook_feedback: may(text, 'What hooks said when they last sent the agent on.'),
  last_assistant_message: may(text, 'The text of the last answer.', 'All tests pass.'),
  background_tasks: backgroundTasks,
  session_crons: sessionCrons,
};
const task = {
  task_id: is(text, 'The task.', '1'),
  task_subject: is(text, 'Its title.', 'Write the parser'),
  task_description: may(text, 'What is to be done.', 'With tests for broken input'),
  teammate_name: may(text, 'The teammate that has it.'),
  team_name: may(text, 'Its team.'),
};
const GOES_ON = 'the agent goes on, with the reason as its next instruction';
/** Events of sessions, prompts and agents. */
export const SESSION_EVENTS = {
  SessionStart: observe({
    matcherField: 'source',
    kinds: LOCAL,
    textIsContext: true,
    setsEnvironment: true,
    when: 'when a session starts, is resumed, cleared, compacted or forked, before the first prompt',
    input: {
      source: is(
        words('startup resume clear compact fork'),
        'What made the session begin.',
        'startup',
      ),
      model: may(text, 'The model.', 'large-model'),
      session_title: may(text, 'The title of the session.'),
      seconds_since_last_response: may(z.number().min(0), 'On resume: how long it lay still.'),
      context_tokens: may(count, 'On resume: tokens of the conversation.'),
      prompt_cache_likely_expired: may(flag, 'On resume: the next request reads it all anew.'),
      estimated_cache_write_usd: may(z.number().min(0), 'On resume: what that may cost.'),
    },
    output: {
      ...context,
      initialUserMessage: may(text, 'A prompt that is run before the first one of a person.'),
      sessionTitle,
      watchPaths,
      reloadSkills: may(flag, 'Skills are read again.'),
    },
  }),
  Setup: observe({
    matcherField: 'trigger',
    kinds: LOCAL,
    textIsContext: true,
    setsEnvironment: true,
    when: 'once, when the program is run to prepare or to maintain a project',
    input: {
      trigger: is(words('init maintenance'), 'Which of the two was asked for.', 'init'),
    },
    output: context,
  }),
  InstructionsLoaded: observe({
    matcherField: 'load_reason',
    kinds: PLAIN,
    when: 'when a file of instructions or rules is added to the context',
    input: {
      file_path: is(text, 'The file.', '/project/CLAUDE.md'),
      memory_type: is(words('User Project Local Managed'), 'Whose file it is.', 'Project'),
      load_reason: is(
        words('session_start nested_traversal path_glob_match include compact'),
        'Why it was loaded.',
        'session_start',
      ),
      globs: may(list, 'The patterns of a rule file.'),
      trigger_file_path: may(text, 'The file whose use made it load.'),
      parent_file_path: may(text, 'The file that includes it.'),
    },
  }),
  UserPromptSubmit: gate({
    kinds: ALL,
    textIsContext: true,
    timeoutMs: 30_000,
    noEndsTurn: 'always',
    when: 'when a prompt was submitted, before the model reads it',
    no: 'the prompt is dropped; the person reads the reason',
    input: {
      prompt: is(text, 'The prompt.', 'Add a test for the parser'),
      source: may(
        words('user sdk system loop_wakeup schedule_wakeup poll_event'),
        'Who sent it.',
        'user',
      ),
      session_title: may(text, 'The title of the session.'),
    },
    output: {
      ...context,
      updatedPrompt: may(
        text,
        'What the model reads in its place; the transcript keeps both. Ours.',
      ),
      sessionTitle,
      suppressOriginalPrompt: suppressPrompt,
    },
  }),
  UserPromptExpansion: gate({
    matcherField: 'command_name',
    kinds: ALL,
    textIsContext: true,
    noEndsTurn: 'always',
    when: 'when a typed command, skill or MCP prompt expands',
    no: 'it does not expand',
    input: {
      expansion_type: is(words('slash_command mcp_prompt'), 'What expands.', 'slash_command'),
      command_name: is(text, 'Its name.', 'review'),
      command_args: is(text, 'What stood after the name.', 'src/parser.ts'),
      command_source: may(text, 'Where it is declared.', 'project'),
      prompt: is(text, 'The prompt as typed.', '/review src/parser.ts'),
    },
    output: { ...context, suppressOriginalPrompt: suppressPrompt },
  }),
  MessageDisplay: observe({
    kinds: PLAIN,
    timeoutMs: 10_000,
    when: 'when text of the model is about to be shown',
    input: {
      turn_id: is(text, 'The turn.', 'turn_sample'),
      message_id: is(text, 'The message.', 'msg_sample'),
      index: is(count, 'Which batch of the message, from 0.', 0),
      final: is(flag, 'It is the last batch.', true),
      delta: is(text, 'The text that is about to be shown.', 'All tests pass.'),
    },
    output: {
      displayContent: may(text, 'What the screen shows in its place; the model does not see it.'),
    },
  }),
  Notification: observe({
    matcherField: 'notification_type',
    kinds: PLAIN,
    when: 'when the attention of a person is wanted',
    input: {
      message: is(text, 'What is said.', 'A question about Bash is waiting for an answer'),
      title: may(text, 'Its title.'),
      notification_type: is(
        text,
        '`permission_prompt`: a question is open for 6 seconds. `idle_prompt`: the terminal has waited 60 seconds for a prompt. `elicitation_dialog`, `elicitation_url_dialog`, `elicitation_response`: an MCP server asks, and is answered.',
        'permission_prompt',
      ),
    },
    output: context,
  }),
  SubagentStart: observe({
    matcherField: 'agent_type',
    kinds: PLAIN,
    when: 'when a subagent starts, before its first request',
    input: {
      agent_id: is(text, 'The subagent.', 'agent_sample'),
      agent_type: is(text, 'Its type.', 'reviewer'),
    },
    output: { additionalContext: may(text, 'For the subagent.') },
  }),
  SubagentStop: block({
    matcherField: 'agent_type',
    kinds: ALL,
    failureNeverBlocks: true,
    takesImpossible: true,
    when: 'when a subagent is about to finish',
    no: GOES_ON,
    input: {
      ...stop,
      agent_id: is(text, 'The subagent.', 'agent_sample'),
      agent_type: is(text, 'Its type.', 'reviewer'),
      agent_transcript_path: is(text, 'Its own transcript.', '/transcripts/agent_sample.jsonl'),
    },
    output: { additionalContext: may(text, 'For the subagent, which then goes on.') },
  }),
  Stop: block({
    kinds: ALL,
    failureNeverBlocks: true,
    takesImpossible: true,
    when: 'when the main agent is about to finish; not after an interrupt or an error of the model',
    no: GOES_ON,
    note: '`additionalContext` makes it go on as well. A hook that sees `stop_hook_active` should let it end.',
    input: stop,
    output: { additionalContext: may(text, 'For the model, which then goes on.') },
  }),
  StopFailure: observe({
    matcherField: 'error',
    kinds: PLAIN,
    when: 'in place of Stop, when an error of the model ended the turn',
    input: {
      error: is(
        printedAs('SDKAssistantMessageError', text),
        '`rate_limit`, `overloaded`, `authentication_failed`, `server_error` …',
        'overloaded',
      ),
      error_details: may(text, 'What the provider said.', 'The provider is overloaded'),
      last_assistant_message: may(text, 'The text of the last answer.'),
    },
  }),
  TaskCreated: block({
    kinds: ALL,
    when: 'when a task is put on the list',
    no: 'the task is taken off again; the model reads the reason',
    input: task,
  }),
  TaskCompleted: block({
    kinds: ALL,
    failureNeverBlocks: true,
    when: 'when a task is marked as completed',
    no: 'it stays open; the model reads the reason',
    input: task,
  }),
  TeammateIdle: block({
    kinds: ALL,
    failureNeverBlocks: true,
    noEndsTurn: 'prompt',
    when: 'when a teammate is about to rest',
    no: 'it goes on working',
    input: {
      teammate_name: is(text, 'The teammate.', 'tester'),
      team_name: is(text, 'Its team.', 'release'),
    },
  }),
};
