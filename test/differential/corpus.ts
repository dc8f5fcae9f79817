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
  cat ../../outside/secret
  cat secret
  cat link/secret
  cat link/../outside/secret
  cat ~/notes.txt
  cat $HOME/notes.txt
  cat $PWD/../outside/secret
  cat $OLDPWD/secret
  ls ..
  cat outside/secret
  grep x ../outside/secret
  head ../outside/*
  ls /
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

export function lines(text: string): readonly string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim());
}
