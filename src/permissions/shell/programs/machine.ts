import { hazards } from '../effects/facts.js';
import { type Program, rows, unmodelled } from '../effects/program.js';

/** A client for transfers: `!` in its input runs a program here. */
const TRANSFERS = { interprets: 'transfers', runsInput: {} } as const;

/** Programs that administer the machine, connect to others, or show others on a screen of theirs. */
export const MACHINE: Readonly<Record<string, Program>> = {
  ...rows(
    'fdisk halt killall mkfs mount passwd pkill poweroff reboot shutdown umount useradd userdel wipefs',
    unmodelled({ destroys: true }),
  ),
  kill: unmodelled({ destroys: true, builtin: true }),
  sftp: unmodelled({
    ...TRANSFERS,
    destroys: true,
    launches: true,
    hazards: hazards('-SoFbD'),
  }),
  ...rows('ftp tftp lftp smbclient', unmodelled(TRANSFERS)),
  telnet: unmodelled({ runsInput: {} }),
  ...rows(
    'at batch crontab',
    unmodelled({ interprets: 'bare', runsInput: { unless: /^-[lrdv]/ } }),
  ),
  newgrp: unmodelled({ interprets: 'quoted' }),
  rsh: unmodelled({ runsAnything: true }),
  screen: unmodelled({ runsAnything: true, interprets: 'bare', runsAfter: /^-.*$/s }),
  socat: unmodelled({
    runsAnything: true,
    runsOption: { attached: /^(?:EXEC|SYSTEM|SHELL):([^,]+).*$/is },
  }),
  tmux: unmodelled({
    runsAnything: true,
    interprets: 'bare',
    runsAfter:
      /^(new|new-session|neww|new-window|split-window|splitw|respawn-pane|run-shell|run|send-keys|send)$/,
  }),
  ...rows('nc ncat netcat', unmodelled({ runsOption: { next: /^-\w*[ec]$/ } })),
  ip: unmodelled({ runsAfter: /^exec$/ }),
  direnv: unmodelled({ runsAnything: true, runsAfter: /^exec$/ }),
  printenv: unmodelled({ wholeOnly: /^\w*(KEY|TOKEN|SECRET|PASS)\w*( |$)/ }),
  tcpdump: unmodelled({ hazards: hazards('-zw') }),
};
