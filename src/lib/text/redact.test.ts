import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { learnSecrets, redact, redactDeep, redactSure, redactSureDeep } from './redact.js';

const LONG = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9';

describe('redact', () => {
  it.each([
    [`curl -H "x-api-key: sk-ant-${LONG}" host`],
    ['AWS key AKIAIOSFODNN7EXAMPLE here'],
    [`git clone with ghp_${LONG}`],
    [`github_pat_${LONG}`],
    [`curl -H 'Authorization: Bearer ${LONG}'`],
    [`curl https://user:${LONG}@host.example/x`],
    [`-----BEGIN RSA PRIVATE KEY-----\n${LONG}\n-----END RSA PRIVATE KEY-----`],
    [`-----BEGIN OPENSSH PRIVATE KEY-----\n${LONG}\nand cut off`],
    [`DB_PASSWORD=${LONG} ./run`],
    [`{"apiKey": "${LONG}"}`],
    [`tool --password '${LONG}'`],
    [`xoxb-12345678-${LONG}`],
    [`eyJhbGciOiJIUzI1NiJ9.${LONG}.${LONG}`],
  ])('takes the secret out of %s', (text) => {
    const clean = redact(text);
    expect(clean).not.toContain(LONG);
    expect(clean).not.toContain('AKIAIOSFODNN7EXAMPLE');
    expect(clean).toContain('[redacted]');
  });

  it('keeps what stands around it', () => {
    expect(redact(`curl -H "Authorization: Bearer ${LONG}" https://api.example/v1`)).toBe(
      'curl -H "Authorization: Bearer [redacted]" https://api.example/v1',
    );
    expect(redact(`git push https://me:${LONG}@host.example/r.git main`)).toBe(
      'git push https://me:[redacted]@host.example/r.git main',
    );
  });

  it.each([
    'git push origin main',
    'npm test -- --reporter=dot',
    'echo "$API_TOKEN" | wc -c',
    'cat src/tokens.ts',
    'http://host.example:8080/a@b',
    'task-list sk-1',
    'curl -H "Authorization: Bearer $TOKEN" host',
  ])('leaves %s alone', (text) => {
    expect(redact(text)).toBe(text);
  });
});

/** What stands in transcripts and is no secret. */
const ORDINARY = fc.oneof(
  fc.stringMatching(/^[0-9a-f]{40}$/),
  fc.stringMatching(/^[0-9a-f]{64}$/),
  fc.uuid(),
  fc
    .uint8Array({ minLength: 300, maxLength: 3000 })
    .map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.lorem(),
  fc.constantFrom(
    'const token = parser.next();',
    'password: z.string().min(8)',
    'if (secret === undefined) return;',
    'interface Login { token: string; apiKey?: string }',
    'git clone git@github.com:a/b.git',
    'usage: {"input_tokens":120,"output_tokens":5}',
    'expect(token).toBe(process.env.GITHUB_TOKEN)',
    'sk-learn and task-list-of-the-day',
    'http://host.example:8080/a@b',
  ),
);

/** Each is a secret whole. */
const SECRET = fc.oneof(
  fc.stringMatching(/^sk-ant-api03-[A-Za-z0-9_-]{40}$/),
  fc.stringMatching(/^sk-[A-Za-z0-9]{40}$/),
  fc.stringMatching(/^ghp_[A-Za-z0-9]{36}$/),
  fc.stringMatching(/^github_pat_[A-Za-z0-9_]{60}$/),
  fc.stringMatching(/^AKIA[A-Z0-9]{16}$/),
  fc.stringMatching(/^xoxb-[0-9]{11}-[A-Za-z0-9]{24}$/),
  fc.stringMatching(/^eyJ[A-Za-z0-9_-]{20}\.eyJ[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}$/),
  fc
    .stringMatching(/^[A-Za-z0-9+/]{64}$/)
    .map((body) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`),
);

describe('redactSure', () => {
  it('takes out every known shape, wherever it stands', () => {
    fc.assert(
      fc.property(ORDINARY, SECRET, ORDINARY, (before, secret, after) => {
        const clean = redactSure(`${before} ${secret} ${after}`);
        expect(clean).toBe(`${before} [redacted] ${after}`);
      }),
    );
  });

  it('leaves hashes, ids, images, prose and program text alone', () => {
    fc.assert(
      fc.property(fc.array(ORDINARY), (texts) => {
        const text = texts.join('\n');
        expect(redactSure(text)).toBe(text);
      }),
    );
  });

  it.each([['redact'], ['redactSure']])('%s changes nothing the second time', (name) => {
    const clean = name === 'redact' ? redact : redactSure;
    const piece = fc.oneof(SECRET, ORDINARY, fc.string(), fc.constantFrom(...GLUE));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const once = clean(pieces.join(''));
        expect(clean(once)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });

  it('knows values that go by a name', () => {
    expect(redactSure(`AWS_SECRET_ACCESS_KEY=${LONG}+/`)).toBe('AWS_SECRET_ACCESS_KEY=[redacted]');
    expect(redactSure(`{"clientSecret": "${LONG}"}`)).toBe('{"clientSecret": "[redacted]"}');
    expect(redactSure(`AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`)).toBe(
      '[redacted]',
    );
  });

  it.each([
    'a.',
    'a-',
    '://a:',
    'token=',
    '-----BEGIN PRIVATE KEY-----',
    'eyJaaaaaaaa',
    'sk-',
    'A1',
  ])(
    'takes no longer than the text is long: %s',
    (piece) => {
      // Were it more than linear, this would not end within the time of the whole suite.
      const text = piece.repeat(Math.ceil(2_000_000 / piece.length));
      expect(redact(text).length).toBeLessThanOrEqual(text.length + 20);
    },
    60_000,
  );
});

const GLUE = [
  'token=',
  'password: "',
  'Bearer ',
  '"',
  "'",
  '://',
  ':',
  '@',
  '--token ',
  '=',
  '\\',
  ' ',
];

describe('learnSecrets', () => {
  it('takes a value out of a text that was found clean before', () => {
    const text = 'the rule of Xylophone-7-Quartz allows it';
    expect([redact(text), redact(text)]).toEqual([text, text]);
    learnSecrets(['Xylophone-7-Quartz']);
    expect(redact(text)).toBe('the rule of [redacted] allows it');
  });

  it('takes values out whatever they look like, encoded or not', () => {
    learnSecrets(['correct horse "battery"', 'short', '/a/path/of/a/file', 'staple']);
    expect(redactSure('it is correct horse "battery"!')).toBe('it is [redacted]!');
    expect(redactSure(JSON.stringify({ it: 'correct horse "battery"' }))).toBe(
      '{"it":"[redacted]"}',
    );
    expect(redactSure('?q=correct%20horse%20%22battery%22')).toBe('?q=[redacted]');
    expect(redactSure('short /a/path/of/a/file staple')).toBe('short /a/path/of/a/file staple');
  });
});

describe('the hints', () => {
  it('miss no secret, whatever blanks stand in it and however deep it is in JSON', () => {
    const value = 'Cr0ss"ing\\the-R1ver';
    learnSecrets([value]);
    const random = 'A1b2C3d4E5f6G7h8J9k0L1';
    const texts = ['\t', '\n  ', '\r\n', '\f', '\v', ' \t', '\u00a0', ''].flatMap((blank) => [
      `API_KEY${blank}=${blank}${random}`,
      `secret:${blank}"${random}"`,
      `authorization${blank}: Bearer ${random}`,
    ]);
    expect(texts.filter((text) => redactSure(text).includes(random))).toEqual([]);
    const once = JSON.stringify({ value });
    for (const text of [value, once, JSON.stringify([once])]) {
      expect(redactSure(text)).toContain('[redacted]');
    }
  });
});

describe('redactSureDeep', () => {
  it('is the value itself where there is nothing to take out', () => {
    const value = { a: [{ b: 'fine', token: 'also fine' }] };
    expect(redactSureDeep(value)).toBe(value);
  });

  it('keeps encoded images, and takes the signature from a thought that was changed', () => {
    const image = { type: 'base64', media_type: 'image/png', data: `ghp_${LONG}` };
    const value = [
      { type: 'image', source: image },
      { type: 'thinking', thinking: `it is ghp_${LONG}`, signature: 'abc' },
      { type: 'thinking', thinking: 'nothing', signature: 'abc' },
    ];
    expect(JSON.parse(JSON.stringify(redactSureDeep(value)))).toEqual([
      { type: 'image', source: image },
      { type: 'thinking', thinking: 'it is [redacted]' },
      { type: 'thinking', thinking: 'nothing', signature: 'abc' },
    ]);
  });
});

describe('redactDeep', () => {
  it('reaches every string and fields that are secrets by name', () => {
    const clean = redactDeep({
      command: `echo ghp_${LONG}`,
      list: [{ password: 'short', note: 'fine' }],
      count: 3,
      none: null,
    });
    expect(JSON.parse(JSON.stringify(clean))).toEqual({
      command: 'echo [redacted]',
      list: [{ password: '[redacted]', note: 'fine' }],
      count: 3,
      none: null,
    });
  });
});

const KEY = 'sk-ant-api03-AbCdEf123456AbCdEf123456';
const HUB = 'ghp_abcdEFGH1234abcdEFGH1234abcd';

describe('wherever a secret stands', () => {
  it.each([
    `X=${HUB}`,
    `--key=${KEY}`,
    `?a=${KEY}&b`,
    `https://host.example/${HUB}`,
    `{\\"out\\":\\"line\\n${HUB}\\"}`,
    `a\\t${KEY}`,
    `url%3D${HUB}`,
    `\u001b[32m${KEY}\u001b[0m`,
    `\\u001b[1;32m${HUB}`,
    'X=AKIAIOSFODNN7EXAMPLE',
    'authorization: Basic dXNlcjpwYXNz',
    'postgres://me:p@ssw0rd@host/db',
  ])('%s', (text) => {
    const clean = redactSure(text);
    expect(clean).toContain('[redacted]');
    for (const secret of [KEY, HUB, 'AKIA', 'dXNl', 'ssw0rd']) expect(clean).not.toContain(secret);
  });

  it('in a key, and beside an encoded image', () => {
    const image = { type: 'base64', data: `AAAA${KEY}`, note: HUB };
    expect(redactSureDeep({ [HUB]: 1, image })).toEqual({
      '[redacted]': 1,
      image: { ...image, note: '[redacted]' },
    });
  });

  it('in base64, at every offset', () => {
    learnSecrets(['Tr0ub4dor&3-correct-horse']);
    for (const before of ['', 'a', 'ab']) {
      const text = Buffer.from(`${before}Tr0ub4dor&3-correct-horse tail`).toString('base64');
      expect(redactSure(text)).toContain('[redacted]');
    }
  });
});

describe('what looks like one and is none', () => {
  it.each([
    '<div class="sk-toggleable__content sk-folding-cube">',
    'the basic responsibilities, and basic internationalization',
    'basic authentication/authorization, bearer authentication-scheme',
    'a basic src/components/Button.tsx',
    'Authorization: Bearer YOUR_TOKEN_HERE',
    'const token = generateAccessTokenForUserV2(user)',
    'secret = base64UrlEncodeWithoutPadding(bytes)',
    'csrfToken: getCsrfTokenFromCookie2Header',
    'tokenizer: "cl100kBaseTokenizerEncoding"',
    'cache_key: "node-modules-v2-Linux-abcdef1"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a template of others
    'postgres://user:${PASSWORD}@host',
    'https://<user>:<password>@host',
    'http://user:password@localhost:5432/db',
  ])('%s', (text) => {
    expect(redactSure(text)).toBe(text);
  });
});
