import { hookFiles } from './hooks.js';
import { sdkTypeFiles } from './sdk-types.js';
import { sessionOptionsFile } from './session-options.js';
import { settingsFiles } from './settings.js';
import { toolSchemaFiles } from './tool-schemas.js';

/** What is made of the schemas alone: the code that `src` imports, and the published JSON schemas. */
export function generate(): Record<string, string> {
  return {
    ...toolSchemaFiles(),
    ...settingsFiles(),
    ...sessionOptionsFile(),
    ...hookFiles(),
    ...sdkTypeFiles(),
  };
}
