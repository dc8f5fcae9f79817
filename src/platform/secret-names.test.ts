import { expect, it } from 'vitest';
import { hasSecretWord } from './environment.js';

it.each([
  ...['TOKEN', 'MYTOKEN', 'TOKEN_URL', 'A_TOKENS', 'CREDENTIALS_FILE', 'X_CREDENTIAL'],
  ...['KEY', 'SIGNING_KEY', 'KEYS', 'KEY_2', 'KEYV2', 'A_KEY_V12', 'TLS_KEY_PEM', 'KEYB64'],
  ...['AUTH', 'X_AUTH_HEADER', 'WALLET_SEED_PHRASE', 'SEEDPHRASE', 'SESSION_COOKIE', 'GH_PAT'],
  ...['XAPIKEYX', 'DBPASSWORD', 'MY_PASSCODE_OLD', 'APP_CONNECTIONSTRING', 'A_PW', 'DB_PASS'],
])('%s says that its value is a secret', (name) => expect(hasSecretWord(name)).toBe(true));

it.each([
  ...['', '_', 'PATH', 'TOKENIZERS_PARALLELISM', 'XTOKENS', 'MONKEY', 'KEY_REPEAT', 'KEYBOARD'],
  ...['KEY_V', 'MONKEY_2', 'PASSENGER', 'COMPASS', 'PATTERN', 'AUTHOR', 'AUTH_HEADER_NAME'],
  ...['SEED', 'SEED_PHRASES', 'COOKIE_JAR', 'CREDIT', 'CREDENTIALSX_URL'],
])('%s does not', (name) => expect(hasSecretWord(name)).toBe(false));
