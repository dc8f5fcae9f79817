import type { Drive } from './drive.js';

/** Runs the steps of a drive. */
export interface Engine {
  execute(drive: Drive): Promise<void>;
  /** A drive of a dead worker, by its id `session:epoch`. */
  abandon(drive: string): Promise<void>;
  close(): Promise<void>;
}

/** Runs the steps one after another: where files are the truth, nothing else has to remember them. */
export const plainEngine: Engine = {
  async execute(drive) {
    await drive.provision();
    const end = await drive.drive();
    await drive.release(end);
  },
  async abandon() {
    // Nothing remembers the drive.
  },
  async close() {
    // Nothing is open.
  },
};
