// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code

/** Just under the length from which on a command is not even read. */
export const LONG_INPUT_LENGTH = 60 * 1024;

/** Command lines of 60 KiB, by name: each must be judged or asked about with bounded work. */
export const LONG_INPUTS: Readonly<Record<string, string>> = {
  env: repeat('env ', 'ls'),
  'env -i': repeat('env -i A=b ', 'ls'),
  sudo: repeat('sudo ', 'ls'),
  'sudo -u': repeat('sudo -u root ', 'ls'),
  timeout: repeat('timeout 5 ', 'ls'),
  nice: repeat('nice -n 3 ', 'ls'),
  xargs: repeat('xargs ', 'ls'),
  'mixed launchers': repeat('env nice sudo xargs timeout 5 command ', 'ls'),
  'find -exec': repeat('find . -exec ', 'ls'),
  'sh -c': repeat('sh -c ', 'ls'),
  'sh -c in quotes': nestedQuotes('sh -c'),
  eval: repeat('eval ', 'ls'),
  'cd or': repeat('cd a||', 'ls'),
  'cd and': repeat('cd a&&', 'ls'),
  'cd list': repeat('cd sub; ', 'ls'),
  'cd different': numbered((at) => `cd d${at}; `, 'ls'),
  'cd or different': numbered((at) => `cd d${at}||`, 'ls'),
  'cd dash': repeat('cd -; cd sub; ', 'ls'),
  'cd in groups': repeat('(cd a; ', 'ls', ')'),
  assignments: numbered((at) => `A${at}=$A${at - 1} `, 'ls'),
  'assignments in lines': numbered((at) => `A${at}=$A${at - 1}\n`, 'ls $A1'),
  'nested quotes': repeat(`"'`, '', `'"`),
  'nested substitution quotes': repeat('"$(echo ', 'a', ')"'),
  'escaped quotes': `ls ${repeat('\\"', 'a')}`,
  'alternate quotes': `ls ${repeat(`'a'"b"`, 'c')}`,
  'open parentheses': repeat('(', 'ls'),
  parentheses: repeat('(', 'ls', ')'),
  'arithmetic parentheses': `echo $((${repeat('(', '1', ')')}))`,
  'open arithmetic': repeat('((', '1'),
  'brace groups': repeat('{ ', 'ls', ' ;}'),
  'nested braces': `ls ${repeat('{a,', 'b', '}')}`,
  'open braces': `ls ${repeat('{a,', 'b')}`,
  'multiplied braces': `ls ${repeat('{a,b}', 'c')}`,
  'brace sequences': `ls ${repeat('{1..9}', 'c')}`,
  'wide braces': `ls {${repeat('a,', 'b')}}`,
  'deep pattern': `ls ${repeat('*/', '*')}`,
  'deep pattern of rm': `rm ${repeat('*/', '*')}`,
  'starred pattern': `ls ${repeat('*a', 'b')}`,
  'many patterns': `ls ${repeat('*.t ', '*')}`,
  'pattern behind a variable': `ls $A/${repeat('*/', 'x')}`,
  'set pattern': `ls ${repeat('[a-z]', '*')}`,
  'extended pattern': `ls ${repeat('@(a|', 'b', ')')}`,
  'parent path': `cat ${repeat('../', 'x')}`,
  'long path': `cat ${repeat('a/', 'x')}`,
  substitutions: repeat('$( ', 'ls', ')'),
  'echoed substitutions': repeat('echo $( ', 'ls', ')'),
  'open substitutions': repeat('$( ', 'ls'),
  backquotes: repeat('`', 'ls'),
  'process substitutions': repeat('cat <( ', 'ls', ')'),
  'parameter defaults': `echo ${repeat('${A:-', 'x', '}')}`,
  'here-documents': numbered((at) => `cat <<E${at}\nx\nE${at}\n`, 'ls'),
  'here-documents at once': `cat ${repeat('<<E ', 'a', '\nE')}`,
  'here-document of many lines': `cat <<'E'\n${repeat('line\n', '')}E`,
  'here-strings': `cat ${repeat('<<<x ', '')}`,
  pipes: repeat('ls | ', 'ls'),
  'pipes of xargs': repeat('xargs echo | ', 'ls'),
  lists: repeat('ls; ', 'ls'),
  'background jobs': repeat('ls & ', 'wait'),
  conditions: repeat('if ls; then ', 'ls', '; fi'),
  loops: repeat('while ls; do ', 'ls', '; done'),
  'for loops': numbered((at) => `for a${at} in 1; do `, 'ls'),
  cases: repeat('case a in a) ', 'ls', ';; esac'),
  functions: repeat('f() { ', 'ls', '; }'),
  'many functions': numbered((at) => `f${at}() { f${at - 1}; }\n`, 'f1'),
  words: repeat('ls a ', 'a'),
  'many words': `rm ${repeat('a ', 'a')}`,
  'many paths': `cat ${numbered((at) => `d${at}/x `, 'a')}`,
  options: `ls ${repeat('-l ', '-a')}`,
  'git options': `git ${repeat('-c a=b ', 'status')}`,
  'git pathspecs': `git add ${repeat(':!a ', 'b')}`,
  'find expression': `find . ${repeat('-name a -o ', '-name b')}`,
  'find parentheses': `find . ${repeat('\\( ', '-name b', ' \\)')}`,
  'find negations': `find . ${repeat('! ', '-name b')}`,
  'sed script': `sed -n '${repeat('1p;', '2p')}' a.txt`,
  'printf format': `printf '${repeat('%s', 'a')}' a`,
  'tar options': `tar ${repeat('--exclude=a ', '-cf x .')}`,
  'tar directories': `tar -cf a ${repeat('-C b c ', 'd')}`,
  'copied files': `cp -r ${repeat('a ', 'b')}`,
  stars: `ls ${repeat('* ', '*')}`,
  'redirections to stars': `ls ${repeat('>* ', '')}`,
  'python code': `python3 -c '${repeat('open("a");', '1')}'`,
  redirections: `ls ${repeat('2>&1 ', '')}`,
  'write redirections': `ls ${repeat('>a ', '')}`,
  'line continuations': `ls ${repeat('\\\n', 'a')}`,
  'empty lines': repeat('\n', 'ls'),
  comments: repeat('# a\n', 'ls'),
  dollars: `echo ${repeat('$', 'a')}`,
  variables: `echo ${repeat('$A', '')}`,
  tildes: `ls ${repeat('~ ', '~')}`,
  'one word': `ls ${repeat('a', 'b')}`,
  links: repeat('ln -s a b; ', 'cat b'),
  blanks: repeat(' ', 'ls'),
  'option of read': `read -${repeat('r', '')} a`,
  'option of declare': `declare -${repeat('r', '')}`,
  'files of sed': `sed -n '${numbered((at) => `w a${at}\n`, '')}' a.txt`,
  'long text in substitutions': `${'echo $('.repeat(300)}${'a '.repeat(25_000)}${')'.repeat(300)}`,
  'values of a loop': `for PATH in ${repeat('b ', '')}; do ls; done`,
  'code in here-documents': numbered((at) => `bash <<'E'\nls a${at}\nE\n`, 'ls'),
  'different links': numbered((at) => `ln -s a${at} b${at}\n`, 'cat b1'),
  'links in several places': numbered((at) => (at < 6 ? `cd d${at}\n` : `ln -s a b${at}\n`), 'ls'),
  'link of a long name': `ln -s a ${'b/'.repeat(15_000)}c; cat ${'b/'.repeat(15_000)}c/d`,
  'different copies': numbered((at) => `cp -r a${at} b${at};`, 'ls'),
  'variables in a here-document': `cat <<E\n${repeat('$a ', '')}\nE`,
  'array of words': `a=(${repeat('b ', '')})`,
};

/** `before` as often as fits, then `middle`, then `after` as often. */
function repeat(before: string, middle: string, after = ''): string {
  const room = LONG_INPUT_LENGTH - 64;
  const count = Math.floor(room / (before.length + after.length));
  return before.repeat(count) + middle + after.repeat(count);
}

function numbered(piece: (at: number) => string, end: string): string {
  let text = '';
  for (let at = 1; text.length < LONG_INPUT_LENGTH - 64; at++) text += piece(at);
  return text + end;
}

/** Code in a string in a string, quoted anew at each level: it doubles until there is no room. */
function nestedQuotes(runner: string): string {
  let code = 'ls';
  for (;;) {
    const next = `${runner} '${code.replaceAll("'", `'\\''`)}'`;
    if (next.length > LONG_INPUT_LENGTH) return code;
    code = next;
  }
}
