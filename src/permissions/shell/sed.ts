import { scanSed } from './sed-script.js';

const ADDRESS = '(?:\\d+|\\$|/[^/\\\\\\n]*/)';
const RANGE = `(?:${ADDRESS}(?:,(?:${ADDRESS}|[+~]\\d+))?)?`;
const PRINT = new RegExp(`^\\s*${RANGE}\\s*[p=dq]?\\s*$`);
const BEFORE_SUBSTITUTE = new RegExp(`^\\s*${RANGE}\\s*s`);

/** A sed script that only chooses lines: nothing that writes a file or runs a command. */
export function isPrintingScript(script: string): boolean {
  return script !== '' && script.split(/[;\n]/).every((command) => PRINT.test(command));
}

/** A sed script that changes text and nothing else: as above, or one plain substitution. */
export function isEditingScript(script: string): boolean {
  return isPrintingScript(script) || isSubstitution(script);
}

/** `s/old/new/flags`; the flags `w` and `e` would write a file and run a command. */
function isSubstitution(script: string): boolean {
  const start = BEFORE_SUBSTITUTE.exec(script)?.[0].length;
  if (start === undefined) return false;
  const delimiter = script.charAt(start);
  if (!/[/|#,:@!%_~]/.test(delimiter)) return false;
  let found = 0;
  let at = start + 1;
  for (; at < script.length && found < 2; at++) {
    if (script.charAt(at) === '\\') at++;
    else if (script.charAt(at) === delimiter) found++;
    else if (script.charAt(at) === '\n') return false;
  }
  return found === 2 && /^[gIip0-9]*\s*$/.test(script.slice(at));
}

/** Whether a script of sed can do no more than change text. fail-closed: what cannot be followed may do more. */
export function isPlainScript(script: string): boolean {
  if (isEditingScript(script)) return true;
  const { reads, writes, runs, broken } = scanSed(script);
  return !broken && reads.length + writes.length + runs.length === 0;
}

/** The scripts among the arguments of sed. Undefined: there is an option that is not known, or a file of commands. */
export function scriptsOfSed(values: readonly string[]): readonly string[] | undefined {
  const scripts: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? '';
    if (value === '--') {
      operands.push(...values.slice(at + 1));
      break;
    }
    if (!/^-./.test(value)) {
      operands.push(value);
      continue;
    }
    const given = SCRIPT_OPTION.exec(value);
    if (given !== null) scripts.push(given[1] || given[2] || (values[++at] ?? ''));
    else if (/^-[nrEsuzb]*l$|^--line-length$/.test(value)) at++;
    else if (!PLAIN_OPTION.test(value)) return undefined;
  }
  return scripts.length > 0 ? scripts : operands.slice(0, 1);
}

/** `-e script`, `-nescript`, `--expression=script`; long options may be cut short. */
const SCRIPT_OPTION = /^(?:-[nrEsuzb]*e(.*)|--e(?:x[a-z]*)?(?:=(.*))?)$/s;
const PLAIN_OPTION =
  /^(?:-[nrEsuzb]+|-[nrEsuzb]*i.*|-[nrEsuzb]*l\d+|--(?:quiet|silent|debug|posix|regexp-extended|separate|sandbox|unbuffered|null-data|zero-terminated|binary|follow-symlinks|help|version|in-place(?:=.*)?|line-length=\d+))$/s;
