/**
 * Takes known shapes of secrets out of text on its way to logs, receipts and the journal. A net, not
 * a proof: what has no known shape stays.
 */
export function redact(text: string): string {
  // Most texts hold nothing of the kind; one look is cheaper than all replacements.
  if (!HINT.test(text)) return text;
  let clean = text;
  for (const { shape, with: replacement } of SHAPES) clean = clean.replace(shape, replacement);
  return clean;
}

/** Every string in a value of JSON, at any depth; keys stay. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== 'object' || value === null) return value;
  const clean: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value)) {
    clean[key] = typeof inner === 'string' && SECRET_KEY.test(key) ? GONE : redactDeep(inner);
  }
  return clean;
}

const GONE = '[redacted]';

const HINT =
  /sk-|sk_live|rk_live|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|AIza|eyJ|bearer|basic |-----BEGIN|:\/\/[^\s/]*:[^\s/]*@|passw|secret|token|api[_-]?key|authorization/i;

/** Names of fields whose whole value is a secret. */
const SECRET_KEY =
  /^(passw(or)?d|passphrase|secret|token|api[_-]?key|(access|auth|refresh)[_-]?token|client[_-]?secret|private[_-]?key|authorization)$/i;

const SHAPES: readonly { readonly shape: RegExp; readonly with: string }[] = [
  {
    // Without its end when the text was cut.
    shape: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----[\s\S]*?(-----END [A-Z0-9 ]*-----|$)/g,
    with: GONE,
  },
  { shape: /\b(sk-[A-Za-z0-9_-]{12,}|[sr]k_live_[A-Za-z0-9]{8,})/g, with: GONE },
  { shape: /\b(AKIA|ASIA)[A-Z0-9]{12,}\b/g, with: GONE },
  { shape: /\b(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,})/g, with: GONE },
  { shape: /\b(xox[abeprs]-[\w-]{8,}|npm_[A-Za-z0-9]{20,}|AIza[\w-]{30,})/g, with: GONE },
  { shape: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, with: GONE },
  { shape: /\b(bearer|basic)(\s+|%20)[A-Za-z0-9._~+/=-]{8,}/gi, with: `$1$2${GONE}` },
  { shape: /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/@]+@/gi, with: `$1:${GONE}@` },
  {
    shape:
      /\b([A-Z0-9_-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key)(?:["']?\s*[:=]\s*["']?))([^\s"'&;|$]{4,})/gi,
    with: `$1${GONE}`,
  },
  { shape: /(--(?:password|token|secret|api-key)\s+)(["']?)[^\s"'$]{4,}\2/gi, with: `$1${GONE}` },
];
