import type { Project } from '../project.js';
import { checkDocuments, checkInstructions, checkServers } from './extensions.js';
import { checkHooks } from './hooks.js';
import { checkDisk, checkLeftovers, checkSandbox } from './machine.js';
import { checkPrograms } from './programs.js';
import { type AreaCheck, checkArea, type DoctorArea, type DoctorOptions } from './report.js';
import { checkModel, checkSettings, checkTrust } from './settings.js';

export { countState, type DoctorArea, type DoctorOptions, doctorText } from './report.js';

const AREAS: Readonly<Record<string, AreaCheck>> = {
  Programs: checkPrograms,
  Model: checkModel,
  Settings: checkSettings,
  Trust: checkTrust,
  Hooks: checkHooks,
  'MCP servers': checkServers,
  Instructions: checkInstructions,
  'Skills and agents': checkDocuments,
  Sandbox: checkSandbox,
  Disk: checkDisk,
  'Earlier sessions': checkLeftovers,
};

/** Checks everything that a session here depends on. Starts, sends and changes nothing unless the options say so. */
export async function examineProject(
  project: Project,
  options: DoctorOptions,
): Promise<readonly DoctorArea[]> {
  const areas: DoctorArea[] = [];
  for (const [name, check] of Object.entries(AREAS)) {
    areas.push(await checkArea(name, () => check(project, options), areas));
  }
  return areas;
}
