import { statSync } from 'node:fs';
import { resolve } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { type ParsedArgs, parseArgs } from '../args.js';
import { EXIT } from '../exit-code.js';
import { readOptions } from '../options.js';
import type { Output } from '../output.js';
import type { ContextWishes } from './context-here.js';

export const USAGE = `portcullis context [--json] [--cwd <dir>] [flags of a session]
       portcullis context approve|decline <path>… [--cwd <dir>]`;

/**
 * Shows what the model of a session started here would be shown: names, sizes and reasons, no
 * contents. Nothing is run, no hook is told and no model asked. Or keeps an answer about files from
 * outside the project.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { cwd, json, args } = wishesFrom(argv);
  const [action, ...paths] = args.positionals;
  if (action === 'approve' || action === 'decline') {
    const { answerIncludes } = await import('./context-answer.js');
    return await answerIncludes(action, { paths, cwd, usage: USAGE }, output);
  }
  if (action !== undefined) throw usage(`context does not understand "${visible(action)}"`);
  const { contextHere } = await import('./context-here.js');
  const { report, approvals } = await contextHere(sessionWishes(args, cwd, output));
  if (json) {
    output.out(`${JSON.stringify({ cwd, ...report, approvals }, null, 2)}\n`);
    return EXIT.done;
  }
  const { contextText } = await import('../../project/context-text.js');
  output.out(contextText(report, cwd));
  return EXIT.done;
}

function wishesFrom(argv: readonly string[]): {
  readonly cwd: string;
  readonly json: boolean;
  readonly args: ParsedArgs;
} {
  const rest: string[] = [];
  let directory = '.';
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--json') continue;
    if (word === '--cwd' || word.startsWith('--cwd=')) {
      const value = word === '--cwd' ? argv[++at] : word.slice('--cwd='.length);
      if (value === undefined || value === '') throw usage('--cwd needs a directory');
      directory = value;
    } else rest.push(word);
  }
  const cwd = resolve(process.cwd(), directory);
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw usage(`${visible(cwd)} is not a directory`);
  }
  const parsed = parseArgs(rest);
  if (!parsed.ok) throw usage(parsed.error);
  const [wrong] = parsed.value.warnings;
  if (wrong !== undefined) throw usage(wrong);
  return { cwd, json: argv.includes('--json'), args: parsed.value };
}

function sessionWishes(args: ParsedArgs, cwd: string, output: Output): ContextWishes {
  const options = readOptions({ ...args, positionals: [] });
  if (!options.ok) throw usage(options.error);
  const { session, print } = options.value;
  return { session, cwd, headless: print, warn: output.warn };
}

function usage(message: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
}
