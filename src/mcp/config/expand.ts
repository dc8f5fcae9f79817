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
  /** Variables without value and default, without duplicates. */
  readonly missing: readonly string[];
}

/** Matches `${NAME}` and `${NAME:-default}`; other syntax is left for shells. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Expands references in one pass, so values are not expanded again. As in a shell, a default also replaces an
 * empty value.
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

/** All variables that a value refers to, at any depth, in order. */
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
 * Whether a person must agree by name before a project's server gets the variable: its name or its value
 * (such as a `DATABASE_URL` with a password) marks a credential.
 */
export function isCredential(name: string, variables: Variables): boolean {
  if (isSecretName(name) || isInternalVariable(name) || isForeignKey(name)) return true;
  const value = own(variables, name);
  return value !== undefined && (holdsPassword(value) || redactSure(value) !== value);
}

/** Variables that are never sent to a project's server: keys of models, clouds and this program. */
export function neverLeaves(name: string): boolean {
  return isInternalVariable(name) || PROVIDER.test(name.toUpperCase()) || isForeignKey(name);
}

/** Recognises such keys by value, for keys under other names. */
export function holdsForeignKey(name: string, variables: Variables): boolean {
  const value = own(variables, name);
  if (value === undefined || value === '') return false;
  if (KEY_SHAPE.test(value)) return true;
  if (value.length < SHORTEST_KEY) return false;
  return Object.entries(variables).some(
    ([other, held]) => held === value && neverLeaves(other) && hasSecretWord(other.toUpperCase()),
  );
}

/** Prefixes that only model and cloud keys have. */
const KEY_SHAPE =
  /(?:^|[^A-Za-z0-9_-])(?:sk-(?:ant|proj|or|svcacct|admin)-[\w-]{8}|gsk_\w{20}|xai-\w{20}|(?:AKIA|ASIA)[A-Z0-9]{12}|AIza[\w-]{30}|ya29\.[\w-]{20})/;
/** Shorter values may be equal by chance. */
const SHORTEST_KEY = 10;

const PROVIDER =
  /^(ANTHROPIC|CLAUDE|OPENAI|AZURE_OPENAI|GEMINI|MISTRAL|OPENROUTER|GROQ|COHERE|XAI|DEEPSEEK|OTEL)_/;
const CLOUD = /^(AWS|AZURE|ARM|GOOGLE|GCP|GCLOUD|CLOUDSDK|DIGITALOCEAN|ALIBABA|OCI|IBMCLOUD)_/;

function isForeignKey(name: string): boolean {
  return CLOUD.test(name.toUpperCase()) && isSecretName(name);
}
