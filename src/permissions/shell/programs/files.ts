import { type Effect, reads, writes } from '../effects/effect.js';
import { custom, type Program, program, rows } from '../effects/program.js';
import type { ShellWord } from '../model.js';
import { unpacked } from './archive.js';

const DESTROYS = { destroys: true } as const;

/** Programs of which it is known whether they read or change the files that they are given, and not much more. */
export const FILES: Readonly<Record<string, Program>> = {
  // `>` stands for a redirection where only words are looked at.
  ...rows(
    `> mknod patch rename ed ex vi vim nvim nano emacs split ffmpeg convert magick mktemp
    sponge strip objcopy ar setfattr script logsave black isort rustfmt dos2unix unix2dos mac2unix attr fallocate
    ranlib crudini mmv prename`,
    program('', 'write'),
  ),
  ...rows('bzip2 bunzip2 xz unxz lzma unlzma', program('', 'write', { also: unpacked })),
  csplit: program('-f:write', 'write'),
  ln: program('-t:write target-directory:write', 'write', { facts: DESTROYS }),
  install: program(
    `-bcCDdpsvT -gmoS: -t:write backup? group: mode: owner: suffix: strip-program:run target-directory:write`,
    'copy',
    { facts: DESTROYS },
  ),
  ...rows(
    `less more hd basenc diff3 sdiff openssl pr iconv shasum bat batcat zcat bzcat xzcat zstdcat lz4cat zless
    zmore look tsort ptx numfmt xmllint pandoc enscript gpg age`,
    program('', 'read'),
  ),
  source: program('', 'read', { facts: { runsAnything: true } }),
  curl: program('-O -oDc:write -w: write-out:', 'read', {
    facts: DESTROYS,
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
  wget: program('-OoaP:write', 'read', { facts: DESTROYS }),
  'ssh-keygen': program('-f:write', 'text'),
  ctags: program('-fo:write', 'text'),
  cscope: program('-f:write', 'text'),
  dd: custom(effectsOfDd, { facts: DESTROYS }),
};

function effectsOfDd(words: readonly ShellWord[]): readonly Effect[] {
  return words.flatMap((word) => {
    const [, name, value] = /^(if|of)=(.*)$/s.exec(word.value) ?? [];
    if (value === undefined) return [];
    return [(name === 'of' ? writes : reads)({ ...word, value })];
  });
}
