import type { HookEventName } from '../registry/hook.js';

type Fields = Readonly<Record<string, unknown>>;

/** What an event's input has beside the common fields, as it may look: for trying hooks out. */
export function sampleInput(event: HookEventName): Record<string, unknown> {
  return structuredClone(SAMPLES[event]);
}

const CALL = {
  tool_name: 'Bash',
  tool_input: { command: 'npm test', description: 'Run the tests' },
  tool_use_id: 'toolu_sample',
};
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
const SWITCH = {
  from_model: 'small-model',
  to_model: 'large-model',
  requested_model: 'large-model',
  source: 'command',
  context_tokens: 12_000,
  prompt_cache_warm: true,
  cache_ttl: '5m',
  estimated_cache_write_usd: 0.05,
  pricing: 'default',
};

const SAMPLES: Readonly<Record<HookEventName, Fields>> = {
  SessionStart: { source: 'startup', model: 'large-model' },
  Setup: { trigger: 'init' },
  InstructionsLoaded: {
    file_path: '/project/CLAUDE.md',
    memory_type: 'Project',
    load_reason: 'session_start',
  },
  UserPromptSubmit: { prompt: 'Add a test for the parser', source: 'user' },
  UserPromptExpansion: {
    expansion_type: 'slash_command',
    command_name: 'review',
    command_args: 'src/parser.ts',
    command_source: 'project',
    prompt: '/review src/parser.ts',
  },
  MessageDisplay: {
    turn_id: 'turn_sample',
    message_id: 'msg_sample',
    index: 0,
    final: true,
    delta: 'All tests pass.',
  },
  PreToolUse: CALL,
  PermissionRequest: {
    tool_name: CALL.tool_name,
    tool_input: CALL.tool_input,
    permission_suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'npm test *' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
    ],
  },
  PermissionDenied: { ...CALL, reason: 'the rule Bash(npm *) refuses it' },
  PostToolUse: {
    ...CALL,
    tool_response: { stdout: '12 tests passed', stderr: '', interrupted: false },
    duration_ms: 840,
  },
  PostToolUseFailure: {
    ...CALL,
    error: 'Exit code 1\n1 test failed',
    is_interrupt: false,
    duration_ms: 840,
  },
  PostToolBatch: { tool_calls: [{ ...CALL, tool_response: '12 tests passed' }] },
  ToolInputInvalid: {
    tool_name: 'Write',
    tool_use_id: 'toolu_sample',
    raw: '{"file_path": "/project/a.ts", "content": "impo',
    cause: 'output_limit',
    problems: [],
  },
  Notification: {
    message: 'A question about Bash is waiting for an answer',
    notification_type: 'permission_prompt',
  },
  SubagentStart: { agent_id: 'agent_sample', agent_type: 'reviewer' },
  SubagentStop: {
    ...STOP,
    agent_id: 'agent_sample',
    agent_type: 'reviewer',
    agent_transcript_path: '/transcripts/agent_sample.jsonl',
  },
  Stop: STOP,
  StopFailure: { error: 'overloaded', error_details: 'The provider is overloaded' },
  TaskCreated: TASK,
  TaskCompleted: TASK,
  TeammateIdle: { teammate_name: 'tester', team_name: 'release' },
  ConfigChange: { source: 'project_settings', file_path: '/project/.claude/settings.json' },
  CwdChanged: { old_cwd: '/project', new_cwd: '/project/packages/core' },
  DirectoryAdded: { directory: '/library', source: 'slash_command' },
  FileChanged: { file_path: '/project/package.json', event: 'change' },
  WorktreeCreate: { name: 'fix-parser' },
  WorktreeRemove: { worktree_path: '/project/.worktrees/fix-parser' },
  PreCompact: { trigger: 'auto', custom_instructions: null },
  PostCompact: { trigger: 'auto', compact_summary: 'The parser was written and tested.' },
  PreModelSwitch: SWITCH,
  PostModelSwitch: SWITCH,
  Elicitation: {
    mcp_server_name: 'tracker',
    message: 'Which project?',
    mode: 'form',
    elicitation_id: 'elicitation_sample',
    requested_schema: { type: 'object', properties: { project: { type: 'string' } } },
  },
  ElicitationResult: {
    mcp_server_name: 'tracker',
    elicitation_id: 'elicitation_sample',
    mode: 'form',
    action: 'accept',
    content: { project: 'parser' },
  },
  SessionEnd: { reason: 'other' },
};
