import { describe, it } from 'vitest';
import { findProgram } from '../../scripts/programs.mjs';

export { findProgram };

type ProgramName = Parameters<typeof findProgram>[0];

/**
 * A suite that drives programs of the list in `scripts/programs.mjs`. Where one is missing the suite is skipped and its
 * title says so; with PORTCULLIS_ALL_TESTS=1 it runs and fails.
 */
export function describeWith(
  programs: readonly ProgramName[],
  title: string,
  body: () => void,
): void {
  const { skip, needs } = check(programs);
  describe.skipIf(skip)(`${title}${needs}`, body);
}

/** One test of that kind. */
export function itWith(
  programs: readonly ProgramName[],
  title: string,
  body: () => void | Promise<void>,
): void {
  const { skip, needs } = check(programs);
  it.skipIf(skip)(`${title}${needs}`, body);
}

function check(programs: readonly ProgramName[]): { skip: boolean; needs: string } {
  const missing = programs.filter((name) => findProgram(name) === undefined);
  return {
    skip: missing.length > 0 && process.env.PORTCULLIS_ALL_TESTS !== '1',
    needs: missing.length === 0 ? '' : ` (needs ${missing.join(', ')})`,
  };
}
