// Runs one of the two commands as the program would, for tests: `auth …` or `logout …`.
import { runCommand } from '../../src/cli/command.js';
import { command as mcp } from '../../src/cli/commands/mcp/mcp.js';
import { processOutput } from '../../src/cli/output.js';
import { PortcullisError } from '../../src/errors.js';

const argv = (process.env.TEST_ARGV ?? '').split('\n');
const output = processOutput({ debug: false, debugFile: undefined });

try {
  process.exitCode = await runCommand({ command: mcp }, ['mcp'], { argv, output });
} catch (thrown) {
  if (!(thrown instanceof PortcullisError)) throw thrown;
  output.warn(`${thrown.message}\n${thrown.remedy}`);
  process.exitCode = 2;
}
