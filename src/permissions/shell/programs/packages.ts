import { hazards } from '../effects/facts.js';
import { type Program, program, rows, unmodelled } from '../effects/program.js';
import { RUSTUP } from './compilers.js';
import { READER } from './runtimes.js';
import { lists, needsOption } from './version.js';

const partial = true as const;

const PIP = program('-V version', 'none', {
  also: needsOption,
  partial,
  subcommands: {
    list: program('-e local user editable format: not-required', 'none'),
    show: lists('-f files'),
    freeze: program('all local user', 'none'),
  },
  facts: {
    subcommands: {},
    hazards: hazards(
      `-tcd target prefix root index-url extra-index-url find-links constraint config-settings python log
      report src cache-dir dest cert client-cert build-option global-option keyring-provider`,
    ),
  },
});

/** All options of npm are settings, and some of those name programs. What it does not know changes nothing. */
const NPM = hazards(
  `-C script-shell prefix local-prefix logs-dir node-options globalconfig userconfig`,
  undefined,
  {
    also: (word, at, words) => {
      const ended = words.indexOf('--');
      if (!word.startsWith('-') || (ended !== -1 && at >= ended)) return false;
      return !NPM_HARMLESS.test(word) && isNpmSetting(word);
    },
  },
);

/** Options of npm that choose no program and no place. */
const NPM_HARMLESS =
  /^(-|--|-[sqdvhlapgwmDPOEByf]+|--(no-)?(silent|quiet|verbose|loglevel|json|long|all|depth|parseable|save|save-(dev|prod|optional|exact|peer|bundle)|global|workspaces?|include-workspace-root|if-present|ignore-scripts|audit|audit-level|fund|dry-run|force|legacy-peer-deps|strict-peer-deps|package-lock|package-lock-only|prefer-(offline|online|dedupe)|offline|production|omit|include|only|dev|prod|tag|access|otp|version|help|yes|colou?r|unicode|progress|description|searchlimit|foreground-scripts|update-notifier|engine-strict|message|git-tag-version|commit-hooks|preid)(=.*)?)$/s;

const NPM_SETTINGS =
  `auth-type authtoken before bin-links browser ca cache cafile call cert cidr diff dist-url editor expect-results fetch git
  globalconfig globalignorefile heading http-proxy https-proxy init install-links install-strategy key lockfile-version
  local-prefix location logs-dir maxsockets metrics-registry node-gyp node-options nodedir noproxy npm-path
  pack-destination package prefix provenance proxy python registry replace-registry-host sbom-format scope script-shell
  shell sign-git-commit sign-git-tag tag-version-prefix tmp userconfig user-agent viewer which workspace`.split(
    /\s+/,
  );

/** Whether it may be, or be short for, a setting that npm knows. */
function isNpmSetting(value: string): boolean {
  const name = /^--(?:no-)?([A-Za-z][\w-]*)(?:=.*)?$/s.exec(value)?.[1]?.toLowerCase();
  return (
    name === undefined || NPM_SETTINGS.some((one) => one.startsWith(name) || name.startsWith(one))
  );
}

/** Programs that install packages and run what the packages bring. */
export const PACKAGES: Readonly<Record<string, Program>> = {
  npm: program('-v version', 'none', {
    also: needsOption,
    partial,
    subcommands: {
      ls: lists('-al all long depth: json parseable prod dev'),
      list: lists('-al all long depth: json parseable prod dev'),
      prefix: lists(''),
      root: lists(''),
    },
    facts: {
      subcommands: { groups: /^run$/, runs: /^config$/ },
      runsAfter: /^(exec|x|set)$/,
      hazards: NPM,
    },
  }),
  pnpm: unmodelled({
    subcommands: { groups: /^run$/ },
    runsAfter: /^(exec|dlx)$/,
    hazards: hazards('script-shell dir prefix node-options'),
  }),
  yarn: unmodelled({
    subcommands: { groups: /^run$/ },
    runsAfter: /^(exec|dlx|node)$/,
    hazards: hazards('cwd use-yarnrc script-shell'),
  }),
  npx: unmodelled({
    launches: true,
    // What follows the name of a package is for its program.
    hazards: hazards('-cp call package', undefined, { inner: true }),
  }),
  bun: unmodelled({
    ...READER,
    subcommands: {},
    runsAfter: /^(x|run|exec)$/,
  }),
  ...rows('pnpx pipx', unmodelled({ runsAnything: true })),
  cargo: program('-V version', 'none', {
    also: needsOption,
    partial,
    subcommands: {},
    facts: {
      subcommands: {},
      chosenBy: RUSTUP,
      runsAfter: /^(run|r|xtask)$/,
      runsOption: { next: /^--config$/ },
      hazards: hazards('-ZC config manifest-path target-dir'),
    },
  }),
  pip: PIP,
  pip3: PIP,
  uv: unmodelled({ subcommands: { groups: /^pip$/ }, runsAfter: /^(run|tool)$/ }),
  ...rows('brew composer gem rustup', unmodelled({ subcommands: {} })),
  // Their settings name programs: `-o Dpkg::Pre-Invoke::=…`.
  ...rows(
    'apt apt-get',
    unmodelled({
      subcommands: {},
      runsOption: { next: /^-o$/ },
      hazards: hazards('-oc option config-file'),
    }),
  ),
  dpkg: unmodelled({
    hazards: hazards('pre-invoke post-invoke status-logger root instdir admindir'),
  }),
  ...rows('conda poetry', unmodelled({ subcommands: {}, runsAfter: /^run$/ })),
  ...rows('mamba micromamba pdm pipenv toolbox', unmodelled({ runsAfter: /^run$/ })),
  bundle: unmodelled({ subcommands: {}, runsAfter: /^exec$/ }),
  ...rows('asdf cabal fnm opam pyenv rbenv stack', unmodelled({ runsAfter: /^exec$/ })),
  ...rows('hatch pixi volta', unmodelled({ runsAfter: /^run$/ })),
  nvm: unmodelled({ runsAfter: /^(exec|run)$/ }),
  devbox: unmodelled({ runsAfter: /^run$/, wholeOnly: /^run( |$)/ }),
  mise: unmodelled({ runsAfter: /^(exec|x|run)$/ }),
  nix: unmodelled({ runsAfter: /^(run|shell|develop)$/ }),
};
