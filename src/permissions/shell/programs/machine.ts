import { type Program, rows, unmodelled } from '../effects/program.js';

/** Programs that administer the machine, or show others on a screen of theirs. */
export const MACHINE: Readonly<Record<string, Program>> = {
  ...rows(
    `fdisk halt kill killall mkfs mount passwd pkill poweroff reboot sftp shutdown umount useradd userdel
    wipefs`,
    unmodelled({ destroys: true }),
  ),
  ...rows('direnv gdb rsh screen socat tmux .', unmodelled({ runsAnything: true })),
};
