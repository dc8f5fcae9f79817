// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { lines } from './corpus.js';

/** As AROUND, with the command as a text S that something evaluates. */
export const EVALUATED = lines(`
  eval S
  eval -- S
  eval "" S
  eval ls; S
  command eval S
  builtin eval S
  eval eval S
  bash -c S
  sh -c S
  bash -ec S
  bash -ce S
  bash -xc S
  bash -cO extglob S
  bash -co posix S
  bash -O extglob -c S
  bash -o posix -c S
  bash +O extglob -c S
  bash -c -- S
  bash -c -x S
  bash --norc -c S
  bash --rcfile x -c S
  bash --rcfile x <<< S
  bash -s x <<< S
  bash -s <<< S
  bash <<< S
  bash -O extglob <<< S
  bash - <<< S
  bash -- <<< S
  bash -x <<< S
  bash -i <<< S
  bash -l -c S
  bash +c S
  sh -o errexit <<< S
  sh -s <<< S
  sh -e <<< S
  bash /dev/stdin <<< S
  bash < <(echo S)
  bash <(echo S)
  echo S | bash
  echo S | sh -s
  printf %s S | bash
  . /dev/stdin <<< S
  source /dev/stdin <<< S
  . <(echo S)
  source lib.sh
  . ./lib.sh
  trap S EXIT
  trap -- S 0
  trap S DEBUG; ls
  trap S ERR; false
  mapfile -C S -c 1 x <<< a
  readarray -C S -c 1 x <<< a
  compgen -C S
  compgen -W "$(S)"
  complete -C S ls
  hash -p /usr/bin/rm ls; ls a.txt
  alias l=S; l
  alias ls=S; ls
  shopt -s expand_aliases; alias l=S
  PS4=S; set -x; ls
  BASH_ENV=S bash -c ls
  BASH_ENV='$( (C) )' bash -c ls
  PS4='$( (C) )'; set -x; ls
  ENV=S sh -c ls
  PROMPT_COMMAND=S ls
  x=S; $x
  x=S; eval $x
  x=S; eval "$x"
  x=S; \${x}
  x=S; "$x"
  x=S; bash -c "$x"
  set -- S; "$@"
  set -- S; $1
  set -- S; $*
  read x <<< S; $x
  read -r x <<< S; eval "$x"
  printf -v x %s S; $x
  mapfile -t x <<< S; \${x[0]}
  x=(S); \${x[0]}
  declare x=S; $x
  export x=S; $x
  local x=S; $x
  declare -n y=x; x=S; $y
  for x in S; do $x; done
  $(echo S)
  $(printf %s S)
  "$(echo S)"
  \`echo S\`
  echo x >&S
  echo x &>S
  echo x >S
  echo x 2>>S
  cat <S
  echo x <>S
  echo x >|S
  ls 2>&S
  env --split-string S
  xargs -I{} sh -c S
  timeout 5 bash -c S
  xargs sh -c S
  env bash -c S
  find . -exec sh -c S ;
  echo S
  ls S
`);
