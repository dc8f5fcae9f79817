// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code

/** Commands that look, or that rules of the rule sets cover. Words are separated by single blanks. */
export const HONEST = lines(`
  ls
  ls -la sub
  cat a.txt
  cat a.txt sub/b.txt
  head -n 3 a.txt
  tail -5 a.txt
  echo hello
  echo -n a b
  printf %s a
  pwd
  true
  wc -l a.txt
  sort a.txt
  sort -u a.txt
  uniq a.txt
  grep -n x a.txt
  grep -r x sub
  rg x sub
  find . -name *.txt
  find a.txt -print
  git status
  git status --short
  git log --oneline -3
  git diff a.txt
  git diff --stat
  npm test
  npm run build
  cd sub
  cd .
  test -f a.txt
  [ -f a.txt ]
  diff a.txt sub/b.txt
  sed -n 1,3p a.txt
  stat a.txt
  xxd -l 4 a.txt
  date +%s
  command -v ls
  wait
  basename a/b.txt
  cut -d: -f1 a.txt
  tr a b
`);

/** Commands that no rule set but the last allows, or that it denies. */
export const FORBIDDEN = lines(`
  touch P
  touch P Q
  rm a.txt
  rm -f a.txt
  rm .env
  git push
  git push origin main
  cat .env
  head .env
  curl x
  node x.js
  touch .git/hooks/pre-commit
  cp a.txt .claude/settings.json
  mkdir d
  cat ../outside/secret
  ./run.sh
  find . -delete
  find a.txt -exec touch P ;
  find . -name a.txt -exec rm {} ;
  find a.txt -fprint .git/config
  sort a.txt -o .claude/settings.json
  sort -o P a.txt
  git diff --output=P
  git diff --ext-diff
  xargs touch P
  sed -n wP a.txt
  tee P
`);

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
`);

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

/** What bash may read another way than a parser does: put in at random places. */
export const ATOMS: readonly string[] = [
  ...lines(`
  1 2 12 255 {x} {a} $! $? $# $$ $- $_ $0 $@ $* $1 $x \${x} \${x-} \${x:-} \${x+y} \${#} \${!} \${?} \${#x} \${!x}
  \${x:-y} \${x:-'y'} \${x@Q} \${x^^} \${x:0:1} \${x[0]} \${x[@]} "$@" "$x" "\${x[@]}"
  $'' $"" "" '' $ \\ ' " \` <( >( $( $(( ) (( )) { } , {a,b} {1..2} {,} {a, ,b} ~ ~+ ~- ~/ * ? [a] [!a] ** ! # & | |& && || ;
  ;; ;& << <<- <<< > >> >& 2>& >&- 2>&- <&- 3<&0- &> &>> >| <> < 2> 2>&1 >&2 >/dev/null {x}> {x}<&- = += x= x+= [0]= - -- -c -o -e % ^ @ :
  +( @( ?( !( *( \\x2d \\055 \\n \\' \\" \\$ \\; $'\\x2d' $'a' $"a" é \\( \\) \\{ if then fi do done case esac in function [[ ]] time coproc ! ]
  `).flatMap((line) => line.split(' ')),
  ' ',
  '\t',
  '\n',
  '\\\n',
  '$\\\n',
  '\\\n\\\n',
  '\u00a0',
  ' # ',
  "\n'",
  ' \\\n ',
  '$\\\n(',
  '<\\\n(',
  '&\\\n&',
  '>\\\n&',
];

function lines(text: string): readonly string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim());
}
