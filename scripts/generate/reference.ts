import { cliReference } from './cli-reference.js';
import { failClosedReference } from './fail-closed-reference.js';
import { hookReference } from './hook-reference.js';
import { readOnlyCommandsFiles } from './read-only-commands.js';
import { toolReference } from './tool-reference.js';
import { toolSchemas } from './tool-schemas.js';

/** Reference pages made by running parts of the program, which needs its generated code. */
export async function generate(): Promise<Record<string, string>> {
  return {
    ...hookReference(),
    ...readOnlyCommandsFiles(),
    ...(await toolReference(toolSchemas())),
    ...(await cliReference()),
    ...failClosedReference(),
  };
}
