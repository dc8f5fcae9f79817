// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import * as parser from 'unbash';
import { describe, expect, it } from 'vitest';
import { Budget } from '../../gate/budget.js';
import { renderShell } from './render.js';

function render(code: string): string {
  const rendering = renderShell(code, parser.parse(code), parser, new Budget());
  return rendering.ok ? rendering.text : `refused: ${rendering.refusal.code}`;
}

describe('the canonical form of shell code', () => {
  it.each([
    ['ls -la a\\ b "c d"', "'ls' '-la' 'a b' 'c d'"],
    [`git commit -m "it's $x"`, `'git' 'commit' '-m' 'it'\\''s '"\${x}"`],
    ['a && b || c; d & e', "'a' && 'b' || 'c'; 'd' & 'e'"],
    ['a\nb # comment\n\nc', "'a'\n'b'\n'c'"],
    ['ls *.ts **/x [a-z]? {a,b}', "'ls' *'.ts' **'/x' [a-z]? {a,b}"],
    ['ls ~/a "~/b" x=~/c ~bob/d', "'ls' ~/'a' '~/b' x=~/'c' ~bob/'d'"],
    ['A=~/x:~/y B="c d" ls', "A=~/'x':~/'y' B='c d' 'ls'"],
    ['echo `pwd` $(ls; (cd x))', "'echo' $( 'pwd' ) $( 'ls'; ( 'cd' 'x' ) )"],
    ['ls >x 2>&1 <y >>z &>w', "'ls' > 'x' 2>&1 < 'y' >> 'z' > 'w' 2>&1"],
    [
      'echo ${x:-a b} "${x:-$y}" ${x%.ts} ${x//a/b} ${x: -1}',
      '\'echo\' ${x:-a b} "${x:-${y}}" ${x%.ts} ${x//a/b} ${x: -1}',
    ],
    ['echo $((1+2*x))', "'echo' $(( 1+2*x ))"],
    [
      'if a; then b; elif c; then d; else e; fi',
      "if 'a'; then 'b'; elif 'c'; then 'd'; else 'e'; fi",
    ],
    ['for x in a "b c"; do echo $x; done', "for x in 'a' 'b c'; do 'echo' ${x}; done"],
    ['while ! a; do b; done < f', "while ! 'a'; do 'b'; done < 'f'"],
    ['case $x in a|b*) c;; esac', "case ${x} in ('a' | 'b'*) 'c' ;; esac"],
    ['f() { ls; }; f', "f () { 'ls'; }; 'f'"],
    ['[[ -f a && $x == b* ]]', "[[ -f 'a' && ${x} == 'b'* ]]"],
    ['export A=$x; declare -a l=(1 [3]=4)', "export A=${x}; declare -a l=( '1' [3]='4' )"],
    ['ls ${x}\\\n ${y}', "'ls' ${x} ${y}"],
    ["echo $'a\\tb'", "'echo' 'a\tb'"],
    ['cat <<E\na $x \\$y\nE', "'cat' <<EOF\na ${x} \\$y\nEOF\n"],
    ["cat <<-'E' | wc\n\ta $x\n\tE\nls", "'cat' <<'EOF' | 'wc'\na $x\nEOF\n'ls'"],
    ['cat <<E\nEOF\nE', "'cat' <<'EOF1'\nEOF\nEOF1\n"],
    ['diff <(a) <(b)', "'diff' <( 'a' ) <( 'b' )"],
    ['', ''],
  ])('of %j', (code, form) => {
    expect(render(code)).toBe(form);
  });

  it.each([
    ['cat {,}~/a', 'quoting'],
    ['! ; ls', 'construct'],
    ['case x in x) ls;!; esac', 'construct'],
    ['dd {if,of}=~/a', 'quoting'],
    ['cat ~/{a,b}', 'quoting'],
    ['ls 1<(touch P)', 'ambiguous'],
    ['cat {x}<(touch P)', 'ambiguous'],
    ['ls a<(x)b', 'ambiguous'],
    ['cat <<-"\tE"\n\tE\ntouch P', 'ambiguous'],
    ["find a $\\\n'\\x2dexec' touch P", 'ambiguous'],
    ["echo x >&'$(touch P)'", 'ambiguous'],
    ['find a >&--exec touch P', 'ambiguous'],
    ["cat <<E\n${HOME:+'$(rm a)'}\nE", 'ambiguous'],
    ["a['$(touch P)']=1", 'quoting'],
    ["echo ${a['$(touch P)']}", 'quoting'],
    ['ls && touch( P', 'ambiguous'],
    ['echo "', 'syntax'],
    ['coproc ls', 'construct'],
    ["alias a='b'", 'construct'],
    ['ls !(x)', 'construct'],
    ['ls +(x)', 'construct'],
    ['echo ${x@P}', 'construct'],
    ['ls $x{a,b}', 'ambiguous'],
    [`${'$('.repeat(150)}ls${')'.repeat(150)}`, 'size'],
  ])('is refused for %j', (code, refusal) => {
    expect(render(code)).toBe(`refused: ${refusal}`);
  });
});
