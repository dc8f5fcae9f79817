import { createProcessSupervisor } from '../../src/platform/process/node-process.js';

/** A program that runs commands until somebody ends it. Writes the pids of everything it started. */
const [stateDirectory = '', mode = 'wait'] = process.argv.slice(2);
const supervisor = createProcessSupervisor({ stateDirectory });
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const onOutput = (chunk: string): boolean => process.stdout.write(chunk);
const command = (script: string, longLived: boolean) =>
  supervisor.start({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env,
    label: longLived ? 'background' : 'foreground',
    longLived,
    onOutput,
  });

command('echo $$; sleep 100 & echo $!; wait', false);
command("echo $$; trap '' TERM; while :; do sleep 1; done", true);
command("setsid sh -c 'echo $$; exec sleep 100' & wait", true);
await supervisor.run({
  command: '/bin/sh',
  args: ['-c', 'sleep 100 >/dev/null 2>&1 & echo $!'],
  cwd: '/',
  env,
  label: 'left behind',
  onOutput,
});
// The foreground command is known to the watchdog by now.
setTimeout(() => {
  process.stdout.write('ready\n');
  if (mode === 'exit') process.exit(0);
}, 300);
