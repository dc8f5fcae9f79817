import { hookFiles } from './hooks.js';
import type { Files } from './lib.js';
import { sdkTypeFiles } from './sdk-types.js';
import { settingsFiles } from './settings.js';
import { toolFiles } from './tools.js';

/** What is made of the schemas alone: the code that `src` imports, JSON schemas and pages about them. */
export function generate(): Files {
  return { ...toolFiles(), ...settingsFiles(), ...hookFiles(), ...sdkTypeFiles() };
}
