import { readOnlyCommandsFiles } from './read-only-commands.js';
import { settingsFiles } from './settings.js';
import { toolSchemaFiles } from './tool-schemas.js';

/** Every generated file of the project: path from the root → content. */
export async function generate(): Promise<Record<string, string>> {
  return { ...toolSchemaFiles(), ...settingsFiles(), ...readOnlyCommandsFiles() };
}
