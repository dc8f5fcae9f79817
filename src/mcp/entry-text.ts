import { isSecretName } from '../env/environment.js';
import { isRecord } from '../util/own.js';
import { redact } from '../util/redact.js';
import { sliceWhole } from '../util/truncate.js';
import { visible } from '../util/visible.js';
import { isCredential, variablesIn } from './expand.js';
import { steersProgram } from './program-variables.js';

/**
 * What a person should know of an entry before it is used, as written: what runs or is called, names
 * of variables and headers, and which credentials it would be given. Values are shown of those
 * variables alone that make the command another one than it reads like.
 */
export function entryLines(raw: unknown): readonly string[] {
  if (!isRecord(raw)) return [visible(JSON.stringify(raw) ?? '')];
  const { command, args, url, headersHelper } = raw;
  const credentials = variablesIn(raw).filter(isCredential);
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

/** Credentials that a server of a project would be given. */
export function credentialsOf(raw: unknown): readonly string[] {
  return variablesIn(raw).filter(isCredential);
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

/** A query often carries a key. References to variables stay, as they say what is sent. */
function withoutSecrets(url: string): string {
  return url.replace(/([?&][^=&#]*=)(?!\$\{)[^&#]{16,}/g, '$1…');
}
