import { LEAD } from '../agents/teams/records.js';
import type { TeamView } from '../agents/teams/team.js';
import { visible } from '../lib/text/visible.js';

/** Who is who, a line each. */
export function teamLines(team: TeamView): readonly string[] {
  const lead = team.isLed ? 'there' : 'gone';
  return [
    `${team.name}  ${LEAD}: session ${visible(team.leadSessionId.slice(0, 8))} (${lead})  ${visible(team.cwd)}`,
    ...team.members.map((member) => {
      const plan = member.planRequired ? ', plans first' : '';
      const pane = member.pane === undefined ? '' : ` ${member.pane}`;
      const kind = `${visible(member.agentType)}, ${visible(member.model)}, ${member.way}${pane}${plan}`;
      return `  ${member.name}  ${member.state}  (${kind})  ${visible(member.description)}`;
    }),
  ];
}
