/** How a command line becomes a program with arguments. */
export interface ShellProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A fresh shell that runs the text as it is: no start-up files, no positional parameters, standard
 * error in standard output's order. With `reportCwd` it writes its directory to descriptor 3 when it
 * ends, whichever way; the command itself and what it starts do not have that descriptor. With `held` it
 * waits for a line on standard input before it does anything, and then has none: see `SpawnRequest.hold`.
 */
export function shellProgram(
  shell: 'bash' | 'sh',
  text: string,
  options: { readonly reportCwd: boolean; readonly held?: boolean },
): ShellProgram {
  const run = options.reportCwd ? REPORTING : PLAIN;
  const script = options.held === true ? `${HOLD}${run}` : run;
  const flags = shell === 'bash' ? ['--norc', '--noprofile'] : [];
  return { command: shell, args: [...flags, '-c', script, shell, text] };
}

/**
 * fail-closed: whoever was to let it go is gone when there is no line. A time limit for reading that the
 * environment sets is none for this.
 */
const HOLD = 'TMOUT= read __portcullis_command || exit 125; exec </dev/null; ';
/** One line, so that line numbers in messages are those of the command. */
const PREAMBLE = '__portcullis_command=$1; shift; exec 2>&1; ';
/** The space keeps a command that starts with a dash from being taken for an option of `eval`. */
const RUN = 'eval " $__portcullis_command"';
const PLAIN = `${PREAMBLE}${RUN}`;
/** In braces with errors sent away, so that `set -x` does not show it. */
const REPORTING = `${PREAMBLE}trap '{ pwd -P >&3; } 2>/dev/null' EXIT; ${RUN} 3>&-`;
