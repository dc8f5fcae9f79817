import { own } from '../../lib/own.js';
import { redactSure } from '../../lib/text/redact.js';
import {
  hasSecretWord,
  holdsPassword,
  isInternalVariable,
  isSecretName,
} from '../../platform/environment.js';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Expansion {
  readonly text: string;
  /** Variables without value and without default, each once. */
  readonly missing: readonly string[];
}

/** `${NAME}` and `${NAME:-default}`. What looks otherwise belongs to somebody else, a shell for one. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Puts values in the place of references, in one pass: a value is never looked through for more. As
 * in a shell, a default stands in for an empty value too.
 */
export function expand(text: string, variables: Variables): Expansion {
  if (!text.includes('${')) return { text, missing: [] };
  const missing = new Set<string>();
  const expanded = text.replace(REFERENCE, (whole, name: string, fallback?: string) => {
    const value = own(variables, name);
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    missing.add(name);
    return whole;
  });
  return { text: expanded, missing: [...missing] };
}

/** Every variable that a value refers to, wherever in it, in the order of the text. */
export function variablesIn(value: unknown): readonly string[] {
  const names = new Set<string>();
  const look = (one: unknown): void => {
    if (typeof one === 'string') {
      for (const [, name] of one.matchAll(REFERENCE)) if (name !== undefined) names.add(name);
    } else if (typeof one === 'object' && one !== null) Object.values(one).forEach(look);
  };
  look(value);
  return [...names];
}

/**
 * What a person must agree to by name before a project's server gets it: by what the variable is
 * called, or by what it holds. `DATABASE_URL` has a password in it, whatever its name says.
 */
export function isCredential(name: string, variables: Variables): boolean {
  if (isSecretName(name) || isInternalVariable(name) || isForeignKey(name)) return true;
  const value = own(variables, name);
  return value !== undefined && (holdsPassword(value) || redactSure(value) !== value);
}

/** What no address and no header of a project's server ever gets: keys of models, of clouds, and ours. */
export function neverLeaves(name: string): boolean {
  return isInternalVariable(name) || PROVIDER.test(name.toUpperCase()) || isForeignKey(name);
}

/** The same by what a variable holds, for keys that somebody keeps under a name of their own. */
export function holdsForeignKey(name: string, variables: Variables): boolean {
  const value = own(variables, name);
  if (value === undefined || value === '') return false;
  if (KEY_SHAPE.test(value)) return true;
  if (value.length < SHORTEST_KEY) return false;
  return Object.entries(variables).some(
    ([other, held]) => held === value && neverLeaves(other) && hasSecretWord(other.toUpperCase()),
  );
}

/** How keys of models and clouds begin that are nobody else's. */
const KEY_SHAPE =
  /(?:^|[^A-Za-z0-9_-])(?:sk-(?:ant|proj|or|svcacct|admin)-[\w-]{8}|gsk_\w{20}|xai-\w{20}|(?:AKIA|ASIA)[A-Z0-9]{12}|AIza[\w-]{30}|ya29\.[\w-]{20})/;
/** Shorter values are the same by chance. */
const SHORTEST_KEY = 10;

const PROVIDER =
  /^(ANTHROPIC|CLAUDE|OPENAI|AZURE_OPENAI|GEMINI|MISTRAL|OPENROUTER|GROQ|COHERE|XAI|DEEPSEEK|OTEL)_/;
const CLOUD = /^(AWS|AZURE|ARM|GOOGLE|GCP|GCLOUD|CLOUDSDK|DIGITALOCEAN|ALIBABA|OCI|IBMCLOUD)_/;

function isForeignKey(name: string): boolean {
  return CLOUD.test(name.toUpperCase()) && isSecretName(name);
}
