import { ownWords } from './evaluated-words.js';
import { maySplit, nameOf, programOf, type SimpleCommand } from './model.js';

/** Builtins that look up a name which an option gives them, subscript and all. */
const LOOKS_UP = /^(test|\[|printf|wait)$/;

/**
 * Why one of these may be given `-v a[$(…)]` by a word without quotes, which the shell splits: the
 * command line itself holds what such text is made of.
 */
export function composedIn(commands: readonly SimpleCommand[]): string | undefined {
  const splitting = commands.find(({ words }) => {
    const mine = ownWords(words);
    const name = nameOf(mine) ?? '';
    // Behind its format printf takes no option.
    const open = mine.slice(1, name === 'printf' ? 2 : undefined);
    return LOOKS_UP.test(name) && open.some(maySplit);
  });
  if (splitting === undefined || !commands.some(makesCode)) return undefined;
  // fail-closed: nobody follows what is put together on the way.
  return `\`${nameOf(ownWords(splitting.words))}\` takes words apart that may hold code`;
}

/** Text that becomes a substitution, whole or in part, or the number of one of its characters. */
const CODE = /\$[({]|\$$|`|\\(x24|x60|0?44|0?140|u0*24)|%c|%b/i;
/** The same in quotes, of a word that is not known as a whole. */
const QUOTED_CODE = /'[^']*(\$[({']|`|\\[x0-9u]|%[cb])|\\[$`]/i;
/** Programs that make other text of what they are given. */
const MAKES_TEXT =
  /^(base(32|64|nc)|xxd|uudecode|openssl|rev|perl|python[\d.]*|ruby|node|php|lua|zcat|gunzip|unxz|xzcat)$/;

function makesCode({ words, assignments, input }: SimpleCommand): boolean {
  if (MAKES_TEXT.test(programOf(words) ?? '') || CODE.test(input)) return true;
  return [...words, ...assignments.map(({ value }) => value)].some(({ literal, value, raw }) =>
    literal ? CODE.test(value) : QUOTED_CODE.test(raw),
  );
}
