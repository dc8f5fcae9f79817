import { isRecord, own } from '../../lib/own.js';
import { redact } from '../../lib/text/redact.js';
import { GONE } from '../../lib/text/secret-shapes.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { hasSecretWord, isSecretName } from '../../platform/environment.js';
import { projectMayNotSet } from '../../settings/trust/env.js';
import { holdsForeignKey, isCredential, type Variables, variablesIn } from './expand.js';

/**
 * Describes an entry, as written, to the person who approves it: what it runs or calls, the names of its
 * variables and headers, and the credentials it would get. It shows values only of variables that change
 * which program runs.
 */
export function entryLines(raw: unknown, given: Variables): readonly string[] {
  if (!isRecord(raw)) return [visible(JSON.stringify(raw) ?? '')];
  const { command, args, url, headersHelper } = raw;
  const credentials = credentialsOf(raw, given);
  const lines = [
    command === undefined
      ? ''
      : `command: ${words([command, ...(Array.isArray(args) ? args : [])])}`,
    typeof url === 'string' && url !== '' ? `url: ${withoutSecrets(url)}` : '',
    variables(raw.env),
    names('headers', raw.headers),
    typeof headersHelper === 'string' ? `headersHelper: ${headersHelper}` : '',
    credentials.length === 0 ? '' : `is given: ${credentials.join(', ')}`,
  ];
  return lines.filter((line) => line !== '').map(visible);
}

/**
 * Redacts likely secrets from one of these lines for lists, which people paste elsewhere; the approval shows
 * the full line.
 */
export function listedLine(line: string): string {
  const bare = line
    // Handles a quoted word first, because it may contain blanks.
    .replace(/"(--?[A-Za-z][\w-]*)=((?:[^"\\]|\\.)*)"/g, (whole, flag: string, value: string) =>
      isSecretFlag(flag, value) ? `"${flag}=${GONE}"` : whole,
    )
    .replace(
      /(?<![\w./@-])(--?[A-Za-z][\w-]*)(=| +)("(?:[^"\\]|\\.)*"|[^\s"]+)/g,
      (whole, flag: string, between: string, value: string) =>
        isSecretFlag(flag, value) ? `${flag}${between}${GONE}` : whole,
    );
  return redact(bare);
}

/** Variable references stay, because they show what is passed; a following option is not a value. */
function isSecretFlag(flag: string, value: string): boolean {
  if (value.startsWith('$') || value.startsWith('-') || value === GONE) return false;
  return hasSecretWord(flag.replace(/^-+/, '').replaceAll('-', '_').toUpperCase());
}

/** Shows the values of variables except credentials. */
export function valueLines(names: readonly string[], given: Variables): readonly string[] {
  const shown = names.filter(
    (name) => !isCredential(name, given) && own(given, name) !== undefined,
  );
  return shown.map((name) => {
    const value = sliceWhole(own(given, name) ?? '', 0, VALUE_CHARS);
    return visible(`\${${name}} is ${words([redact(value)])}`);
  });
}

const VALUE_CHARS = 200;

/** The variables of an entry that are credentials, by name or by value. */
export function credentialsOf(raw: unknown, given: Variables): readonly string[] {
  return variablesIn(raw).filter((name) => isCredential(name, given));
}

/** Finds a variable that would send a model or cloud key to a project's server under another name. */
export function findSentKey(
  raw: unknown,
  given: Variables,
): { readonly name: string; readonly field: string } | undefined {
  if (!isRecord(raw)) return undefined;
  for (const field of ['url', 'headers']) {
    const name = variablesIn(raw[field]).find((one) => holdsForeignKey(one, given));
    if (name !== undefined) return { name, field };
  }
  return undefined;
}

function words(values: readonly unknown[]): string {
  return values
    .map((word) => (typeof word === 'string' ? word : JSON.stringify(word)))
    .map((word) => (/^[\w@%+=:,./$\u007b\u007d-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}

function variables(table: unknown): string {
  if (!isRecord(table) || Object.keys(table).length === 0) return '';
  const shown = Object.entries(table).map(([name, value]) =>
    steersProgram(name) && !isSecretName(name)
      ? `${name}=${words([redact(sliceWhole(String(value), 0, 200))])}`
      : name,
  );
  return `env: ${shown.join(', ')}`;
}

function names(label: string, table: unknown): string {
  if (!isRecord(table) || Object.keys(table).length === 0) return '';
  return `${label}: ${Object.keys(table).join(', ')}`;
}

/** Removes long query values, which often are keys; variable references stay. */
function withoutSecrets(url: string): string {
  return url.replace(/([?&][^=&#]*=)(?!\$\{)[^&#]{16,}/g, '$1…');
}

/** Whether a variable decides which program runs, which code it loads or where that is fetched. */
export function steersProgram(name: string): boolean {
  const reason = projectMayNotSet(name);
  return (reason !== undefined && ABOUT_PROGRAMS.test(reason)) || MORE.test(name.toUpperCase());
}

/** Matches the reasons of `projectMayNotSet` that concern programs. */
const ABOUT_PROGRAMS = /programs|another program|code|repository|network connections/;

/** Variables of runtimes and package managers, which a project may set because its own servers often need them. */
const MORE =
  /^(PYTHONPATH|PYTHONSAFEPATH|CLASSPATH|DENO_.*|BUN_.*|PIP_.*|PIPX_.*|UV_.*|POETRY_.*|CONDA_.*|VIRTUAL_ENV|YARN_.*|PNPM_.*|COREPACK_.*|NVM_.*|VOLTA_.*|ASDF_.*|MISE_.*|CARGO_.*|RUST.*|GO(PROXY|FLAGS|PATH|ROOT|BIN|ENV|TOOLCHAIN)|GEM_.*|BUNDLE_.*|RUBY.*|PERL.*|LUA_.*|JAVA_.*|JDK_.*|DOTNET_.*|DOCKER_.*|CONTAINER_.*|PODMAN_.*|AWS_CONFIG_FILE|KUBECONFIG|COR_.*|CORECLR_.*|JULIA_.*|R_(LIBS.*|HOME|PROFILE.*|ENVIRON.*)|ERL_.*|ELIXIR_.*|GUILE_.*|MONO_.*|PSMODULEPATH|MAVEN_.*|GRADLE_.*|COMPOSER.*|TS_NODE_.*|GTK_.*|QT_PLUGIN_PATH|PHP.*|TCLLIBPATH|OCAML.*)$/;
