import { wordSet } from '../../lib/word-set.js';
import { programOf, type ShellWord } from './model.js';

/** Programs that may go through directories by themselves. What they do there is told elsewhere. */
export const TREE_PROGRAMS = wordSet(
  `grep egrep fgrep rgrep zgrep zegrep zfgrep bzgrep bzegrep bzfgrep xzgrep xzegrep xzfgrep lzgrep
  zstdgrep ggrep gegrep gfgrep pcregrep pcre2grep ug ugrep rg rga ripgrep batgrep ag pt ack ack-grep
  diff colordiff gdiff tar gtar bsdtar zip 7z 7za 7zr 7zz rar jar pax mksquashfs cpio cp gcp ditto mv
  gmv rsync scp rm grm srm trash trash-put rimraf find chmod chown chgrp setfacl chattr chcon gchmod
  gchown gchgrp gzip gunzip pigz unpigz compress uncompress zstd zstdmt unzstd pzstd lz4 unlz4 rclone
  aws gsutil gcloud s3cmd mc docker podman nerdctl kubectl oc lxc restic borg kopia fd fdfind git`,
);

/** A quick look, so that other commands cost nothing. */
export function mayTakeTree(words: readonly ShellWord[]): boolean {
  return TREE_PROGRAMS.has(programOf(words)?.toLowerCase() ?? '');
}
