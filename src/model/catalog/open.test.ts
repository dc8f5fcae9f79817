import { describe, expect, it } from 'vitest';
import type { ModelFailure } from '../client.js';
import { withoutSecrets } from './open.js';

const KEY = 'sk-ant-0123456789-abcdef';
const failure = (message: string): ModelFailure => ({
  kind: 'server',
  message,
  remedy: `check ${message}`,
  retryable: true,
});

describe('withoutSecrets', () => {
  it('takes a key out of the words of a failure, also where it was cut', () => {
    const clean = withoutSecrets([KEY, undefined]);
    expect(clean(failure(`bad key ${KEY}!`))).toEqual(failure('bad key [the key]!'));
    const cut = clean(failure(`headers: {"x-api-key":"${KEY.slice(0, 15)}…`));
    expect(JSON.stringify(cut)).not.toContain(KEY.slice(0, 8));
  });

  it('leaves short words alone', () => {
    expect(withoutSecrets(['test', ''])(failure('a test'))).toEqual(failure('a test'));
  });
});
