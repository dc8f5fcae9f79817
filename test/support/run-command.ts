import { runCommand } from '../../src/cli/command.js';
import { COMMANDS } from '../../src/cli/commands/index.js';
import type { Output } from '../../src/cli/output.js';

export interface CommandRun {
  readonly code: number;
  readonly text: string;
  readonly warned: string;
  json(): Record<string, unknown>;
}

/** Runs `portcullis <name> …` in this process. */
export async function runPortcullis(name: string, ...argv: readonly string[]): Promise<CommandRun> {
  let text = '';
  let warned = '';
  const output: Output = {
    out: (part) => {
      text += part;
    },
    answer: (part) => {
      text += part;
    },
    warn: (part) => {
      warned += part;
    },
    debug: () => undefined,
    debugs: false,
    behind: () => undefined,
    drained: async () => undefined,
    lost: () => undefined,
    open: () => undefined,
  };
  const file = await COMMANDS[name]?.load();
  if (file === undefined) throw new Error(`there is no command ${name}`);
  const code = await runCommand(file, [name], { argv, output });
  return { code, text, warned, json: () => JSON.parse(text) as Record<string, unknown> };
}
