import type { Recursion } from '../effects/effect.js';
import type { GivenOptions } from '../effects/options.js';
import { type Program, program } from '../effects/program.js';

export const GREP = program(
  `-ivnHhlLcoqswxEFGPabzZUTyIuVOp -r=recursive -R=recursive+follow -S=follow -e:pattern -f:patterns -ABCmdD: -#
  after-context: before-context: binary-files: byte-offset color? colour? context: count directories:
  exclude: exclude-dir: exclude-from:read extended-regexp files-with-matches files-without-match file:patterns
  fixed-strings ignore-case include: initial-tab invert-match line-buffered line-number line-regexp max-count:
  no-filename no-ignore-case no-messages null only-matching perl-regexp quiet recursive=recursive
  dereference-recursive=recursive+follow regexp:pattern silent text with-filename word-regexp basic-regexp
  devices: group-separator: no-group-separator label: unix-byte-offsets version help decompress=unsure`,
  'pattern-read',
  { plain: true, here: true, walks: walksOfGrep },
);

function walksOfGrep({ tags, values }: GivenOptions): Recursion | undefined {
  const how = values.filter(({ option }) => option === 'd' || option === 'directories');
  const isTold = how.some(({ word }) => 'recurse'.startsWith(word.value));
  return tags.has('recursive') || isTold ? { follows: tags.has('follow') } : undefined;
}

export const RG = program(
  `-ivnNHIlcowxFsSuUP.0pqaVhb -L=follow -z=unsure -e:pattern -gABCmtTdjrME: -f:patterns after-context:
  before-context: case-sensitive color: column context: count count-matches crlf files=no-pattern
  files-with-matches files-without-match fixed-strings file:patterns follow=follow glob: heading hidden iglob:
  ignore-case ignore-file:read invert-match json line-number line-regexp max-columns: max-count: max-depth:
  max-filesize: multiline multiline-dotall no-filename no-heading no-ignore no-ignore-vcs no-line-number
  no-messages null only-matching pcre2 pretty quiet regexp:pattern replace: smart-case sort: sortr: stats text
  threads: trim type: type-list type-not: unrestricted vimgrep with-filename word-regexp search-zip=unsure
  pre:run pre-glob: hostname-bin:run type-add: type-clear: encoding: colors: context-separator:
  field-context-separator: field-match-separator: engine: hyperlink-format: path-separator: regex-size-limit:
  dfa-size-limit: generate: no-config no-hidden no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global
  no-ignore-messages no-ignore-parent no-require-git one-file-system debug trace binary mmap no-mmap line-buffered
  block-buffered passthru glob-case-insensitive version help byte-offset auto-hybrid-regex no-unicode null-data
  include-zero print0`,
  'pattern-read',
  { here: true, walks: ({ tags }) => ({ follows: tags.has('follow') }) },
);

export const DIFF = program(
  `-abBcdeEipqstTuwyNvnZ -r=recursive -l=unsure -UCWIFLxSD: -X:read brief color? context? ignore-all-space
  ignore-blank-lines ignore-case ignore-space-change minimal new-file no-dereference=no-follow
  recursive=recursive side-by-side suppress-common-lines text unified? width: normal report-identical-files
  strip-trailing-cr exclude: exclude-from:read starting-file: from-file:read to-file:read label:
  show-function-line: ignore-matching-lines: ifdef: horizon-lines: tabsize: line-format: palette:
  unidirectional-new-file paginate=unsure`,
  'read',
  {
    // Of two directories it compares the files in them, and those that links in there lead to.
    walks: ({ tags }) => ({
      follows: !tags.has('no-follow'),
      ...(tags.has('recursive') ? {} : { depth: 1 }),
    }),
  },
);

export const SEARCH: Readonly<Record<string, Program>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: RG,
  diff: DIFF,
  du: program(
    `-abchklmsSx0 -dtB: all apparent-size block-size: bytes exclude: human-readable max-depth: null
    one-file-system summarize si threshold: total`,
    'read',
    { plain: true, here: true, walks: () => ({ follows: false, namesOnly: true }) },
  ),
  tree: program(
    `-adfFghiJnNpqrstuvUxCDQ -LIP: -o:write dirsfirst filelimit: noreport gitignore prune si inodes device sort?
    matchdirs`,
    'read',
    { here: true, walks: () => ({ follows: false, namesOnly: true }) },
  ),
};
