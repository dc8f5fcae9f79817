import { describe, expect, it } from 'vitest';
import { redact, redactDeep } from './redact.js';

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

  it('is quick on long text that only looks like the beginning of one', () => {
    const text = `${'-----BEGIN X-----'.repeat(2000)}${'a://b:'.repeat(5000)}${'token '.repeat(5000)}`;
    const started = performance.now();
    redact(text);
    expect(performance.now() - started).toBeLessThan(2000);
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
