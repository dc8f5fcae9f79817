// npm start [-- flags]: the product. With a model configured it opens the agent; with none it shows a
// whole session of the scripted model in a throw-away project. Flags are passed through.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs';

ensureInstalled();
ensureBuilt();
const MODEL_VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'PORTCULLIS_OPENAI_BASE_URL',
  'OPENAI_BASE_URL',
  'OPENAI_API_KEY',
  'PORTCULLIS_SCRIPT',
];
const flags = process.argv.slice(2);
const home = process.env.PORTCULLIS_HOME || path.join(homedir(), '.portcullis');
const isSet = (name) => (process.env[name] ?? '') !== '';
const configured = MODEL_VARIABLES.some(isSet) || existsSync(path.join(home, 'model.json'));
const args = flags.length > 0 || configured ? flags : ['demo'];
// The agent works where the user called npm, not where the program lies.
const child = spawn(process.execPath, [path.join(ROOT, 'bin/portcullis'), ...args], {
  stdio: 'inherit',
  cwd: process.env.INIT_CWD ?? process.cwd(),
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
});
