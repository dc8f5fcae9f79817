// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { lines } from './corpus.js';

/** How the words of a command line are brought together, in front of and around a command C. */
export const AROUND = lines(`
  C
  ls; C
  ls && C
  false || C
  ls | C
  C | ls
  ls |& C
  C & wait
  C &
  ! C
  time C
  time -p C
  ( C )
  { C; }
  if true; then C; fi
  if C; then ls; fi
  if false; then ls; else C; fi
  while C; do break; done
  until C; do break; done
  for i in 1; do C; done
  for i in 1 2; do C; done
  for ((i=0;i<1;i++)); do C; done
  case x in x) C;; esac
  case x in (x) C;& y) ls;; esac
  case $(C) in *) ls;; esac
  select i in 1; do C; done <<< 1
  f() { C; }; f
  function f { C; }; f
  ls() { C; }; ls
  f() ( C ); f
  coproc C
  coproc N { C; }
  echo $(C)
  echo "$(C)"
  echo \`C\`
  echo "\`C\`"
  ls <(C)
  ls >(C)
  cat < <(C)
  cat <(C) a.txt
  ls NN<(C)
  ls NN>(C)
  ls a<(C)
  cat {x}<(C)
  echo {a,<(C)}
  echo x >/dev/null >(C)
  echo {a,$(C)}
  x=$(C)
  x=<(C)
  x=(C)
  x=($(C))
  x=$(C) ls
  [[ -n $(C) ]]
  [[ a == $(C) ]]
  [[ a =~ $(C) ]]
  [[ $(C) -eq 0 ]]
  (( $(C) ))
  echo $(( $(C) ))
  echo $[ $(C) ]
  echo \${x:-$(C)}
  echo \${x:-\`C\`}
  echo "\${x:-$(C)}"
  echo "\${x:-'$(C)'}"
  echo \${x:-'$(C)'}
  echo \${x:+"$(C)"}
  echo \${x#$(C)}
  echo \${PWD/$(C)/b}
  echo \${PWD/a/$(C)}
  echo \${PWD:$(C):1}
  echo \${a[$(C)]}
  echo \${x@P}
  echo $((a[$(C)]))
  cat <<< $(C)
  cat <<< "$(C)"
  cat <<< '$(C)'
  exec C
  exec -a ls C
  command C
  command -p C
  command -- C
  builtin C
  env C
  env X=1 C
  env -i C
  nice C
  nice -n 3 C
  nohup C
  timeout 5 C
  timeout -k 1 5 C
  xargs C
  sudo C
  X=1 C
  LC_ALL=POSIX C
  trap - EXIT; C
  set -- C
  set -e; C
  shopt -s extglob; C
  exit 0; C
  # C
  ls # C
  ls #; C
  echo a#; C
  ls C
  cat C
  # a\\
  echo $((C) )
  echo $( (C) )
  echo $((ls); (C))
  ((C) )
  ((ls); C)
  !(C)
  x=!(C)
  ls @(C)
  $(case x in x) C;; esac)
  echo $(case x in x) C;; esac)
  echo \`echo \\\`C\\\`\`
  echo "\`echo \\"a\\"; C\`"
  echo "$(echo "$(C)")"
  echo "\${x:-"$(C)"}"
  echo "\${x:-'}$(C)'}"
  echo "\${x#'}$(C)'}"
  echo \${x:-'}'$(C)}
  echo \${x:-"}"$(C)}
  echo \${x:-\\}$(C)}
  echo \${x:-\${y:-$(C)}}
  echo \${PWD/$(ls /; C)}
  echo \${PWD/\`ls /; C\`/b}
  echo \${PWD/<(ls /; C)/b}
  echo "\${PWD//$(ls (/); C)/b}"
  echo \${PWD%$(ls }; C)}
  echo \${PWD:-$(ls }; C)}
  echo \${PWD^$(C)}
  echo \${x:=$(C)}
  echo \${x?$(C)}
  echo \${!x:-$(C)}
  echo \${ C; }
  x[$(C)]=1
  x=([$(C)]=1)
  x+=($(C))
  declare -a x=($(C))
  [[ -v x[$(C)] ]]
  [[ ( -n a ) && -n $(C) ]]
  [[ a =~ (a|$(C)) ]]
  [[ a < b ]] && C
  e[|$(C)]''
  e[$(C)]
  ls a[b$(C)]
  ls [<(C)]x
  e[C]=1
  for i in a; { C; }
  for i; do C; done
  for ((;;)) { C; break; }
  for i in $(C); do ls; done
  case esac in esac) C;; esac
  case x in (a|x) C; esac
  if ls; then ls; elif C; then ls; fi
  while read x; do C; done <<< a
  while read x; do C; done < a.txt
  f() if C; then ls; fi; f
  a.b() { C; }; a.b
  cd() { C; }; cd sub
  time -- C
  ! ! C
  time ! C
  ! time C
  2>&1 C
  >/dev/null C
  <a.txt C
  C 2>/dev/null
  C >&2
  { C; } 2>&1
  ( C ) >/dev/null
  x=1 y=$(C) ls
  x=~/$(C)
  -x=$(C)
  $x C
  \${x}\${y} C
  $(true) C
  exec -a ls \${x}C
  env -u A \${x}C
  sudo -u root \${x}C
  timeout -s KILL 5 \${x}C
  nice -n 3 $x C
  xargs -n 1 \${x}C
  exec 3<a.txt C
  cd sub; C
  cd sub && C
  cd sub || C
  (cd sub); C
  cd sub | C
  cd sub & C
  cd link; C
  cd -P link; C
  cd link/..; C
  cd -; C
  cd sub; cd -; C
  cd ..; C
  cd; C
  cd ~; C
  cd $x; C
  cd ""; C
  cd "$PWD"; C
  cd -- sub; C
  cd -e sub; C
  cd sub/..; C
  cd sub 2>/dev/null; C
  pushd sub; C
  pushd sub; popd; C
  CDPATH=.. cd outside; C
  CDPATH=..; cd outside; C
  OLDPWD=/ cd -; C
  OLDPWD=..; cd -; C
  HOME=..; cd; C
  PWD=..; cd $PWD; C
  read HOME <<< ..; cd; C
  if cd ..; then C; fi
  while cd ..; do C; break; done
  { cd ..; }; C
  f() { cd ..; }; f; C
  eval cd ..; C
  command cd ..; C
  builtin cd ..; C
  trap 'cd ..' DEBUG; C
  $(cd ..; C)
  echo $(cd ..; C)
`);
