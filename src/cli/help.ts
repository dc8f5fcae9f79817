import { COMMANDS } from './commands/index.js';
import { FLAGS, type FlagSpec } from './flags.js';

export function help(): string {
  const flags = FLAGS.filter((flag) => flag.notYet === undefined).map((flag) =>
    row(spelling(flag), helpText(flag)),
  );
  const commands = [...COMMANDS].map(([name, command]) => row(name, command.help));
  return `Portcullis: an agent runtime whose extension points fail closed.

  portcullis                     a conversation in the terminal
  portcullis -p "prompt"         one prompt, one answer (headless)
  portcullis <command>           one of the commands below

Commands
${commands.join('\n')}

Flags (--flag value and --flag=value are the same)
${flags.join('\n')}

Environment: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL;
OPENAI_API_KEY, OPENAI_BASE_URL for any OpenAI-compatible server (Ollama, llama.cpp, vLLM, OpenRouter).
Exit codes: 0 done, 1 error, 2 usage, 3 configuration refused, 4 denied, 5 max turns, 6 budget, 7 stuck,
130 interrupted, 143 terminated.
`;
}

function spelling(flag: FlagSpec): string {
  const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
  const value =
    flag.value === undefined
      ? ''
      : flag.kind === 'optional-value'
        ? ` [${flag.value}]`
        : ` <${flag.value}>`;
  return `${short}--${flag.name}${value}`;
}

function helpText(flag: FlagSpec): string {
  return flag.choices === undefined ? flag.help : `${flag.help} (${flag.choices.join(', ')})`;
}

function row(left: string, right: string): string {
  return `  ${left.padEnd(38)} ${right}`;
}
