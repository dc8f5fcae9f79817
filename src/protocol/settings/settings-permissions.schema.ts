import { z } from 'zod';
import { flag, list, words } from '../declare.schema.js';
import {
  disables,
  fence,
  grant,
  grantLater,
  later,
  liveFence,
  strictFence,
} from './setting-key.schema.js';

export const permissions = z.strictObject({
  allow: grant(list, 'Calls that need no asking.', { live: true }),
  ask: liveFence(list, 'Calls that are asked about, whatever allows them.'),
  deny: liveFence(list, 'Calls that are refused, whatever allows them.'),
  additionalDirectories: grant(list, 'Directories that count as inside, beside the working one.'),
  defaultMode: fence(
    words('default manual acceptEdits plan auto dontAsk bypassPermissions'),
    'The mode a session starts in. A project can lower what its user chose; a trusted one whose user chose none can set acceptEdits.',
  ),
  disableBypassPermissionsMode: disables('Forbids the mode bypassPermissions.'),
  disableAutoMode: disables('Forbids the mode auto, which is not available here.'),
  blockReadsOutsideWorkingDirectories: strictFence(
    flag,
    'Refuses to read outside the working directories.',
    { status: 'later', unenforced: true },
  ),
  blockWritesOutsideWorkingDirectories: strictFence(
    flag,
    'Refuses to write outside the working directories.',
    { status: 'later', unenforced: true },
  ),
  blockReadsExemptPaths: grantLater(list, 'Exceptions from the fence for reading.'),
  denyInsteadOfPrompting: strictFence(flag, 'Refuses whatever would be asked.', { live: true }),
  workingDirectoriesAsGiven: later(flag, 'Takes the given directories as they are.'),
});

/** Rules alone, as they stand for some agents. */
export const ruleLists = z.strictObject({
  allow: grant(list, 'As permissions.allow.'),
  ask: fence(list, 'As permissions.ask.'),
  deny: fence(list, 'As permissions.deny.'),
});
