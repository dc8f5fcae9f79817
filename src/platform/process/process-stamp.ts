import { processAlive, startTimeOf } from './process-tree.js';

/** A process, told apart from a later one that got its number. */
export interface ProcessStamp {
  readonly pid: number;
  /** Absent where the system does not tell. */
  readonly start?: string | undefined;
}

/** Identifies processes across restarts of the program. */
export interface Processes {
  /** This process. */
  self(): ProcessStamp;
  /** Whether that very process still runs. */
  isAlive(stamp: ProcessStamp): boolean;
}

/** Reading it takes as long as the system needs to describe the process: milliseconds with 200 agents. */
const self: ProcessStamp = { pid: process.pid, start: startTimeOf(process.pid) };

export const nodeProcesses: Processes = {
  self: () => self,
  isAlive({ pid, start }) {
    if (!processAlive(pid)) return false;
    const now = startTimeOf(pid);
    return start === undefined || now === undefined || now === start;
  },
};
