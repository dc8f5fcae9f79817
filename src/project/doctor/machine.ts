import { shellWord } from '../../lib/text/shell-word.js';
import { join } from '../../platform/fs/paths.js';
import { listChildren } from '../../platform/process/process-registry.js';
import { directoryUsage } from './disk/usage.js';
import { type AreaCheck, type DoctorCheck, ok, problem, warning } from './report.js';
import { counted } from './settings.js';

/** Checks whether commands can run in a sandbox, and what is missing. */
export const checkSandbox: AreaCheck = async (project) => {
  const { availability, enabledBy, required, problems } = await (await project.sandbox()).status();
  const faults = problems.map((message) => problem(message, 'Correct the sandbox settings.'));
  const isOn = enabledBy !== null;
  if (availability.kind === 'available') {
    const { driver, version, notes } = availability;
    const state = isOn ? `on (${enabledBy})` : 'off in the settings, available';
    return [ok(`${driver} ${version}: ${state}`), ...notes.map(ok), ...faults];
  }
  const { missing, remedy } = availability;
  if (!isOn) return [ok(`Off in the settings. It could not run here: ${missing}`), ...faults];
  const message = required
    ? `The settings require a sandbox, and there is none: ${missing}`
    : `Commands run without the sandbox that the settings enable: ${missing}`;
  return [(required ? problem : warning)(message, remedy), ...faults];
};

const MB = 1024 * 1024;
const LITTLE_SPACE = 100 * MB;
const SOME_SPACE = 1024 * MB;

/** Checks the directory of our state and the transcripts: writable, private, and room on the disk. */
export const checkDisk: AreaCheck = async ({ places }) => {
  const { stateDirectory, configDir } = places;
  const state = directoryUsage(stateDirectory);
  const transcripts = directoryUsage(join(configDir, 'projects'));
  const size = `${sizeText(state.bytes)} in ${counted(state.files, 'file')}`;
  const checks: DoctorCheck[] = [
    state.writable
      ? ok(`State: ${stateDirectory}, ${state.exists ? size : 'made when it is first needed'}`)
      : problem(
          `${stateDirectory} cannot be written: approvals, trust and undo are lost.`,
          'Make it writable, or name another directory in PORTCULLIS_HOME.',
        ),
    transcripts.writable
      ? ok(`Transcripts: ${join(configDir, 'projects')}, ${sizeText(transcripts.bytes)}`)
      : problem(
          `${join(configDir, 'projects')} cannot be written, so sessions are not recorded.`,
          'Make it writable, or name another directory in CLAUDE_CONFIG_DIR.',
        ),
  ];
  if (state.exposed.length > 0) {
    const [first = ''] = state.exposed;
    const more = state.exposed.length === 1 ? '' : ` and ${state.exposed.length - 1} more`;
    const message = `Other users of this machine may read or change ${first}${more}.`;
    checks.push(warning(message, `Run: chmod -R go= ${shellWord(stateDirectory)}`));
  }
  const { freeBytes } = state;
  if (freeBytes !== undefined) {
    const message = `${sizeText(freeBytes)} free on the disk`;
    if (freeBytes < LITTLE_SPACE) checks.push(problem(`Only ${message}.`, 'Free some space.'));
    else if (freeBytes < SOME_SPACE) checks.push(warning(`Only ${message}.`, 'Free some space.'));
    else checks.push(ok(message));
  }
  return checks;
};

function sizeText(bytes: number): string {
  if (bytes >= 1024 * MB) return `${(bytes / 1024 / MB).toFixed(1)} GB`;
  return bytes >= MB ? `${Math.round(bytes / MB)} MB` : `${Math.ceil(bytes / 1024)} KB`;
}

/** Checks for processes, teams and locks whose session has ended without cleaning up. */
export const checkLeftovers: AreaCheck = async (project) => {
  const { stateDirectory } = project.places;
  const orphans = listChildren(stateDirectory).filter(({ ownerAlive }) => !ownerAlive);
  const { teams, problems } = await project.teams();
  const unled = teams.filter(
    ({ isLed, members }) => !isLed && members.some(({ state }) => state !== 'ended'),
  );
  const { abandonedLocks } = directoryUsage(stateDirectory);
  const checks = [
    ...orphans.map(({ pid, label }) =>
      warning(`Process ${pid} (${label}) still runs; its session is gone.`, REAP),
    ),
    ...unled.map(({ name }) =>
      warning(`Team ${name} has members that still run; its lead is gone.`, REAP),
    ),
    ...problems.map((text) => warning(text, 'Remove the file of the team.')),
    ...abandonedLocks.map((path) => ok(`${path}: its process is gone; the next one takes it over`)),
  ];
  return checks.length === 0 ? [ok('Nothing was left by earlier sessions.')] : checks;
};

const REAP = 'End what is left with: portcullis ps --reap';
