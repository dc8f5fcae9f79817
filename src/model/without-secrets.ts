import type { ModelFailure } from './client.js';

/**
 * Takes secrets out of the words of a failure. Servers and proxies like to quote what they were
 * sent, and a failure's text goes to the terminal, to logs and to hosts.
 */
export function withoutSecrets(
  secrets: readonly (string | undefined)[],
): (failure: ModelFailure) => ModelFailure {
  const known = secrets.flatMap((secret) =>
    // A short one is no real secret, and taking it out would garble ordinary words.
    secret !== undefined && secret.length >= SHORTEST ? [secret] : [],
  );
  const clean = (text: string): string => known.reduce(withoutSecret, text);
  return (failure) => ({
    ...failure,
    message: clean(failure.message),
    remedy: failure.remedy && clean(failure.remedy),
  });
}

const SHORTEST = 8;
const SHOWN = '[the key]';

function withoutSecret(text: string, secret: string): string {
  let left = text.replaceAll(secret, SHOWN);
  // A long text is shown in part, and the cut may fall inside the secret.
  for (let length = secret.length - 1; length >= SHORTEST; length--) {
    left = left.replaceAll(`${secret.slice(0, length)}…`, `${SHOWN}…`);
  }
  return left;
}
