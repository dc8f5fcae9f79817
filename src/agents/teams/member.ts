import { PortcullisError } from '../../errors.js';
import { sliceWhole } from '../../lib/truncate.js';
import { createDuty } from './duty.js';
import { nodeTeamFiles } from './host/files.js';
import { LEAD, type TeamRole } from './records.js';
import type { TeamBase, TeamSide } from './team-base.js';
import type { TeamClient } from './team-client.js';
import { createIdleWait } from './teammate.js';
import { memberOf } from './teammate-launch.js';
import { ended } from './teammate-start.js';

const LONGEST_LAST = 8_000;
/** How long one waits for a lead that is gone to come back. */
const ALONE_MS = 60_000;
const WATCH_MS = 1_000;

/** The side of one that was started as a process of its own. */
export function openMember(
  base: TeamBase,
  role: Extract<TeamRole, { readonly kind: 'member' }>,
): TeamSide {
  const { identity } = role;
  const { name } = identity;
  const { warn } = base;
  const duty = createDuty({
    name,
    planRequired: role.planRequired,
    leadMode: role.leadMode,
    approved: (mode) => base.session.setMode(mode),
    warn,
  });
  let desk: TeamClient | undefined;
  let rest: ReturnType<typeof createIdleWait> | undefined;
  let lastText = '';
  let isOver = false;
  let watching: ReturnType<typeof setInterval> | undefined;
  let aloneSince: number | undefined;
  /** fail-closed: nobody works on for a lead that does not come back. */
  const look = (now: TeamClient): void => {
    const record = now.record();
    const isLed = record.ok && nodeTeamFiles.isAlive(record.value.lead.process);
    if (isLed) aloneSince = undefined;
    else aloneSince ??= performance.now();
    if (aloneSince !== undefined && performance.now() - aloneSince > ALONE_MS) isOver = true;
  };
  return {
    asks: { name, path: `${identity.team}/${name}` },
    isOver: () => isOver || duty.isOver,
    async begin() {
      const opened = base.openDesk();
      const member = opened.ok ? memberOf(opened.value.team, identity) : opened;
      if (!opened.ok || !member.ok) throw refused(member.ok ? '' : member.error);
      const { team } = opened.value;
      const self = nodeTeamFiles.self();
      const entered = await team.change(name, (now) =>
        now.state === 'starting'
          ? { ...now, state: 'idle', process: self, sessionId: base.sessionId }
          : now,
      );
      // fail-closed: two processes cannot be the same teammate.
      if (!entered.ok || entered.value?.process.pid !== self.pid) {
        throw refused(entered.ok ? 'it has been started already' : entered.error);
      }
      desk = opened.value;
      desk.duties.set(name, duty);
      rest = createIdleWait({ ...base.rest, desk }, duty);
      const now = desk;
      watching = setInterval(() => look(now), WATCH_MS);
      watching.unref();
      desk.post.add({
        name,
        had: await base.had(),
        onMail: (mail) => duty.onMail(mail),
        tell(message) {
          rest?.woken();
          base.session.tellMain(message);
          return true;
        },
      });
    },
    async rest(scene, text) {
      lastText = text;
      const move = (await rest?.beforeRest(scene, text)) ?? { kind: 'leave' as const };
      if (move.kind === 'leave') isOver = true;
      return move;
    },
    async close() {
      clearInterval(watching);
      if (desk === undefined) return;
      const said = sliceWhole(lastText.trim() || '(It said nothing.)', 0, LONGEST_LAST);
      // Before it is known to have ended: then it is nobody any more who could send something.
      const sent = await desk.send({ from: name, to: LEAD, kind: 'ended', text: said });
      if (!sent.ok) warn(`the lead was not told that ${name} has ended: ${sent.error}`);
      await desk.post.close();
      await ended({ tasks: base.tasks, warn }, desk, name);
    },
  };
}

function refused(why: string): PortcullisError {
  return new PortcullisError('usage', `this is no teammate: ${why}`, {
    remedy: 'teammates are started by the session that leads them',
  });
}
