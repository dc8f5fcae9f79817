/** How a rule's specifier is read. */
type SpecKind = 'command' | 'read-path' | 'write-path' | 'domain' | 'field' | 'effect' | 'none';

export interface RuleTool {
  readonly spec: SpecKind;
  /** For `field`: the input that the specifier is compared with. */
  readonly field?: string;
  /** For `field`: an input that may follow it. */
  readonly followedBy?: string;
  /** Inputs that `Tool(parameter:value)` may name, where not every one may. */
  readonly parameters?: readonly string[];
}

const path = (spec: 'read-path' | 'write-path'): RuleTool => ({ spec, parameters: [] });
const none: RuleTool = { spec: 'none' };

/**
 * Every tool name that a rule may carry, ours and those of the ecosystem's files, and what stands
 * in its parentheses. The one place that goes from tool names to meaning.
 */
export const RULE_TOOLS: Readonly<Record<string, RuleTool>> = {
  Bash: {
    spec: 'command',
    parameters: ['run_in_background', 'timeout', 'description', 'dangerouslyDisableSandbox'],
  },
  PowerShell: { spec: 'command', parameters: ['run_in_background', 'timeout', 'description'] },
  Read: path('read-path'),
  Glob: path('read-path'),
  Grep: path('read-path'),
  LS: path('read-path'),
  LSP: path('read-path'),
  NotebookRead: path('read-path'),
  Edit: path('write-path'),
  MultiEdit: path('write-path'),
  Write: path('write-path'),
  WriteDraft: path('write-path'),
  NotebookEdit: path('write-path'),
  WebFetch: { spec: 'domain', parameters: ['prompt'] },
  // No tool: what calls of any tool do.
  Effect: { spec: 'effect', parameters: [] },
  Agent: {
    spec: 'field',
    field: 'subagent_type',
    parameters: [
      'model',
      'isolation',
      'run_in_background',
      'name',
      'team_name',
      'mode',
      'resume',
      'max_turns',
    ],
  },
  Skill: { spec: 'field', field: 'skill', followedBy: 'args', parameters: ['args'] },
  AskUserQuestion: none,
  BashOutput: none,
  CronCreate: none,
  CronDelete: none,
  CronList: none,
  EnterPlanMode: none,
  EnterWorktree: none,
  ExitPlanMode: none,
  ExitWorktree: none,
  ListAgents: none,
  ListMcpResourcesTool: none,
  Monitor: none,
  ReadMcpResourceDirTool: none,
  ReadMcpResourceTool: none,
  SendMessage: none,
  SendUserMessage: none,
  StructuredOutput: none,
  TaskCreate: none,
  TaskGet: none,
  TaskList: none,
  TaskOutput: none,
  TaskStop: none,
  TaskUpdate: none,
  TodoRead: none,
  TodoWrite: none,
  ToolSearch: none,
  WaitForAgents: none,
  WebSearch: none,
};

/** What tools are mainly about: `Tool(parameter:value)` does not name these. */
export const PRIMARY_INPUTS: ReadonlySet<string> = new Set([
  'command',
  'file_path',
  'path',
  'notebook_path',
  'url',
]);
