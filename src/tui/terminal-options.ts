import type { CommandOutput } from '../client/events.js';
import type { ReadText } from '../client/proposed-change.js';
import type { Action } from './input/composer.js';
import type { HistoryStore } from './input/history.js';
import type { Device, WindowKind } from './window.js';

/** What a terminal needs of the program around it. */
export interface TerminalOptions {
  readonly device: Device;
  /** Everything but `full` only appends lines. */
  readonly kind: WindowKind;
  /** Runs what is piped in. */
  readonly pipe?: ((listener: PipeListener) => void) | undefined;
  readonly colour: boolean;
  readonly history?: HistoryStore | undefined;
  /** The user's settings, asked for when the session is open: `editorMode`, `theme`. */
  settings?(): Readonly<Record<string, unknown>>;
  readonly keys?: Readonly<Record<string, Action>> | undefined;
  /** Sent once the terminal is open. */
  readonly prompt?: string | undefined;
  /** The session is saved, and can be continued. */
  readonly resumable?: boolean | undefined;
  /** False: a hook rewrites answers, so they are shown when they are whole. */
  streams?(): boolean;
  readonly readText: ReadText;
  branch?(): string | undefined;
  /** Hands the text to the user's editor; undefined: it was left without saving. */
  editText?(text: string): Promise<string | undefined>;
  /** The image on the clipboard as base64; undefined: there is none. Rejects where no program can read it. */
  clipboardImage?(): Promise<string | undefined>;
  /** Runs the user's status line command with facts about the session. */
  statusLine?(facts: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  /** Seconds between two runs of it besides those after events. */
  refreshSeconds?(): number | undefined;
  readonly version: string;
  now(): number;
}

/** How the terminal was left. */
export type Leaving = 'left' | 'interrupted' | 'closed';

/** What a pipe tells the terminal. */
export interface PipeListener {
  onOutput(command: string, output: CommandOutput): void;
  onProblem(text: string): void;
  /** All lines have run, and no turn is running. */
  onEnd(): void;
}
