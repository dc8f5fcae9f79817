import { projectMayNotSet } from '../../settings/trust/env.js';

/** Whether a variable decides which program a command runs, which code it loads or where that comes from. */
export function steersProgram(name: string): boolean {
  const reason = projectMayNotSet(name);
  return (reason !== undefined && ABOUT_PROGRAMS.test(reason)) || MORE.test(name.toUpperCase());
}

/** Of the reasons for which a project may not set a variable. */
const ABOUT_PROGRAMS = /programs|another program|code|repository|network connections/;

/** Of runtimes and of what fetches packages: common in servers of one's own, so a project may set them. */
const MORE =
  /^(PYTHONPATH|PYTHONSAFEPATH|CLASSPATH|DENO_.*|BUN_.*|PIP_.*|PIPX_.*|UV_.*|POETRY_.*|CONDA_.*|VIRTUAL_ENV|YARN_.*|PNPM_.*|COREPACK_.*|NVM_.*|VOLTA_.*|ASDF_.*|MISE_.*|CARGO_.*|RUST.*|GO(PROXY|FLAGS|PATH|ROOT|BIN|ENV|TOOLCHAIN)|GEM_.*|BUNDLE_.*|RUBY.*|PERL.*|LUA_.*|JAVA_.*|JDK_.*|DOTNET_.*|DOCKER_.*|CONTAINER_.*|PODMAN_.*|AWS_CONFIG_FILE|KUBECONFIG|COR_.*|CORECLR_.*|JULIA_.*|R_(LIBS.*|HOME|PROFILE.*|ENVIRON.*)|ERL_.*|ELIXIR_.*|GUILE_.*|MONO_.*|PSMODULEPATH|MAVEN_.*|GRADLE_.*|COMPOSER.*|TS_NODE_.*|GTK_.*|QT_PLUGIN_PATH|PHP.*|TCLLIBPATH|OCAML.*)$/;
