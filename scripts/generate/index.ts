import { bundledHeadFiles } from './bundled-heads.js';
import { cliReference } from './cli-reference.js';
import { failClosedReference } from './fail-closed-reference.js';
import { hookFiles } from './hooks.js';
import { readOnlyCommandsFiles } from './read-only-commands.js';
import { sdkTypeFiles } from './sdk-types.js';
import { sessionOptionsFile } from './session-options.js';
import { settingsFiles } from './settings.js';
import { toolReference } from './tool-reference.js';
import { toolSchemaFiles, toolSchemas } from './tool-schemas.js';

/** Every generated file of the project: path from the root → content. */
export async function generate(): Promise<Record<string, string>> {
  return {
    ...toolSchemaFiles(),
    ...settingsFiles(),
    ...sessionOptionsFile(),
    ...hookFiles(),
    ...sdkTypeFiles(),
    ...(await bundledHeadFiles()),
    ...readOnlyCommandsFiles(),
    ...(await toolReference(toolSchemas())),
    ...(await cliReference()),
    ...failClosedReference(),
  };
}
