import { COMMANDS } from './commands/index.js';
import { FLAGS, type FlagSpec } from './flags.js';

const WIDTH = 80;
/** Where descriptions begin; a longer name gets a line of its own. */
const COLUMN = { commands: 12, flags: 28 };

/** `portcullis --help`: commands and flags by groups, for a terminal of 80 columns. */
export function help(): string {
  const commands = Object.entries(COMMANDS).map(([name, { group, summary }]) => ({
    group: group ?? 'Commands',
    row: row(name, summary, COLUMN.commands),
  }));
  const flags = FLAGS.filter(({ notYet }) => notYet === undefined).map((flag) => ({
    group: flag.group,
    row: row(spelling(flag), description(flag), COLUMN.flags),
  }));
  return `Portcullis: an agent runtime whose extension points fail closed.

  portcullis [flags] [prompt]      start a conversation
  portcullis -p [flags] "prompt"   answer one prompt and exit
  portcullis <command> --help      how a command is called

COMMANDS
${grouped(commands)}
FLAGS (--flag value and --flag=value are the same)
${grouped(flags)}
Environment: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL,
ANTHROPIC_MODEL; OPENAI_API_KEY, OPENAI_BASE_URL for any OpenAI-compatible
server (Ollama, llama.cpp, vLLM, OpenRouter). portcullis setup stores a choice.
Exit codes: 0 done, 1 error, 2 usage, 3 configuration refused, 4 denied, 5 turn
limit, 6 budget, 7 stuck, 130 interrupted, 143 terminated.
`;
}

function grouped(rows: readonly { readonly group: string; readonly row: string }[]): string {
  const groups = [...new Set(rows.map(({ group }) => group))];
  return groups
    .map(
      (group) =>
        `\n${group}\n${rows.flatMap((one) => (one.group === group ? one.row : [])).join('')}`,
    )
    .join('');
}

function spelling({ name, short, value, kind }: FlagSpec): string {
  const dash = short === undefined ? '' : `-${short}, `;
  const what = value === undefined ? '' : kind === 'optional-value' ? ` [${value}]` : ` <${value}>`;
  return `${dash}--${name}${what}`;
}

function description({ help: text, choices = [], kind }: FlagSpec): string {
  const among = choices.length < 2 ? '' : ` One of ${choices.join(', ')}.`;
  return `${text}${among}${kind === 'repeat' ? ' Repeatable.' : ''}`;
}

function row(left: string, text: string, column: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && column + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  const indent = ' '.repeat(column);
  const head = `  ${left}`;
  const first = head.length < column - 1 ? head.padEnd(column) : `${head}\n${indent}`;
  return `${first}${lines.join(`\n${indent}`)}\n`;
}
