import { PortcullisError } from '../../errors.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { Stays } from '../runtime/run.js';
import { Duty } from './duty.js';
import { teamFiles } from './host/files.js';
import type { TeamRole } from './records.js';
import type { TeamBase, TeamSide } from './team-base.js';
import type { TeamClient } from './team-client.js';
import { createIdleWait, leaveTeam, sendLast } from './teammate.js';
import { memberOf } from './teammate-launch.js';

/** How long a teammate waits for a lost lead to return. */
const ALONE_MS = 60_000;
const WATCH_MS = 1_000;

/** A teammate's side of the team, in its own process. */
export function openMember(
  base: TeamBase,
  role: Extract<TeamRole, { readonly kind: 'member' }>,
): TeamSide {
  const { identity, planRequired, leadMode } = role;
  const { name } = identity;
  const { warn, session } = base;
  const approved = (mode: PermissionMode): void => session.setMode(mode);
  const duty = new Duty({ name, planRequired, leadMode, approved, warn });
  let waiting: Stays | undefined;
  let lastText = '';
  let isOver = false;
  let watching: ReturnType<typeof setInterval> | undefined;
  let aloneSince: number | undefined;
  /** fail-closed: a teammate ends when its lead does not return. */
  const watchLead = (client: TeamClient): void => {
    const record = client.record();
    const isLed = record.ok && teamFiles.isAlive(record.value.lead.process);
    aloneSince = isLed ? undefined : (aloneSince ?? performance.now());
    if (aloneSince !== undefined && performance.now() - aloneSince > ALONE_MS) isOver = true;
  };
  return {
    asks: { name, path: `${identity.team}/${name}` },
    isOver: () => isOver || duty.isOver,
    async begin() {
      const opened = base.open();
      if (!opened.ok) throw refused(opened.error);
      const client = opened.value;
      await enter(base, client, identity);
      client.duties.set(name, duty);
      waiting = createIdleWait(base, client, duty);
      watching = setInterval(() => watchLead(client), WATCH_MS).unref();
      client.post.add({
        name,
        had: await base.had(),
        onMail: (mail) => duty.onMail(mail),
        tell(message) {
          waiting?.woken();
          session.tellMain(message);
          return true;
        },
      });
    },
    async rest(scene, text) {
      lastText = text;
      const move = (await waiting?.beforeRest(scene, text)) ?? { kind: 'leave' as const };
      if (move.kind === 'leave') isOver = true;
      return move;
    },
    async close() {
      clearInterval(watching);
      const { client } = base;
      if (waiting === undefined || client === undefined) return;
      // Sent before the teammate counts as ended, because after that it may not send.
      const sent = await sendLast(client, { name, kind: 'ended', text: lastText });
      if (!sent.ok) warn(`the lead was not told that ${name} has ended: ${sent.error}`);
      await client.post.close();
      await leaveTeam(base, client, name);
    },
  };
}

/** fail-closed: two processes cannot be the same teammate. */
async function enter(
  base: TeamBase,
  { team }: TeamClient,
  identity: Extract<TeamRole, { readonly kind: 'member' }>['identity'],
): Promise<void> {
  const member = memberOf(team, identity);
  if (!member.ok) throw refused(member.error);
  const self = teamFiles.self();
  const entered = await team.change(identity.name, (now) =>
    now.state === 'starting'
      ? { ...now, state: 'idle', process: self, sessionId: base.sessionId }
      : now,
  );
  if (!entered.ok || entered.value?.process.pid !== self.pid) {
    throw refused(entered.ok ? 'it has been started already' : entered.error);
  }
}

function refused(why: string): PortcullisError {
  return new PortcullisError('usage', `this is no teammate: ${why}`, {
    remedy: 'teammates are started by the session that leads them',
  });
}
