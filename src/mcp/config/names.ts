import { visible } from '../../lib/text/visible.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { lookAlike, normaliseName } from '../tools/names.js';

/** The server's part in its tool names. */
export function serverKey(name: string): string {
  return normaliseName(name);
}

const LONGEST_NAME = 100;

/** Names that other programs use for their own components. */
const RESERVED: ReadonlySet<string> = new Set(
  ['workspace', 'claude-in-chrome', 'computer-use', 'Claude Preview', 'Claude Browser'].map(folded),
);

/** Why a server name is invalid; undefined when it is valid. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'its name is empty';
  if (name.trim() !== name) return 'its name begins or ends with a blank';
  if (name.length > LONGEST_NAME) return `its name is longer than ${LONGEST_NAME} characters`;
  const unclear = unclearProblem(name);
  if (unclear !== undefined) return unclear;
  const key = serverKey(name);
  if (RESERVED.has(folded(name))) return `the name "${name}" is reserved`;
  if (Object.hasOwn(RULE_TOOLS, key)) return `"${name}" is the name of a built-in tool`;
  if (key.toLowerCase().startsWith('mcp__'))
    return 'its name begins like the name of a tool (mcp__)';
  return undefined;
}

/** fail-closed: invisible or confusable characters could imitate a known server. */
function unclearProblem(name: string): string | undefined {
  if (visible(name) !== name)
    return `its name holds characters that cannot be seen: ${visible(name)}`;
  return name.normalize('NFKC') !== name || looksLikeLatin(name) || lookAlike(name) !== undefined
    ? 'its name holds characters that look like others'
    : undefined;
}

/** Whether two servers could have tools with the same full name: `mcp__a__b__c` is `c` of `a__b` and `b__c` of `a`. */
export function namesCollide(first: string, second: string): boolean {
  const taken = new TakenKeys<true>();
  taken.add(first, true);
  return taken.find(second) !== undefined;
}

/** Finds colliding server keys; see `namesCollide`. */
export class TakenKeys<T> {
  readonly #whole = new Map<string, T>();
  /** Maps each prefix that could be a key itself. */
  readonly #beginnings = new Map<string, T>();

  add(key: string, of: T): void {
    this.#whole.set(key, of);
    for (const beginning of beginnings(key)) this.#beginnings.set(beginning, of);
  }

  find(key: string): T | undefined {
    const found = [
      this.#beginnings.get(key),
      ...beginnings(key).map((one) => this.#whole.get(one)),
    ];
    return this.#whole.get(key) ?? found.find((one) => one !== undefined);
  }
}

/** The proper prefixes of the key that end before a `__`. */
function beginnings(key: string): readonly string[] {
  const found: string[] = [];
  const text = `${key}__`;
  for (let at = text.indexOf('__'); at < key.length; at = text.indexOf('__', at + 1))
    found.push(key.slice(0, at));
  return found;
}

function folded(name: string): string {
  return serverKey(name).toLowerCase();
}

/** Letters of other scripts that look like Latin ones. */
const DRAWN_ALIKE =
  /[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7\u03f2\u03f3\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0432\u0433\u0435\u043a\u043c-\u043e\u0440-\u0443\u0445\u0455\u0456\u0458\u04bb\u04cf\u0501\u051b\u051d\u0131\u0251\u0261\u0269\u026a\u028f\u0299\u029c\u2010-\u2015\u2212]|\p{Script=Cherokee}|\p{Script=Lisu}|\p{M}/u;

/** After composition accented letters are single characters, so a remaining combining mark is suspicious. */
function looksLikeLatin(name: string): boolean {
  if (DRAWN_ALIKE.test(name)) return true;
  const latin = /\p{Script=Latin}/u.test(name);
  return latin && /(?!\p{Script=Latin})\p{L}/u.test(name);
}
