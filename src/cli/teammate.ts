import { workingDirectory } from '../platform/host.js';
import { notTeammate, type TeammateRole, takeTeammateStart } from '../project/teammate.js';
import { parseArgs } from './args.js';

/** A program that was started as a teammate: its whole command line, and its role. */
export interface AsTeammate {
  readonly argv: readonly string[];
  readonly role: TeammateRole;
}

/** Variables of the terminal pane, which the environment of the lead does not replace. */
const OF_THE_PANE = /^(?:TMUX|TMUX_PANE|TERM|TERM_PROGRAM.*|COLORTERM|ITERM_.*|COLUMNS|LINES)$/;

/** Takes the environment and the remaining flags that the lead left for this process. */
export async function asTeammate(argv: readonly string[]): Promise<AsTeammate> {
  const parsed = parseArgs(argv);
  if (!parsed.ok) throw notTeammate(parsed.error);
  const { switches, values } = parsed.value;
  const one = (name: string): string => {
    const value = values.get(name)?.at(-1);
    if (value === undefined) throw notTeammate(`--${name} is missing`);
    return value;
  };
  if (switches.has('print') || values.has('input-format')) {
    throw notTeammate('teammates do not run with -p');
  }
  const plans = values.get('permission-mode')?.at(-1) === 'plan';
  const { role, env, args } = await takeTeammateStart({
    identity: {
      team: one('team-name'),
      name: one('agent-name'),
      agentId: one('agent-id'),
      leadSessionId: one('parent-session-id'),
    },
    plansFirst: plans && !switches.has('dangerously-skip-permissions'),
    cwd: workingDirectory(),
    env: process.env,
  });
  for (const name of Object.keys(process.env)) {
    if (!OF_THE_PANE.test(name)) delete process.env[name];
  }
  for (const [name, value] of Object.entries(env)) {
    if (!OF_THE_PANE.test(name)) process.env[name] = value;
  }
  return { argv: [...args, ...argv], role };
}
