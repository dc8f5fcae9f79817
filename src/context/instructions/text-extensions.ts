import { wordSet } from '../../lib/patterns/word-set.js';
import { extname } from '../../platform/fs/paths.js';

/**
 * Files that an instruction file may include, by extension. What has none (`Makefile`, `.env`) may
 * be included too; either way its content must be text.
 */
export const TEXT_EXTENSIONS = wordSet(
  [
    // Documents and data
    'md mdx markdown mdc txt text rst adoc asciidoc org tex bib log csv tsv json jsonc json5 jsonl',
    'ndjson yaml yml toml ini cfg conf config properties env xml xsd xsl xslt plist lock diff patch',
    // The web
    'html htm xhtml css scss sass less styl vue svelte astro ejs hbs handlebars mustache pug jade njk',
    'liquid twig graphql gql',
    // Languages
    'js mjs cjs jsx ts mts cts tsx coffee py pyi pyw ipynb rb erb rake gemspec php phtml java kt kts',
    'scala sbt groovy gradle clj cljs cljc edn c h cc cpp cxx hh hpp hxx inl m mm cs csx fs fsx fsi vb',
    'go mod sum rs swift dart lua pl pm t r rmd jl hs lhs elm ml mli ex exs erl hrl nim zig d pas pp',
    'f f90 f95 for asm s v sv vhd vhdl sol cairo move ada adb ads lisp el scm rkt tcl awk sed vim',
    // Shells, builds, infrastructure
    'sh bash zsh fish ksh csh ps1 psm1 psd1 bat cmd make mk cmake ninja bazel bzl star dockerfile',
    'containerfile tf tfvars hcl nix dhall cue jsonnet rego proto thrift avsc capnp fbs sql psql ddl',
    'prisma editorconfig gitignore gitattributes dockerignore npmrc nvmrc babelrc eslintrc prettierrc',
    'stylelintrc tmpl tpl template snap feature puml plantuml mmd mermaid dot gv po pot srt vtt',
  ].join(' '),
);

export function isTextName(path: string): boolean {
  const extension = extname(path).slice(1).toLowerCase();
  return extension === '' || TEXT_EXTENSIONS.has(extension);
}

/** More files for people to read: blocks of rules hold in them as in prose, all else is quoted as it is. */
export const DOCUMENT_EXTENSIONS = wordSet('rst adoc asciidoc org tex rmd html htm xhtml log');

/** Files in which `@` names another file and comments are left out; the others are quoted as they are. */
export const PROSE_EXTENSIONS = wordSet('md mdx markdown mdc txt text');
