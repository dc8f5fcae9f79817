import { type Effect, reads, writes } from '../effects/effect.js';
import { hazards, type ProgramFacts } from '../effects/facts.js';
import { custom, type Program, program, rows } from '../effects/program.js';
import type { ShellWord } from '../model.js';
import { unpacked } from './archive.js';
import { BINUTILS } from './compilers.js';

const VIM: ProgramFacts = {
  interprets: 'bare',
  runsInput: {},
  hazards: hazards(
    '-cSuUwWslVi cmd startuptime remote remote-expr remote-send listen luamod-dev',
    /^\+/,
  ),
};
const DESTROYS = { destroys: true } as const;

/** Programs of which it is known whether they read or change the files that they are given, and not much more. */
export const FILES: Readonly<Record<string, Program>> = {
  // `>` stands for a redirection where only words are looked at.
  ...rows(
    `> mknod patch nano ffmpeg convert magick mktemp sponge setfattr black isort rustfmt dos2unix unix2dos mac2unix
    attr fallocate crudini mmv`,
    program('', 'write'),
  ),
  ...rows('bzip2 bunzip2 xz unxz lzma unlzma', program('', 'write', { also: unpacked })),
  ...rows('emacs rename prename', program('', 'write', { facts: { interprets: 'quoted' } })),
  ...rows('ar objcopy ranlib strip', program('', 'write', { facts: BINUTILS })),
  ...rows('vi vim nvim ex view rview rvim gvim vimdiff', program('', 'write', { facts: VIM })),
  ed: program('', 'write', { facts: { interprets: 'bare', runsInput: {} } }),
  logsave: program('', 'write', { facts: { launches: true } }),
  script: program('', 'write', { facts: { wraps: {} } }),
  split: program('', 'write', { facts: { hazards: hazards('filter') } }),
  csplit: program('-f:write', 'write', { facts: { hazards: hazards('-f prefix') } }),
  ln: program('-t:write target-directory:write', 'write', { facts: DESTROYS }),
  install: program(
    `-bcCDdpsvT -gmoS: -t:write backup? group: mode: owner: suffix: strip-program:run target-directory:write`,
    'copy',
    { facts: { ...DESTROYS, hazards: hazards('strip-program') } },
  ),
  ...rows(
    `more hd basenc pr iconv shasum bat batcat zcat bzcat xzcat zstdcat lz4cat zless
    zmore look tsort ptx numfmt xmllint enscript age`,
    program('', 'read'),
  ),
  gpg: program('', 'read', {
    facts: { hazards: hazards('-o output homedir photo-viewer show-photos keyring trustdb-name') },
  }),
  less: program('', 'read', {
    facts: {
      interprets: 'bare',
      hazards: hazards(
        '-oOkT lesskey-file lesskey-src lesskey-content log-file LOG-FILE tag-file',
        /^\+/,
      ),
    },
  }),
  ...rows(
    'diff3 sdiff',
    program('', 'read', { facts: { hazards: hazards('-o diff-program output') } }),
  ),
  openssl: program('', 'read', {
    facts: {
      hazards: hazards(
        '',
        /^(engine|-(engine|provider|provider-path|out|config|writerand|keylogfile|msgfile|sess_out))$/,
      ),
    },
  }),
  pandoc: program('', 'read', {
    facts: {
      hazards: hazards(
        `-FLod filter lua-filter pdf-engine output data-dir extract-media defaults template`,
        // A reader or writer of its own.
        /\.lua$/,
      ),
    },
  }),
  source: program('', 'read', { facts: { runsAnything: true, builtin: true, steers: true } }),
  curl: program('-O -oDc:write -K:names config:names -w: write-out:', 'read', {
    facts: {
      ...DESTROYS,
      hazards: hazards(
        `-oOKTDcEJn output config upload-file remote-name remote-name-all dump-header cookie-jar trace
        trace-ascii stderr libcurl hsts alt-svc netrc netrc-optional netrc-file cert key engine unix-socket
        abstract-unix-socket proto-default etag-save output-dir remote-header-name`,
        /^@|=[@<]|%output\{|^[\w+.-]*[{[][\w+.,{}[\]-]*:\/|^(file|scp|sftp|smb|smbs|dict|gopher|ldap|tftp|telnet):/i,
        { also: namesFileForCurl },
      ),
    },
    // A format may switch to a file: `%output{name}`, `%output{>>name}`.
    also: ({ values }) =>
      values.flatMap(({ option, value, word }) =>
        option !== 'w' && option !== 'write-out'
          ? []
          : [...value.matchAll(/%output\{(?:>>)?([^}]*)/g)].map(([, name = '']) =>
              writes({ ...word, value: name }),
            ),
      ),
  }),
  wget: program('-OoaP:write', 'read', {
    facts: {
      ...DESTROYS,
      hazards: hazards(
        `-OoaPie output-document output-file append-output directory-prefix use-askpass input-file
        config execute post-file body-file rejected-log load-cookies save-cookies warc-file`,
      ),
    },
  }),
  'ssh-keygen': program('-f:write', 'text'),
  ctags: program('-fo:write', 'text'),
  cscope: program('-f:write', 'text'),
  dd: custom(effectsOfDd, { facts: { ...DESTROYS, opens: true } }),
};

/** Values that curl reads from a file without a sign in front: `name@file`, and cookies without `=`. */
function namesFileForCurl(word: string, at: number, words: readonly string[]): boolean {
  const option = words[at - 1] ?? '';
  if (/^--(data-urle|url-|var)/.test(option)) return /^[^=]*@/.test(word);
  if (/^(--cookie|-\w*b)$/.test(option)) return !word.includes('=');
  return /^-b[^=]+$/.test(word);
}

function effectsOfDd(words: readonly ShellWord[]): readonly Effect[] {
  return words.flatMap((word) => {
    const [, name, value] = /^(if|of)=(.*)$/s.exec(word.value) ?? [];
    if (value === undefined) return [];
    return [(name === 'of' ? writes : reads)({ ...word, value })];
  });
}
