import { z } from 'zod';
import { flag, list, text, words } from '../declare.schema.js';
import {
  ALL,
  block,
  context,
  count,
  decided,
  gate,
  is,
  may,
  object,
  observe,
  PLAIN,
  part,
  watchPaths,
} from './hook-event.schema.js';

const modelSwitch = {
  from_model: is(text, 'The model until now.', 'small-model'),
  to_model: is(text, 'The model from now on.', 'large-model'),
  requested_model: is(
    z.string().nullable(),
    'As it was asked for; null: the default.',
    'large-model',
  ),
  context_tokens: is(count, 'Tokens that the new model has to read.', 12_000),
  prompt_cache_warm: is(flag, 'The old model has the conversation in its cache.', true),
  cache_ttl: is(words('5m 1h'), 'How long a cache lasts.', '5m'),
  estimated_cache_write_usd: is(z.number().min(0), 'What reading it anew may cost.', 0.05),
  pricing: is(words('configured catalog default'), 'Where that price comes from.', 'default'),
};
const elicitation = {
  mcp_server_name: is(text, 'The server.', 'tracker'),
  elicitation_id: may(text, 'The question.', 'elicitation_sample'),
  mode: may(words('form url'), 'A form, or a page to open.', 'form'),
};
const answered = {
  action: may(words('accept decline cancel'), 'The answer in place of a person.'),
  content: may(object, 'What is accepted.'),
};
/** Events of files, settings, models and MCP servers, and the end of a session. */
export const PROJECT_EVENTS = {
  ConfigChange: gate({
    matcherField: 'source',
    kinds: PLAIN,
    when: 'when a file of settings or skills changed while a session runs',
    no: "the change is not applied; an administrator's is, whatever a hook says",
    input: {
      source: is(
        words('user_settings project_settings local_settings policy_settings skills'),
        'What changed.',
        'project_settings',
      ),
      file_path: may(text, 'The file.', '/project/.claude/settings.json'),
    },
  }),
  CwdChanged: observe({
    kinds: PLAIN,
    setsEnvironment: true,
    when: 'when the working directory has changed',
    input: {
      old_cwd: is(text, 'The directory before.', '/project'),
      new_cwd: is(text, 'The directory now.', '/project/packages/core'),
    },
    output: { watchPaths },
  }),
  DirectoryAdded: observe({
    matcherField: 'source',
    kinds: PLAIN,
    when: 'when a directory was added to the working ones during a session',
    input: {
      directory: is(text, 'The directory.', '/library'),
      source: is(words('slash_command register_repo_root'), 'Who added it.', 'slash_command'),
    },
  }),
  FileChanged: observe({
    matcherField: 'file_path',
    kinds: PLAIN,
    setsEnvironment: true,
    when: 'when a watched file changed on disk, inside or outside the session',
    note: 'A matcher names files, `package.json|.env`; these are watched from the start.',
    input: {
      file_path: is(
        text,
        'The file; matchers are compared with its last part.',
        '/project/package.json',
      ),
      event: is(words('change add unlink'), 'What happened to it.', 'change'),
    },
    output: { watchPaths },
  }),
  WorktreeCreate: gate({
    kinds: PLAIN,
    when: 'when a working tree is needed; the hook makes it in place of git',
    no: 'no tree is made, and what needed it fails',
    note: 'Every exit code but 0 is a failure here.',
    input: { name: is(text, 'What the tree is to be called.', 'fix-parser') },
    output: {
      worktreePath: is(text, 'The tree that was made. A command may print it as its last line.'),
    },
  }),
  WorktreeRemove: observe({
    kinds: PLAIN,
    when: 'when a working tree that a hook made is no longer needed',
    input: { worktree_path: is(text, 'The tree that goes.', '/project/.worktrees/fix-parser') },
  }),
  PreCompact: block({
    matcherField: 'trigger',
    kinds: PLAIN,
    when: 'before the conversation is replaced by a summary',
    no: 'it is not compacted',
    input: {
      trigger: is(words('manual auto'), 'Who wants it.', 'auto'),
      custom_instructions: is(
        z.string().nullable(),
        'What a person asked the summary to keep.',
        null,
      ),
    },
    output: {
      additionalContext: may(text, 'Joins the instructions for the summary. Ours.'),
      preserve: may(
        z.union([text, list]),
        'Texts that stay word for word beside the summary. Ours.',
      ),
    },
  }),
  PostCompact: observe({
    matcherField: 'trigger',
    kinds: PLAIN,
    when: 'when the conversation was replaced by a summary',
    input: {
      trigger: is(words('manual auto'), 'Who wanted it.', 'auto'),
      compact_summary: is(text, 'The summary.', 'The parser was written and tested.'),
    },
  }),
  PreModelSwitch: gate({
    kinds: ALL,
    when: 'before the model of a session is changed',
    no: 'the model stays; an ask without a person to answer is a no',
    input: {
      ...modelSwitch,
      source: is(words('command picker sdk'), 'Who asked for it.', 'command'),
    },
    output: decided('allow deny ask'),
  }),
  PostModelSwitch: observe({
    kinds: PLAIN,
    textIsContext: true,
    when: 'when the model of a session was changed',
    input: {
      ...modelSwitch,
      source: is(words('command picker sdk auto resume'), 'What brought it about.', 'command'),
    },
    output: context,
  }),
  Elicitation: gate({
    matcherField: 'mcp_server_name',
    kinds: PLAIN,
    when: 'when an MCP server asks for input, before a person is asked',
    no: 'the question is declined',
    input: {
      ...elicitation,
      message: is(text, 'What the server asks.', 'Which project?'),
      url: may(text, 'The page it wants to be opened.'),
      requested_schema: may(object, 'The JSON schema of the answer.', {
        type: 'object',
        properties: { project: { type: 'string' } },
      }),
    },
    output: answered,
  }),
  ElicitationResult: gate({
    matcherField: 'mcp_server_name',
    kinds: PLAIN,
    when: 'before the answer to an MCP server is sent',
    no: 'the answer becomes a decline',
    input: {
      ...elicitation,
      action: is(words('accept decline cancel'), 'What was answered.', 'accept'),
      content: may(object, 'The answer.', { project: 'parser' }),
    },
    output: answered,
  }),
  SessionEnd: observe({
    matcherField: 'reason',
    kinds: PLAIN,
    timeoutMs: 1_500,
    when: 'when a session ends',
    input: {
      reason: is(
        part(
          'ExitReason',
          'Why a session ends.',
          words('clear resume logout prompt_input_exit other'),
        ),
        'Why it ends.',
        'other',
      ),
    },
  }),
};
