import { wordSet } from '../../lib/patterns/word-set.js';

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
/** Tools whose rules take no specifier but their parameters. */
const OTHERS =
  wordSet(`AskUserQuestion BashOutput CronCreate CronDelete CronList EnterPlanMode EnterWorktree ExitPlanMode
  ExitWorktree ListAgents ListMcpResourcesTool Monitor ReadMcpResourceDirTool ReadMcpResourceTool
  SendMessage SendUserMessage StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop
  TaskUpdate TodoRead TodoWrite ToolSearch WaitForAgents WebSearch`);

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
  ...Object.fromEntries([...OTHERS].map((name) => [name, { spec: 'none' }])),
};

/** What tools are mainly about: `Tool(parameter:value)` does not name these. */
export const PRIMARY_INPUTS = wordSet('command file_path path notebook_path url');
