import { visible } from '../../lib/text/visible.js';
import { displayPath, isAbsolute } from '../../platform/fs/paths.js';
import { workingDirectory } from '../../platform/host.js';
import type { Finding } from '../../project/documents.js';
import type { CommandCall } from '../command.js';
import { EXIT } from '../exit-code.js';
import { printJson } from './project-call.js';

/** What `validate` of skills, agents and plugins reports. */
export interface Validation {
  readonly noun: 'skill' | 'agent' | 'plugin';
  readonly count: number;
  readonly findings: readonly Finding[];
  /** What was checked, as JSON has it under the plural of the noun. */
  readonly checked: unknown;
}

/** Prints one line for each finding and a sum. Fails when there is an error among them. */
export function reportValidation(call: CommandCall, validation: Validation): number {
  const { noun, count, findings, checked } = validation;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (call.options.json === true) printJson(call, { [`${noun}s`]: checked, findings });
  else {
    for (const { place, line = 1, severity, message } of findings)
      call.output.out(`${placeText(place, line)}: ${severity}: ${visible(message)}\n`);
    const nouns = count === 1 ? noun : `${noun}s`;
    call.output.out(`${count} ${nouns}, ${errors} errors, ${findings.length - errors} warnings\n`);
  }
  return errors === 0 ? EXIT.done : EXIT.error;
}

/** `file:line` with the file as seen from the working directory; other names stay as they are. */
export function placeText(place: string, line?: number): string {
  const shown = isAbsolute(place) ? displayPath(place, workingDirectory()) : place;
  return visible(line === undefined ? shown : `${shown}:${line}`);
}
