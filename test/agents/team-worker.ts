/** A process of a team: claims every task that it can get, or sends messages, until it is killed. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { claims, exclusiveTasks } from '../../src/agents/teams/tasks.js';
import { openTeamClient } from '../../src/agents/teams/team-client.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { randomUuid } from '../../src/platform/random.js';
import { createTaskStore } from '../../src/tools/tasks/task-store.js';

const [root = '', what = '', name = '', log = ''] = process.argv.slice(2);
const note = (text: string): void => appendFileSync(log, `${text}\n`);

if (what === 'claim') {
  const tasks = createTaskStore({
    fs: nodeFileSystem,
    directory: path.join(root, 'tasks'),
    exclusive: exclusiveTasks,
  });
  const list = await tasks.list('t');
  if (!list.ok) throw new Error(list.error);
  for (const { id } of [...list.value].sort(() => Math.random() - 0.5)) {
    const review = claims({ name, living: () => [] }, id);
    const done = await tasks.update('t', id, { status: 'in_progress' }, review);
    if (done.ok) note(id);
    else if (!done.error.includes('you cannot have it')) throw new Error(done.error);
  }
  note('end');
} else {
  const desk = openTeamClient({
    directory: path.join(root, 'teams'),
    team: 't',
    self: name,
    uuid: randomUuid,
    now: Date.now,
    warn: note,
  });
  if (!desk.ok) throw new Error(desk.error);
  for (let number = 0; number < 200; number++) {
    const text = `${name} ${number} ${randomUuid()}`;
    const sent = await desk.value.send({ from: name, to: 'team-lead', kind: 'message', text });
    if (!sent.ok) throw new Error(sent.error);
    note(text);
  }
  note('end');
}
