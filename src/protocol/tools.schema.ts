/**
 * Inputs of the built-in tools, written once. `npm run generate` turns them into the JSON schemas that
 * the model is sent and into validators that need no library at run time (`build/generated/`).
 * Nothing that ships imports this file for its values; types only.
 */
import { z } from 'zod';

const path = z.string().describe('Absolute path');

/** Every built-in tool's input by tool name; the generator and the reference page walk this table. */
export const TOOL_INPUTS = {
  Agent: z.strictObject({
    description: z.string().describe('The task in 3-5 words'),
    prompt: z.string().describe('The task; the agent sees nothing else'),
    subagent_type: z.string().optional().describe('Which agent; default: general-purpose'),
    model: z.string().optional().describe('sonnet, opus, haiku or a full name'),
    effort: z.string().optional().describe('low, medium, high or max'),
    run_in_background: z.boolean().optional().describe('Do not wait for it'),
    name: z.string().optional().describe('By which others address it'),
    isolation: z.string().optional().describe('"worktree": a copy of the repository'),
    mode: z.string().optional(),
    team_name: z.string().optional(),
  }),
  AskUserQuestion: z.strictObject({
    questions: z
      .array(
        z.strictObject({
          question: z.string(),
          header: z.string().describe('At most 12 characters'),
          options: z
            .array(
              z.strictObject({
                label: z.string(),
                description: z.string(),
                preview: z.string().optional(),
              }),
            )
            .min(2)
            .max(4),
          multiSelect: z.boolean(),
        }),
      )
      .min(1)
      .max(4),
    answers: z.record(z.string(), z.string()).optional().describe('Filled in by the person'),
    annotations: z.record(z.string(), z.unknown()).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  Bash: z.strictObject({
    command: z.string(),
    timeout: z.number().min(0).optional().describe('Milliseconds, at most 600000'),
    description: z.string().optional().describe('What it does, 5-10 words'),
    run_in_background: z.boolean().optional(),
    dangerouslyDisableSandbox: z.boolean().optional(),
  }),
  BashOutput: z.strictObject({
    task_id: z.string(),
    filter: z.string().optional().describe('Only lines that match this expression'),
  }),
  Edit: z.strictObject({
    file_path: path,
    old_string: z.string(),
    new_string: z.string(),
    replace_all: z.boolean().optional(),
  }),
  EnterPlanMode: z.strictObject({}),
  ExitPlanMode: z.looseObject({
    plan: z.string().optional().describe('The plan, in Markdown'),
    allowedPrompts: z.array(z.looseObject({ tool: z.string(), prompt: z.string() })).optional(),
  }),
  Glob: z.strictObject({
    pattern: z.string(),
    path: z.string().optional().describe('Directory; default: working directory'),
  }),
  Grep: z.strictObject({
    pattern: z.string().describe('ripgrep regular expression'),
    path: z.string().optional().describe('File or directory; default: working directory'),
    glob: z.string().optional().describe('e.g. "*.ts"'),
    type: z.string().optional().describe('ripgrep file type, e.g. js'),
    output_mode: z.enum(['content', 'files_with_matches', 'count']).optional(),
    '-A': z.int().min(0).optional(),
    '-B': z.int().min(0).optional(),
    '-C': z.int().min(0).optional(),
    context: z.int().min(0).optional(),
    '-n': z.boolean().optional(),
    '-i': z.boolean().optional(),
    '-o': z.boolean().optional(),
    head_limit: z.int().min(0).optional().describe('Default 250; 0 = all'),
    offset: z.int().min(0).optional(),
    multiline: z.boolean().optional(),
  }),
  ListAgents: z.strictObject({
    q: z.string().optional().describe('Only those that have this text'),
  }),
  ListMcpResourcesTool: z.strictObject({
    server: z.string().optional().describe('Only of this server'),
  }),
  NotebookEdit: z.strictObject({
    notebook_path: path,
    new_source: z.string(),
    cell_id: z.string().optional(),
    cell_type: z.enum(['code', 'markdown']).optional(),
    edit_mode: z.enum(['replace', 'insert', 'delete']).optional(),
  }),
  Read: z.strictObject({
    file_path: path,
    offset: z.int().min(0).optional().describe('First line, 1-based'),
    limit: z.int().min(1).optional().describe('Number of lines'),
    pages: z.string().optional().describe('PDF pages, e.g. "1-5"; at most 20'),
    allow_large: z.boolean().optional(),
  }),
  ReadMcpResourceTool: z.strictObject({
    server: z.string().describe('Name of the server'),
    uri: z.string().describe('As listed'),
  }),
  SendMessage: z.strictObject({
    to: z.string(),
    message: z.string(),
    summary: z.string().optional(),
  }),
  Skill: z.strictObject({
    skill: z.string().describe('Name, as listed'),
    args: z.string().optional().describe('Arguments, as one text'),
  }),
  TaskCreate: z.strictObject({
    subject: z.string(),
    description: z.string(),
    activeForm: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  TaskGet: z.strictObject({ taskId: z.string() }),
  TaskList: z.strictObject({}),
  TaskStop: z.strictObject({
    task_id: z.string().optional(),
    shell_id: z.string().optional(),
  }),
  TaskUpdate: z.strictObject({
    taskId: z.string(),
    subject: z.string().optional(),
    description: z.string().optional(),
    activeForm: z.string().optional(),
    status: z.enum(['pending', 'in_progress', 'completed', 'deleted']).optional(),
    addBlocks: z.array(z.string()).optional(),
    addBlockedBy: z.array(z.string()).optional(),
    owner: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  /** SendMessage where there is a team: requests and answers besides words. */
  TeamMessage: z.strictObject({
    to: z.string().describe('A teammate, team-lead, an agent id, or * for all members'),
    message: z.union([
      z.string(),
      z.strictObject({
        type: z.enum([
          'shutdown_request',
          'shutdown_response',
          'plan_approval_request',
          'plan_approval_response',
        ]),
        request_id: z.string().optional().describe('Of the request that is answered'),
        approve: z.boolean().optional(),
        plan: z.string().optional(),
        reason: z.string().optional(),
        feedback: z.string().optional(),
      }),
    ]),
    summary: z.string().optional(),
  }),
  TodoWrite: z.strictObject({
    todos: z.array(
      z.strictObject({
        content: z.string(),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string(),
      }),
    ),
  }),
  WaitForAgents: z.strictObject({
    ids: z.array(z.string()).optional().describe('Default: all that run'),
    until: z.enum(['any', 'all']).optional().describe('Default: all'),
    timeout_seconds: z.number().min(0).optional().describe('Default 300'),
  }),
  WebFetch: z.strictObject({
    url: z.string(),
    prompt: z.string().describe('What to look for in the page'),
    offset: z.int().min(0).optional(),
  }),
  Write: z.strictObject({ file_path: path, content: z.string() }),
  WriteDraft: z.strictObject({
    draft_id: z.string(),
    append: z.string().optional().describe('The rest of the content'),
  }),
} as const;

export type ToolInputs = {
  [Name in keyof typeof TOOL_INPUTS]: z.infer<(typeof TOOL_INPUTS)[Name]>;
};
