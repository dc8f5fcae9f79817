import { z } from 'zod';
import { flag, key, LATER, list } from './setting-key.schema.js';

export const permissions = z.strictObject({
  allow: key(list(), 'Calls that need no asking.', {
    needsTrust: true,
    restricts: false,
    live: true,
  }),
  ask: key(list(), 'Calls that are asked about, whatever allows them.', {
    restricts: true,
    live: true,
  }),
  deny: key(list(), 'Calls that are refused, whatever allows them.', {
    restricts: true,
    live: true,
  }),
  additionalDirectories: key(list(), 'Directories that count as inside, beside the working one.', {
    needsTrust: true,
    restricts: false,
  }),
  defaultMode: key(
    z.enum(['default', 'manual', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions']),
    'The mode a session starts in. A project can lower what its user chose; a trusted one whose user chose none can set acceptEdits.',
    { restricts: true },
  ),
  disableBypassPermissionsMode: key(z.literal('disable'), 'Forbids the mode bypassPermissions.', {
    restricts: true,
    strict: 'disable',
    strictest: true,
    live: true,
  }),
  disableAutoMode: key(
    z.literal('disable'),
    'Forbids the mode auto, which is not available here.',
    { restricts: true, strict: 'disable', strictest: true, live: true },
  ),
  blockReadsOutsideWorkingDirectories: key(
    flag(),
    'Refuses to read outside the working directories.',
    {
      restricts: true,
      strict: true,
      strictest: true,
      status: 'later',
      unenforced: true,
    },
  ),
  blockWritesOutsideWorkingDirectories: key(
    flag(),
    'Refuses to write outside the working directories.',
    { restricts: true, strict: true, strictest: true, status: 'later', unenforced: true },
  ),
  blockReadsExemptPaths: key(list(), 'Exceptions from the fence for reading.', {
    needsTrust: true,
    restricts: false,
    status: 'later',
  }),
  denyInsteadOfPrompting: key(flag(), 'Refuses whatever would be asked.', {
    restricts: true,
    strict: true,
    strictest: true,
    live: true,
  }),
  workingDirectoriesAsGiven: key(flag(), 'Takes the given directories as they are.', LATER),
});

/** Rules alone, as they stand for some agents. */
export const ruleLists = z.strictObject({
  allow: key(list(), 'As permissions.allow.', { needsTrust: true, restricts: false }),
  ask: key(list(), 'As permissions.ask.', { restricts: true }),
  deny: key(list(), 'As permissions.deny.', { restricts: true }),
});
