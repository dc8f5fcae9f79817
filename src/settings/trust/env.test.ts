import { describe, expect, it } from 'vitest';
import { projectMayNotSet, runsOtherCode } from './env.js';

describe("a project's variables", () => {
  it.each(
    `ANTHROPIC_BASE_URL anthropic_base_url ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY
    ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_VERTEX_BASE_URL OPENAI_BASE_URL OPENAI_API_KEY
    CLAUDE_CODE_USE_BEDROCK CLAUDE_CONFIG_DIR PORTCULLIS_HOME PORTCULLIS_TRUST CLAUDE_CODE_SHELL_PREFIX
    CLAUDE_ENV_FILE IS_SANDBOX NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED PATH Path
    HOME LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES HTTPS_PROXY http_proxy ALL_PROXY
    SSL_CERT_FILE BASH_ENV ENV PROMPT_COMMAND PYTHONSTARTUP PERL5OPT RUBYOPT GIT_EXTERNAL_DIFF GIT_SSH
    GIT_CONFIG_COUNT GIT_DIR PAGER LESSOPEN EDITOR RIPGREP_CONFIG_PATH npm_config_script_shell
    OTEL_EXPORTER_OTLP_ENDPOINT CLAUDE_CODE_ENABLE_TELEMETRY XDG_CONFIG_HOME BASH_FUNC_ls%%`
      .trim()
      .split(/\s+/),
  )('never: %s', (name) => {
    expect(projectMayNotSet(name)).toMatch(/^it /);
  });

  it.each(
    `NODE_ENV DATABASE_URL PYTHONPATH PYTHONUNBUFFERED CI DEBUG MY_PATH AWS_PROFILE KUBECONFIG
    ANTHROPIC_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_SMALL_FAST_MODEL BASH_DEFAULT_TIMEOUT_MS
    MCP_TIMEOUT GIT_AUTHOR_NAME GIT_TERMINAL_PROMPT LANG TZ ENVIRONMENT HOMEPAGE`
      .trim()
      .split(/\s+/),
  )('with trust: %s', (name) => {
    expect(projectMayNotSet(name)).toBeUndefined();
  });
});

describe('variables that a hook leaves', () => {
  it.each(
    `NODE_OPTIONS LD_PRELOAD BASH_ENV BASH_FUNC_ls%% IFS PYTHONSTARTUP GIT_DIR PAGER EDITOR
    npm_config_script_shell RIPGREP_CONFIG_PATH`
      .trim()
      .split(/\s+/),
  )('never, as commands would run other code: %s', (name) => {
    expect(runsOtherCode(name)).toBeDefined();
  });

  it.each('PATH HOME HTTPS_PROXY OPENAI_API_KEY DATABASE_URL GIT_AUTHOR_NAME'.split(' '))(
    'may: %s',
    (name) => {
      expect(runsOtherCode(name)).toBeUndefined();
    },
  );
});
