// Runs one of the two commands as the program would, for tests: `auth …` or `logout …`.
import { run as auth } from '../../src/cli/commands/mcp-auth.js';
import { run as logout } from '../../src/cli/commands/mcp-logout.js';
import { processOutput } from '../../src/cli/output.js';
import { PortcullisError } from '../../src/errors.js';

const [command, ...argv] = (process.env.TEST_ARGV ?? '').split('\n');
const output = processOutput({ debug: false, debugFile: undefined });

try {
  process.exitCode = await (command === 'auth' ? auth : logout)(argv, output);
} catch (thrown) {
  if (!(thrown instanceof PortcullisError)) throw thrown;
  output.warn(`${thrown.message}\n${thrown.remedy}`);
  process.exitCode = 2;
}
