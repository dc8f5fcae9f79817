import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import {
  findModels,
  forgetModel,
  type ModelCandidate,
  modelStatus,
  type StoredModel,
  storeModel,
  tryModel,
} from '../../project/model-setup.js';
import { askLine, hasTerminal } from '../ask.js';
import type { CommandSpec, OptionValues } from '../command.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readPiped } from '../stdin.js';
import { refuseAgent } from './person.js';

const TRY_MS = 60_000;
const MAX_MODELS = 20;

export const command: CommandSpec = {
  summary: 'Choose the model that sessions use, try it and store the choice.',
  options: [
    { flags: '-y, --yes', description: 'Take the first model found, without asking.' },
    {
      flags: '--provider <name>',
      description: 'Use this kind of server.',
      choices: ['anthropic', 'openai'],
    },
    { flags: '--base-url <url>', description: 'Use the server at this address.' },
    { flags: '--model <name>', description: 'Use this model.' },
    { flags: '--key-env <variable>', description: 'Take the key from this variable.' },
    { flags: '--key-stdin', description: 'Read the key from standard input.' },
    { flags: '--no-try', description: 'Send no request to try it.' },
    { flags: '--forget', description: 'Remove the stored choice.' },
  ],
  notes: `Looks for a key in the environment and for a server on this machine (Ollama,
LM Studio, llama.cpp, vLLM). Flags, variables and settings go before the stored
choice. Keys are never printed and never taken from the command line.`,
  async run({ options, output }) {
    // fail-closed: an agent must not choose where its own prompts go.
    refuseAgent('portcullis setup');
    if (options.forget === true) {
      await forgetModel(process.env);
      output.out('The stored choice is removed.\n');
      return EXIT.done;
    }
    const isNamed = options.provider !== undefined || options.baseUrl !== undefined;
    const chosen = isNamed ? await namedModel(options, output) : await foundModel(options, output);
    return await tryAndStore(chosen, options, output);
  },
};

/** The model that flags name, with a key that is never one of the words of the command line. */
async function namedModel(options: OptionValues, output: Output): Promise<StoredModel> {
  const { provider, baseUrl, model, keyEnv } = options;
  const kind = provider === 'anthropic' ? 'anthropic' : 'openai';
  const variable =
    textOf(keyEnv) ?? (kind === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY');
  let apiKey = process.env[variable]?.trim() || undefined;
  if (textOf(keyEnv) !== undefined && apiKey === undefined)
    throw usage(
      `--key-env: the variable ${visible(variable)} is not set`,
      'set it, or leave the flag out',
    );
  if (options.keyStdin === true) {
    apiKey = (await readPiped(process, { optional: false, warn: output.warn }))?.trim();
    if (!apiKey)
      throw usage('--key-stdin: standard input is empty', 'portcullis setup --key-stdin < file');
  }
  // A server on this machine needs none.
  if (apiKey === undefined && baseUrl === undefined) {
    if (!hasTerminal()) throw usage(`there is no key in ${variable}`, 'set it, or use --key-stdin');
    apiKey = await askKey(kind === 'anthropic' ? 'the Anthropic API' : 'the OpenAI API');
  }
  return { provider: kind, baseUrl: textOf(baseUrl), apiKey, model: textOf(model) };
}

/** The model that a person chooses of those found, or the first with `--yes`. */
async function foundModel(options: OptionValues, output: Output): Promise<StoredModel> {
  const isTerminal = hasTerminal();
  if (options.yes !== true && !isTerminal)
    throw usage(
      'setup asks questions, and there is no terminal',
      'use --yes, or --provider and --base-url',
    );
  const found = await findModels(process.env);
  if (options.yes === true) {
    const [first] = found;
    if (first === undefined)
      throw new PortcullisError('no_model', 'no key and no model server was found', {
        remedy: 'set ANTHROPIC_API_KEY, start a server such as Ollama, or name one with --base-url',
      });
    return {
      ...first.choice,
      model: textOf(options.model) ?? first.choice.model ?? first.models[0],
    };
  }
  const { configured, source, provider, model } = modelStatus(process.env);
  if (configured)
    output.out(`In use now (${source}): ${provider}${model ? `, ${visible(model)}` : ''}\n`);
  const rows = [
    ...found.map(({ label }) => visible(label)),
    'the Anthropic API, with a key that you enter',
    'another server that speaks chat completions',
  ];
  output.out(
    `Which model should sessions use?\n${rows.map((row, at) => `  ${at + 1}  ${row}`).join('\n')}\n`,
  );
  const answer = await askNumber('Number', rows.length);
  const candidate = found[answer - 1];
  if (candidate !== undefined) return await withModel(candidate, options, output);
  if (answer === found.length + 1)
    return {
      provider: 'anthropic',
      apiKey: await askKey('the Anthropic API'),
      model: textOf(options.model),
    };
  const baseUrl = await askText('Address, such as http://127.0.0.1:8000/v1: ');
  const apiKey = (await askLine('Key (empty for none): ', { hidden: true }))?.trim() || undefined;
  const named = textOf(options.model) ?? (await askText('Model: '));
  return { provider: 'openai', baseUrl, apiKey, model: named };
}

async function withModel(
  { choice, models }: ModelCandidate,
  options: OptionValues,
  output: Output,
): Promise<StoredModel> {
  const named = textOf(options.model) ?? choice.model;
  if (named !== undefined || models.length < 2) return { ...choice, model: named ?? models[0] };
  const shown = models.slice(0, MAX_MODELS);
  output.out(`${shown.map((name, at) => `  ${at + 1}  ${visible(name)}`).join('\n')}\n`);
  return { ...choice, model: shown[(await askNumber('Model', shown.length)) - 1] };
}

async function tryAndStore(
  chosen: StoredModel,
  options: OptionValues,
  output: Output,
): Promise<number> {
  let { model } = chosen;
  if (options.try !== false) {
    output.out('Trying it with one short request …\n');
    const tried = await tryModel(chosen, AbortSignal.timeout(TRY_MS));
    if (!tried.ok) {
      throw new PortcullisError('config', `the model does not answer: ${tried.error}`, {
        remedy: 'nothing was stored; run portcullis setup again',
      });
    }
    model = tried.value.model;
    output.out(`${visible(model)} answered.\n`);
  }
  const file = await storeModel(process.env, chosen);
  const where =
    chosen.baseUrl ?? (chosen.provider === 'anthropic' ? 'the Anthropic API' : 'the OpenAI API');
  output.out(
    `Stored in ${file}, which only you can read: ${visible(where)}${model ? `, ${visible(model)}` : ''}${chosen.apiKey ? ', with a key' : ''}.\nStart with: portcullis\n`,
  );
  return EXIT.done;
}

async function askKey(name: string): Promise<string> {
  const key = (await askLine(`Key for ${name} (it is not shown): `, { hidden: true }))?.trim();
  if (!key) throw usage('no key was entered', 'run portcullis setup again');
  return key;
}

async function askText(question: string): Promise<string> {
  const text = (await askLine(question))?.trim();
  if (!text) throw usage('nothing was entered', 'run portcullis setup again');
  return text;
}

async function askNumber(question: string, most: number): Promise<number> {
  const text = (await askText(`${question} [1-${most}]: `)).trim();
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most)
    throw usage(`"${visible(text)}" is not one of the numbers`, 'run portcullis setup again');
  return number;
}

function textOf(value: OptionValues[string]): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function usage(message: string, remedy: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy });
}
