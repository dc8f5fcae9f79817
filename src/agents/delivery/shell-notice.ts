import { quoteMarks } from '../../lib/quote-marks.js';
import { sliceWhole } from '../../lib/truncate.js';
import type { InputMessage } from '../../loop/types.js';
import type { BackgroundShell } from '../../tools/bash/shells.js';

/** What the agent is told when a background command of its ends. */
export function shellNotice(shell: BackgroundShell, uuid: string): InputMessage {
  const how =
    shell.exitCode === null ? (shell.signal ?? 'no exit code') : `exit code ${shell.exitCode}`;
  const name = quoteMarks(shell.description ?? sliceWhole(shell.command, 0, 80));
  const text = [
    '<task-notification>',
    `<task-id>${shell.id}</task-id>`,
    `<status>${shell.status}</status>`,
    `<summary>Background command "${name.replaceAll('<', '&lt;')}" ${shell.status} (${how})</summary>`,
    `<output-file>${shell.outputFile}</output-file>`,
    '</task-notification>',
  ].join('\n');
  return { uuid, content: [{ type: 'text', text }], meta: true };
}

/** The same in the words of the wire. */
export function shellStatus(shell: BackgroundShell): 'completed' | 'failed' | 'stopped' {
  if (shell.status === 'completed') return 'completed';
  return shell.status === 'killed' ? 'stopped' : 'failed';
}
