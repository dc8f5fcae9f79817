import { readdirSync } from 'node:fs';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';

/**
 * A runtime in the middle of its work: 20 servers or as many as given, 10 hooks, 5 background shells, none of which goes by
 * itself. Every process writes a file with its pid into the directory of pids. `leave` says how it ends.
 */
const [stateDirectory = '', pids = '', leave = 'wait', servers = '20'] = process.argv.slice(2);
const supervisor = createProcessSupervisor({ stateDirectory, sessionId: 'custody' });
const env = { PATH: '/usr/local/bin:/usr/bin:/bin', PIDS: pids };
const base = { cwd: '/', env };

const SERVERS = Number(servers);
const HOOKS = 10;
const SHELLS = 5;

/** In the group; out of it; out of it and without our environment, while its parent still runs. */
const OFFSPRING = `
  sh -c 'trap "" TERM HUP INT; echo $$ >"$PIDS/$$"; while :; do sleep 1; done' &
  setsid sh -c 'trap "" TERM HUP INT; echo $$ >"$PIDS/$$"; while :; do sleep 1; done' &
  env -i P="$PIDS" setsid /bin/sh -c 'trap "" TERM HUP INT; echo $$ >"$P/$$"; while :; do sleep 1; done' &
`;
const STUBBORN = `trap "" TERM HUP INT; echo $$ >"$PIDS/$$"; ${OFFSPRING} while :; do sleep 1; done`;

/** A server that minds neither the end of its input nor polite signals. */
const SERVER = `
  const { writeFileSync } = require('node:fs');
  const { spawn } = require('node:child_process');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => {});
  process.stdin.on('error', () => {}).on('data', () => {}).resume();
  process.stdout.on('error', () => {});
  writeFileSync(process.env.PIDS + '/' + process.pid, '');
  if (process.argv[1] === '0') spawn('/bin/sh', ['-c', process.argv[2]], { stdio: 'ignore' });
  setInterval(() => {}, 1000);
`;

for (let index = 0; index < SERVERS; index++) {
  supervisor.open({
    ...base,
    command: process.execPath,
    args: ['-e', SERVER, String(index % 5), STUBBORN],
    label: `mcp server-${index}`,
    kind: 'mcp',
  });
}
for (let index = 0; index < HOOKS; index++) {
  const args = [
    '-c',
    index === 0 ? STUBBORN : 'trap "" TERM; echo $$ >"$PIDS/$$"; while :; do sleep 1; done',
  ];
  void supervisor.run({ ...base, command: '/bin/sh', args, label: `hook PreToolUse: ${index}` });
}
for (let index = 0; index < SHELLS; index++) {
  const args = ['-c', STUBBORN];
  supervisor.start({
    ...base,
    command: '/bin/sh',
    args,
    label: `bash_${index}: x`,
    longLived: true,
  });
}

const all = SERVERS + (SERVERS / 5) * 4 + HOOKS + 3 + SHELLS * 4;

const stop = async (): Promise<void> => {
  await supervisor.killAll();
  process.exit(0);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void stop());

const waiting = setInterval(() => {
  if (readdirSync(pids).length < all) return;
  clearInterval(waiting);
  process.stdout.write(`ready ${all}\n`);
  if (leave === 'exit') process.exit(0);
  if (leave === 'close') void stop();
}, 20);
