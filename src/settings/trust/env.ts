/**
 * Why a project's `env` may never set a variable; undefined when trust suffices. Only the user decides where
 * requests and keys go, how this program behaves and which code child processes load first.
 */
export function projectMayNotSet(name: string): string | undefined {
  return limitOf(name)?.reason;
}

/** Why a variable would make later commands run different code than was judged. */
export function runsOtherCode(name: string): string | undefined {
  const limit = limitOf(name);
  return limit?.isCode === true ? limit.reason : undefined;
}

function limitOf(name: string): Limit | undefined {
  const upper = name.toUpperCase();
  if (MODEL_NAME.test(upper)) return undefined;
  return limits.find(({ pattern }) => pattern.test(upper));
}

interface Limit {
  readonly pattern: RegExp;
  readonly reason: string;
  /** Commands would run different code than was judged. */
  readonly isCode?: true;
}

/** The choice of a model is harmless; a project may set `model` too. */
const MODEL_NAME = /^ANTHROPIC_(MODEL|SMALL_FAST_MODEL|DEFAULT_([A-Z]+_)?MODEL)$/;

const oneOf = (names: string): RegExp => new RegExp(`^(?:${names.trim().split(/\s+/).join('|')})$`);

const limits: readonly Limit[] = [
  { pattern: /^PORTCULLIS(_|$)/, reason: 'it steers this program' },
  {
    pattern: /^(ANTHROPIC|OPENAI|AZURE_OPENAI|OPENROUTER|GEMINI|MISTRAL|GOOGLE_GENAI|GOOGLE_API)_/,
    reason: 'it decides where requests and keys go',
  },
  {
    pattern: oneOf(`
      CLAUDE_CODE_USE_[A-Z0-9_]+ CLAUDE_CODE_SKIP_[A-Z0-9_]*AUTH CLAUDE_CODE_OAUTH_[A-Z0-9_]+
      CLAUDE_CODE_EXTRA_BODY CLAUDE_CODE_CLIENT_[A-Z0-9_]+ CLAUDE_CODE_API_[A-Z0-9_]*DESCRIPTOR
      AWS_BEARER_TOKEN_BEDROCK AWS_ENDPOINT_URL[A-Z0-9_]* CLOUD_ML_REGION`),
    reason: 'it decides where requests and keys go',
  },
  {
    pattern: oneOf(`
      CLAUDE_CONFIG_DIR CLAUDE_ENV_FILE CLAUDE_CODE_SHELL CLAUDE_CODE_SHELL_PREFIX CLAUDE_CODE_TMPDIR
      CLAUDE_CODE_PROCESS_WRAPPER CLAUDE_CODE_SYNC_[A-Z]+ CLAUDE_CODE_PLUGIN_[A-Z_]+DIR
      CLAUDE_CODE_SUBPROCESS_ENV_SCRUB CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_REMOTE CLAUDE_PROJECT_DIR
      CLAUDE_CODE_ACCOUNT_UUID CLAUDE_CODE_PROJECT_DIR_NAME CLAUDE_CODE_SESSION_ID CLAUDECODE
      CLAUDE_CODE_MCP_ALLOWLIST_ENV CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD IS_SANDBOX`),
    reason: 'it steers this program',
  },
  {
    pattern: /^(OTEL_|CLAUDE_CODE_ENABLE_TELEMETRY$|CLAUDE_CODE_OTEL_)/,
    reason: 'it decides where telemetry goes',
  },
  {
    pattern: oneOf(`
      (HTTPS?|FTP|ALL|NO|SOCKS|RSYNC)_PROXY NODE_USE_ENV_PROXY NODE_EXTRA_CA_CERTS
      NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_SYSTEM_CA SSL_CERT_(FILE|DIR) SSLKEYLOGFILE OPENSSL_CONF
      OPENSSL_MODULES OPENSSL_ENGINES REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_SSL_BACKEND
      PYTHONHTTPSVERIFY RES_OPTIONS HOSTALIASES RESOLV_HOST_CONF LOCALDOMAIN`),
    reason: 'it decides whom the network connections reach and trust',
  },
  {
    pattern: oneOf(
      'PATH PATHEXT HOME USERPROFILE APPDATA LOCALAPPDATA SHELL COMSPEC XDG_[A-Z_]+ USER LOGNAME',
    ),
    reason: 'it decides which programs and settings every command uses',
  },
  {
    pattern:
      /^(LD_|DYLD_|BASH_FUNC_|NPM_CONFIG_|GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_)/,
    reason: 'it makes every child process load other code',
    isCode: true,
  },
  {
    pattern: oneOf(`
      NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_CHANNEL_[A-Z_]+ BUN_OPTIONS
      BASH_ENV ENV SHELLOPTS BASHOPTS PS[0-4] PROMPT_COMMAND IFS CDPATH GLOBIGNORE BASH_XTRACEFD
      ZDOTDIR FPATH INPUTRC TERMINFO(_DIRS)? TERMCAP
      PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONEXECUTABLE PYTHONUSERBASE
      PYTHONPLATLIBDIR PYTHONWARNINGS PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB LUA_INIT.*
      JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS R_PROFILE(_USER)? R_ENVIRON(_USER)? PHPRC
      PHP_INI_SCAN_DIR`),
    reason: 'it makes child processes load other code',
    isCode: true,
  },
  {
    pattern: oneOf(`
      PAGER MANPAGER LESSOPEN LESSCLOSE LESSKEY[A-Z_]* EDITOR VISUAL BROWSER FCEDIT SUDO_EDITOR
      SSH_ASKPASS SUDO_ASKPASS RIPGREP_CONFIG_PATH GREP_OPTIONS TAR_OPTIONS RSYNC_RSH CVS_RSH
      CURL_HOME WGETRC SYSTEM_WGETRC HGRCPATH MAKEFLAGS MAKEFILES GNUMAKEFLAGS FZF_DEFAULT_[A-Z]+
      BAT_PAGER DELTA_PAGER SYSTEMD_(PAGER|EDITOR) MANOPT GPG_TTY GNUPGHOME`),
    reason: 'it makes commands that only read run another program',
    isCode: true,
  },
  // Commit names and dates are harmless; nearly all other git variables run something.
  {
    pattern: /^GIT_(?!(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$|TERMINAL_PROMPT$|OPTIONAL_LOCKS$)/,
    reason: 'it makes git run other programs or work on another repository',
    isCode: true,
  },
];
