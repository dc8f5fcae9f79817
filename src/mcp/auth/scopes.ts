/** What decides which scopes are asked for. */
export interface ScopeSources {
  /** `oauth.scopes` of the entry: they are asked for as they stand, whatever the server says. */
  readonly pinned?: string | undefined;
  /** Of the server's refusal. */
  readonly challenged?: string | undefined;
  /** What was asked for before; a step up keeps it. */
  readonly earlier?: string | undefined;
  /** All that the server knows, by its metadata. */
  readonly resource?: readonly string[] | undefined;
  /** All that the authorization server knows. */
  readonly offered?: readonly string[] | undefined;
}

/** The first of these that says anything; `offline_access` is added where it is offered, for refresh tokens. */
export function scopesToAsk(sources: ScopeSources): string | undefined {
  const { pinned, challenged, earlier, resource, offered } = sources;
  const chosen =
    wordsOf(pinned).length > 0
      ? wordsOf(pinned)
      : wordsOf(challenged).length > 0
        ? [...wordsOf(earlier), ...wordsOf(challenged)]
        : wordsOf(earlier).length > 0
          ? wordsOf(earlier)
          : (resource ?? []);
  if (chosen.length === 0) return undefined;
  const all = new Set(chosen);
  if (offered?.includes('offline_access')) all.add('offline_access');
  return [...all].join(' ');
}

function wordsOf(scope: string | undefined): readonly string[] {
  return (scope ?? '').split(/\s+/).filter((word) => word !== '');
}
