import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSecretName, minimalEnvironment, secretValues, shellEnvironment } from './environment.js';

const MARKS = { CLAUDECODE: '1', PORTCULLIS: '1' };

describe('the search path of servers', () => {
  const searched = (path: string, projectDirectories?: readonly string[]): string =>
    minimalEnvironment({ PATH: path }, { projectDirectories }).PATH ?? '';

  it("keeps a node_modules/.bin of the user, and none of the project's own or above it", () => {
    const path = [
      '/opt/tools/node_modules/.bin',
      '/srv/app/node_modules/.bin',
      '/srv/app/packages/b/node_modules/.bin/',
      '/srv/node_modules/.bin',
      '/node_modules/.bin',
      'node_modules/.bin',
      '/srv/application/node_modules/.bin',
      '/usr/bin',
    ].join(':');
    expect(searched(path, ['/srv/app'])).toBe(
      '/opt/tools/node_modules/.bin:/srv/application/node_modules/.bin:/usr/bin',
    );
    expect(searched(path)).toBe('/usr/bin');
  });

  it('follows a link that leads into the project', () => {
    const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'portcullis-path-')));
    const bin = path.join(root, 'app/node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    mkdirSync(path.join(root, 'tools/node_modules'), { recursive: true });
    const link = path.join(root, 'tools/node_modules/.bin');
    symlinkSync(bin, link);
    expect(searched(`${link}:/usr/bin`, [path.join(root, 'app')])).toBe('/usr/bin');
    expect(searched(`${link}:/usr/bin`, [path.join(root, 'other')])).toBe(`${link}:/usr/bin`);
    rmSync(root, { recursive: true });
  });
});

describe('isSecretName', () => {
  it.each([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'OPENAI_ORG',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'TOKEN',
    'npm_config__authToken',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'DJANGO_SECRET',
    'CLIENT_SECRET_FILE',
    'PGPASSWORD',
    'MYSQL_PWD',
    'DB_PASS',
    'STRIPE_KEY',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'SENTRY_DSN',
    'apikey',
    'CI_JOB_JWT',
    'SLACK_WEBHOOK_URL',
    'AZURE_STORAGE_CONNECTION_STRING',
    'DOCKER_AUTH_CONFIG',
  ])('%s is one', (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    'PATH',
    'HOME',
    'SSH_AUTH_SOCK',
    'TOKENIZERS_PARALLELISM',
    'KEYBOARD',
    'COMPASS_DIR',
    'VIRTUAL_ENV',
    'NVM_DIR',
    'PASSENGER',
    'NODE_EXTRA_CA_CERTS',
  ])('%s is none', (name) => expect(isSecretName(name)).toBe(false));
});

describe('shellEnvironment', () => {
  const env = {
    PATH: '/bin',
    VIRTUAL_ENV: '/venv',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    GITHUB_TOKEN: 'secret',
    NODE_OPTIONS: '--inspect',
    BASH_ENV: '/rc',
    CDPATH: '/elsewhere',
    OLDPWD: '/elsewhere',
    ENV: '/rc',
    PROMPT_COMMAND: 'x',
    GIT_DIR: '/other/.git',
    GIT_WORK_TREE: '/other',
    GIT_EXTERNAL_DIFF: 'x',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.pager',
    GIT_CONFIG_VALUE_0: 'x',
    'BASH_FUNC_ls%%': '() { rm x; }',
    SHELLOPTS: 'errexit',
    PORTCULLIS_HOME: '/state',
    CLAUDE_CODE_ENTRYPOINT: 'sdk',
    CLAUDE_CONFIG_DIR: '/config',
    PWD: '/somewhere',
    UNSET: undefined,
  };

  it('passes everything but secrets, internals and what changes commands', () => {
    expect(shellEnvironment(env)).toEqual({
      PATH: '/bin',
      VIRTUAL_ENV: '/venv',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      CLAUDE_CONFIG_DIR: '/config',
      ...MARKS,
    });
  });

  it.each([
    ['zh_CN.GBK', false],
    ['zh_TW.BIG5', false],
    ['zh_TW.Big5-HKSCS', false],
    ['ja_JP.SJIS', false],
    ['ja_JP', false],
    ['ko_KR.eucKR', false],
    ['zh_CN', false],
    ['./locale', false],
    ['zh_CN.UTF-8', true],
    ['en_US.utf8', true],
    ['C.UTF-8', true],
    ['UTF-8', true],
    ['C', true],
    ['POSIX', true],
    ['de_DE@euro', true],
    ['de_DE.ISO-8859-15@euro', true],
    ['en_US', true],
  ])('starts a shell only in a locale whose characters hold no backslash: %s', (value, passes) => {
    for (const name of ['LC_ALL', 'LC_CTYPE', 'LANG']) {
      const expected = passes ? value : undefined;
      expect(shellEnvironment({ [name]: value })[name]).toBe(expected);
      expect(shellEnvironment({}, { extra: { [name]: value } })[name]).toBe(expected);
      expect(shellEnvironment({ [name]: value }, { grants: [name] })[name]).toBe(expected);
    }
  });

  it('passes what is granted by its exact name, and what is set for the child', () => {
    const selected = shellEnvironment(env, {
      grants: ['GITHUB_TOKEN', 'node_options', 'MISSING'],
      extra: { PATH: '/mine', API_KEY: 'given' },
    });
    expect(selected).toMatchObject({ GITHUB_TOKEN: 'secret', PATH: '/mine', API_KEY: 'given' });
    expect(selected).not.toHaveProperty('NODE_OPTIONS');
    expect(selected).not.toHaveProperty('MISSING');
  });
});

describe('addresses with a password in them', () => {
  const env = {
    DATABASE_URL: 'postgres://me:s3cret-word@db.example/app',
    PLAIN_URL: 'postgres://me@db.example/app',
    HTTPS_PROXY: 'http://me:s3cret-word@proxy.example:3128',
  };

  it('do not pass, but for those of proxies', () => {
    expect(shellEnvironment(env)).toEqual({
      PLAIN_URL: env.PLAIN_URL,
      HTTPS_PROXY: env.HTTPS_PROXY,
      ...MARKS,
    });
    expect(shellEnvironment(env, { grants: ['DATABASE_URL'] })).toMatchObject({
      DATABASE_URL: env.DATABASE_URL,
    });
  });

  it('give their password away to whoever takes secrets out', () => {
    const more = { ...env, GITHUB_TOKEN: 'abc', HOME: '/home/me' };
    expect(new Set(secretValues(more))).toEqual(new Set(['s3cret-word', 'abc']));
  });
});

describe('minimalEnvironment', () => {
  it('passes the usual names and the granted ones only', () => {
    const env = { PATH: '/bin', LC_ALL: 'C', TZ: 'UTC', VIRTUAL_ENV: '/v', A_TOKEN: 't', B: 'b' };
    expect(minimalEnvironment(env, { grants: ['B'], extra: { C: 'c' } })).toEqual({
      PATH: '/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      B: 'b',
      C: 'c',
      ...MARKS,
    });
  });
});

describe('what is written down', () => {
  it('has no values of secrets, but directories and names of models', () => {
    const values = secretValues({
      PWD: '/srv/c++/project',
      ANTHROPIC_MODEL: 'claude-sonnet-4-5',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_SERVICE_NAME: 'my-service-name',
      AWS_WEB_IDENTITY_TOKEN_FILE: '/var/run/token (1)',
      ANTHROPIC_API_KEY: 'key-one',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=key-two,x=key-three',
      ANTHROPIC_CUSTOM_HEADERS: 'X-Key: key-four\nX-Other: key-five',
      DATABASE_URL: 'postgres://me:p@ss/word@host/db',
      SERVICE_URL: 'http://host:8080/a@b',
    });
    expect(values).toEqual([
      'key-one',
      'key-two',
      'key-three',
      'key-four',
      'key-five',
      'p@ss/word',
    ]);
  });
});

describe('a secret by another name', () => {
  it('does not pass', () => {
    const env = {
      FOO: 'ghp_abcdEFGH1234abcdEFGH1234abcd',
      CONFIG: '{"url":"postgres://me:s3cret@host/db"}',
      DB_PW: 'x',
      APP_CREDS: 'x',
      ENCRYPTION_KEY_V2: 'x',
      SIGNING_KEY_B64: 'x',
      HTTP_AUTHORIZATION: 'x',
      PLAIN: 'plain',
    };
    const passed = shellEnvironment(env, { grants: ['DB_PW'] });
    expect(Object.keys(passed).sort()).toEqual(['CLAUDECODE', 'DB_PW', 'PLAIN', 'PORTCULLIS']);
  });
});

it('our own helpers are not looked for among the programs of a project', () => {
  const PATH = '/p/node_modules/.bin:.::bin:/usr/bin:/p/node_modules/.bin/:/bin';
  expect(minimalEnvironment({ PATH }).PATH).toBe('/usr/bin:/bin');
  expect(shellEnvironment({ PATH }).PATH).toBe(PATH);
});
