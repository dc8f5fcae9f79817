import { toPosix } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';

/** A line longer than this is shown in part: minified files would fill the window. */
const LINE_COLUMNS = 500;

/** Which files ripgrep searches. Nothing in the input can become an option. */
export function fileArguments(input: ToolInputs['Grep'], path: string): string[] {
  const inGit = toPosix(path).split('/').includes('.git');
  return [
    '--hidden',
    '--no-follow',
    '--null',
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...globsOf(input.glob).map((glob) => `--glob=${glob}`),
    ...(inGit ? [] : ['--glob=!.git']),
  ];
}

/** What ripgrep looks for in them, and how it prints that. */
export function searchArguments(input: ToolInputs['Grep']): string[] {
  return [
    '--no-heading',
    '--with-filename',
    '--engine=auto',
    ...(input['-i'] ? ['--ignore-case'] : []),
    ...(input.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...modeArguments(input, input.output_mode ?? 'files_with_matches'),
    `--regexp=${input.pattern}`,
  ];
}

function modeArguments(
  input: ToolInputs['Grep'],
  mode: 'content' | 'files_with_matches' | 'count',
): string[] {
  if (mode === 'files_with_matches') return ['--files-with-matches'];
  if (mode === 'count') return ['--count'];
  const around = input['-C'] ?? input.context;
  return [
    `--max-columns=${LINE_COLUMNS}`,
    '--max-columns-preview',
    input['-n'] === false ? '--no-line-number' : '--line-number',
    ...(input['-o'] ? ['--only-matching'] : []),
    ...(around === undefined ? [] : [`--context=${around}`]),
    ...(input['-A'] === undefined ? [] : [`--after-context=${input['-A']}`]),
    ...(input['-B'] === undefined ? [] : [`--before-context=${input['-B']}`]),
  ];
}

/** Several patterns may stand in one string, apart by spaces or by commas outside braces. */
export function globsOf(globs: string | undefined): string[] {
  const found: string[] = [];
  let current = '';
  let depth = 0;
  for (const char of globs ?? '') {
    if (char === '{') depth++;
    if (char === '}') depth--;
    const ends = depth <= 0 && (char === ',' || /\s/.test(char));
    if (!ends) current += char;
    else if (current !== '') {
      found.push(current);
      current = '';
    }
  }
  return current === '' ? found : [...found, current];
}
