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

/** `e`, `w`, `W`, `r`, `R` as commands: at the start, after an address, or after another command. */
const REACHES_OUT = /(?:^|[;{}\n\d$!,/|#%+~]|\\\n)\s*[ewWrRF](?:\s|[;}]|$)/;

/**
 * Whether an argument of sed can do no more than change text. Wrong only in one direction: what looks
 * like a command that writes, reads or runs something may be part of a text.
 */
export function isPlainScript(value: string): boolean {
  if (isEditingScript(value)) return true;
  if (/^\s*-/.test(value)) return true;
  return !REACHES_OUT.test(value) && !substitutionReachesOut(value);
}

/** The flags `e` and `w` of any substitution in a script. */
function substitutionReachesOut(script: string): boolean {
  for (const found of script.matchAll(/s([^\w\s\\])/g)) {
    const delimiter = found[1] ?? '/';
    let at = (found.index ?? 0) + 2;
    for (let count = 0; at < script.length && count < 2; at++) {
      if (script.charAt(at) === '\\') at++;
      else if (script.charAt(at) === delimiter) count++;
    }
    if (/^[gpIiMm\d]*[ew]/.test(script.slice(at))) return true;
  }
  return false;
}
