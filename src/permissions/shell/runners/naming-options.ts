import { wordSet } from '../../../lib/patterns/word-set.js';

/** Parts of a name by which an option says what to run, to load or where to write. */
const NAMING = wordSet(
  `agent agentlib agentpath askpass browser callback cmd command commands conf config configfile editor
  engine eval exec executable execute extension hook hooks import interpreter javaagent launcher linker load loader
  log logfile out outdir outfile output outputfile pager plugin plugins preload preprocessor processor prog program
  rc rcfile setup teardown options opts renderer require rsh runner script scripts shell specs ssh transform transformer wrapper`,
);
/** Programs take long options that are cut short. */
const CUT_SHORT = wordSet(
  'browser command config editor output pager plugin program require script wrapper',
);

/** They ask for less, or only for how something looks. */
const HARMLESS =
  /^(no|show|print|quiet|suppress|capture|skip|disable|without|ignore)-|-(level|format|colou?r|verbosity)$/;
const FORMAT =
  /^(jsonc?|jsonl|ya?ml|text|table|wide|name|csv|tsv|xml|none|plain|tap|(jsonpath|custom-columns|go-template)=.*)$/s;

/** A name that the program knows, or a file that it loads. */
const LOADED = /^(env|extractor|haste|parser|pool|preset|provider|sequencer|serializers?|ui)$/;
/** What is named behind these may be written there, too. */
const NAMES_FILE = /(file|log|report|html|json|xml|csv|trace|profile)$/;
const ELSEWHERE = /^(\/(?!dev\/null$)|~|\.\.(\/|$))/;

/** Options of any program that by their name choose a program, a plugin, a configuration or an output. */
export function namingOptions(values: readonly string[]): readonly string[] {
  return values.filter((value, at) => {
    const [, dashes = '', name = '', given] =
      /^(--?)([A-Za-z][\w.-]*)(?:[=:](.*))?$/s.exec(value) ?? [];
    if (name === '' || (dashes === '-' && name.length < 4)) return false;
    const parts = name
      .replace(/([a-z])(?=[A-Z])/g, '$1-')
      .toLowerCase()
      .split(/[-_.]/);
    if (HARMLESS.test(parts.join('-'))) return false;
    const argument = given ?? values[at + 1] ?? '';
    if (parts.at(-1) === 'output' && FORMAT.test(argument)) return false;
    // A reporter or an environment is a name that the program knows, or a file that it loads.
    if (/^(reporters?|formatter|environment|resolver)$/.test(parts.at(-1) ?? ''))
      return /[./\\]/.test(argument);
    const last = parts.at(-1) ?? '';
    if (LOADED.test(last) && /^\.{0,2}\//.test(argument)) return true;
    if (NAMES_FILE.test(last) && ELSEWHERE.test(argument)) return true;
    const isCut = dashes === '--' && last.length > 3;
    return (
      parts.some((part) => NAMING.has(part)) ||
      (isCut && [...CUT_SHORT].some((word) => word.startsWith(last)))
    );
  });
}
