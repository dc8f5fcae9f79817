import { join } from '../../platform/fs/paths.js';

type Input = Readonly<Record<string, unknown>>;

/** Inputs as tools of these names take them, for trying hooks out. The files need not be there. */
const CALLS: Readonly<Record<string, (cwd: string) => Input>> = {
  Bash: () => ({ command: 'npm test', description: 'Run the tests' }),
  Write: (cwd) => ({ file_path: join(cwd, 'sample.txt'), content: 'a line\n' }),
  Edit: (cwd) => ({
    file_path: join(cwd, 'sample.txt'),
    old_string: 'a line',
    new_string: 'another line',
  }),
  Read: (cwd) => ({ file_path: join(cwd, 'sample.txt') }),
  Glob: (cwd) => ({ pattern: '**/*.ts', path: cwd }),
  Grep: (cwd) => ({ pattern: 'sample', path: cwd }),
  NotebookEdit: (cwd) => ({ notebook_path: join(cwd, 'sample.ipynb'), new_source: '1 + 1' }),
  WebFetch: () => ({ url: 'https://example.com/', prompt: 'What is it about?' }),
  WebSearch: () => ({ query: 'sample' }),
  Agent: () => ({
    description: 'Review the parser',
    prompt: 'Read src/parser.ts and look for mistakes.',
    subagent_type: 'reviewer',
  }),
  Task: () => ({
    description: 'Review the parser',
    prompt: 'Read src/parser.ts and look for mistakes.',
    subagent_type: 'reviewer',
  }),
  Skill: () => ({ skill: 'review' }),
};

/** Tools that there is a sample for, the most common ones first. */
export const SAMPLE_TOOLS: readonly string[] = Object.keys(CALLS);

/** What a call of the tool may look like; undefined for tools that nobody can know. */
export function sampleCall(tool: string, cwd: string): Input | undefined {
  return Object.hasOwn(CALLS, tool) ? CALLS[tool]?.(cwd) : undefined;
}
