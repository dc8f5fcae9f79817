import { messageOf, PortcullisError } from '../../errors.js';
import { redact } from '../../lib/text/redact.js';
import { visible } from '../../lib/text/visible.js';
import type { Project } from '../project.js';

export type CheckState = 'ok' | 'warning' | 'problem';

/** One thing that `portcullis doctor` looked at. */
export interface DoctorCheck {
  readonly state: CheckState;
  readonly message: string;
  /** What to do about it; only a check that is fine has none. */
  readonly remedy?: string | undefined;
}

/** The checks of one area: programs, settings, hooks. */
export interface DoctorArea {
  readonly name: string;
  readonly checks: readonly DoctorCheck[];
}

export interface DoctorOptions {
  /** Send one short request to the model. */
  readonly online: boolean;
  /** Ask every guard hook once. */
  readonly run: boolean;
  /** Connect the MCP servers. */
  readonly connect: boolean;
  readonly signal: AbortSignal;
}

/** Looks at one area of a project. */
export type AreaCheck = (
  project: Project,
  options: DoctorOptions,
) => Promise<readonly DoctorCheck[]>;

export const ok = (message: string): DoctorCheck => ({ state: 'ok', message });

export const warning = (message: string, remedy: string): DoctorCheck => ({
  state: 'warning',
  message,
  remedy,
});

export const problem = (message: string, remedy: string): DoctorCheck => ({
  state: 'problem',
  message,
  remedy,
});

/** Runs the check of an area; what it throws becomes a check that failed, and the other areas still run. */
export async function checkArea(
  name: string,
  check: () => Promise<readonly DoctorCheck[]>,
  earlier: readonly DoctorArea[],
): Promise<DoctorArea> {
  try {
    // People show the report to others.
    const checks = (await check()).map((one) => ({ ...one, message: redact(one.message) }));
    return { name, checks };
  } catch (thrown) {
    const known = thrown instanceof PortcullisError ? thrown : undefined;
    if (known?.code === 'config' && countState(earlier, 'problem') > 0) {
      const message = 'Not checked, because no session would start here.';
      return {
        name,
        checks: [warning(message, 'Correct the problems above, then run this again.')],
      };
    }
    const remedy = known?.remedy ?? 'Report this if the message names no cause.';
    return { name, checks: [problem(redact(messageOf(thrown)), remedy)] };
  }
}

const MARKS: Readonly<Record<CheckState, string>> = {
  ok: '✓ ok     ',
  warning: '! warning',
  problem: '✗ problem',
};

/** The report for people: a line for each check, its remedy below, and a sum. */
export function doctorText(areas: readonly DoctorArea[]): string {
  const blocks = areas.map(({ name, checks }) => {
    const lines = checks.flatMap(({ state, message, remedy }) => [
      `  ${MARKS[state]}  ${visible(message)}\n`,
      ...(remedy === undefined ? [] : [`             → ${visible(remedy)}\n`]),
    ]);
    return `${name}\n${lines.join('')}`;
  });
  return `${blocks.join('\n')}\n${sumText(areas)}\n`;
}

export function countState(areas: readonly DoctorArea[], state: CheckState): number {
  return areas.flatMap(({ checks }) => checks).filter((one) => one.state === state).length;
}

function sumText(areas: readonly DoctorArea[]): string {
  const count = (state: CheckState): string => {
    const number = countState(areas, state);
    return `${number === 0 ? 'no' : number} ${state}${number === 1 ? '' : 's'}`;
  };
  const text = `${count('problem')}, ${count('warning')}.`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
