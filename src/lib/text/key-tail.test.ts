import { describe, expect, it } from 'vitest';
import { redact, redactSure, withoutKeyTails } from './redact.js';

const LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
const LAST = 'dQIDAQABAoIBAQ==';
const END = '-----END PRIVATE KEY-----';

describe('the end of a private key', () => {
  it.each([
    ['cut by lines', `${LINE}\n${LINE}\n${LAST}\n${END}\n`, '[redacted]\n'],
    ['behind prose', `the end is\n${LINE}\n${LAST}\n${END}`, 'the end is\n[redacted]'],
    ['inside a string', `{"k":"${LINE}\\n${LAST}\\n${END}\\n"}`, undefined],
    ['with line ends of Windows', `${LINE}\r\n${LAST}\r\n${END}`, '[redacted]'],
    ['in a listing', `     7→${LINE}\n     8→${LAST}\n     9→${END}`, '[redacted]'],
    ['with a name of its kind', `${LINE}\n-----END OPENSSH PRIVATE KEY-----`, '[redacted]'],
    ['twice', `${LINE}\n${END}\n${LINE}\n${END}`, '[redacted]\n[redacted]'],
  ])('%s', (_, text, wanted) => {
    const clean = redactSure(text);
    expect(clean).not.toContain('MIIE');
    expect(clean).not.toContain(LAST);
    if (wanted !== undefined) expect(clean).toBe(wanted);
  });

  it('leaves words about keys alone', () => {
    const text = `Files end with the line\n"${END}", and nothing follows.`;
    expect(withoutKeyTails(text)).toBe(text);
    expect(withoutKeyTails(END)).toBe(END);
  });

  it('takes no longer than the text is long', () => {
    const text = `${`${LINE}\n`.repeat(20_000)}x\n${`${END}\n`.repeat(2_000)}`;
    const before = performance.now();
    withoutKeyTails(text);
    withoutKeyTails('\\n'.repeat(500_000) + END);
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});

describe('a key of small letters and digits behind a name that says so', () => {
  it.each(['api_key=k3j9x8w2m7q1z5v4b6n0p2r8t', '"token": "9f8d7s6a5g4h3j2k1l0z9x"'])(
    '%s',
    (text) => {
      expect(redactSure(text)).toContain('[redacted]');
    },
  );

  it.each([
    'token = createhash256withnonce1',
    'secret_name: projects20240101backup',
    'accessKey: base64encodedvalue2',
    'tokenize: paragraphs12sentences',
  ])('%s stays', (text) => {
    expect(redactSure(text)).toBe(text);
  });

  it('is gone from logs as well', () => {
    expect(redact('auth_key: k3j9x8w2m7q1z5v4b6n0p2r8t')).not.toContain('k3j9');
  });
});
