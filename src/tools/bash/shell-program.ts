/** How a command line becomes a program with arguments. */
export interface ShellProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A fresh shell that runs the text as it is: no start-up files, no positional parameters, standard
 * error in standard output's order. With `reportCwd` it writes its directory to descriptor 3 when it
 * ends, whichever way; the command itself and what it starts do not have that descriptor.
 */
export function shellProgram(
  shell: 'bash' | 'sh',
  text: string,
  options: { readonly reportCwd: boolean },
): ShellProgram {
  const script = options.reportCwd ? REPORTING : PLAIN;
  const flags = shell === 'bash' ? ['--norc', '--noprofile'] : [];
  return { command: shell, args: [...flags, '-c', script, shell, text] };
}

/** One line, so that line numbers in messages are those of the command. */
const PREAMBLE = '__portcullis_command=$1; shift; exec 2>&1; ';
/** The space keeps a command that starts with a dash from being taken for an option of `eval`. */
const RUN = 'eval " $__portcullis_command"';
const PLAIN = `${PREAMBLE}${RUN}`;
/** In braces with errors sent away, so that `set -x` does not show it. */
const REPORTING = `${PREAMBLE}trap '{ pwd -P >&3; } 2>/dev/null' EXIT; ${RUN} 3>&-`;
