import { countState, doctorText, examineProject } from '../../project/doctor/doctor.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { interruptible } from './person.js';
import { JSON_OPTION, printJson, SETTINGS_OPTION, withProject } from './project-call.js';

export const command: CommandSpec = {
  summary: 'Check programs, model, settings, trust, hooks, servers and disk.',
  options: [
    { flags: '--online', description: 'Also send one short request to the model.' },
    { flags: '--run', description: 'Also ask every guard hook once, as `hooks probe` does.' },
    { flags: '--connect', description: 'Also connect the MCP servers.' },
    SETTINGS_OPTION,
    JSON_OPTION,
  ],
  notes: `Without these options nothing of the project is run and nothing is sent.
Exit code 0: no problems, or only warnings; 1: problems.`,
  run: (call) =>
    withProject(
      call,
      (project) =>
        interruptible(async (signal) => {
          const { online, run, connect, json } = call.options;
          const areas = await examineProject(project, {
            online: online === true,
            run: run === true,
            connect: connect === true,
            signal,
          });
          const problems = countState(areas, 'problem');
          if (json === true) {
            const warnings = countState(areas, 'warning');
            printJson(call, { cwd: project.cwd, problems, warnings, areas });
          } else call.output.out(doctorText(areas));
          return problems === 0 ? EXIT.done : EXIT.error;
        }),
      // The report has all of it.
      { trustNotice: 'silent', warn: () => undefined },
    ),
};
