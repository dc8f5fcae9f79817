import { z } from 'zod';
import { count, flag, key, LATER, list, table, text } from './setting-key.schema.js';

const allowing = { needsTrust: true, restricts: false } as const;
const allowingLater = { ...allowing, status: 'later' } as const;
const fencing = { restricts: true } as const;

export const sandbox = z.strictObject({
  enabled: key(
    flag(),
    'Runs shell commands, hooks and MCP servers in a sandbox. A project cannot switch off what its user has switched on.',
    { restricts: true, needsTrust: true, strict: true },
  ),
  failIfUnavailable: key(
    flag(),
    'Refuses to start where there is no sandbox. Default true; false: runs without one, with a warning.',
    { restricts: true, needsTrust: true, strict: true, strictest: true },
  ),
  autoAllowBashIfSandboxed: key(
    flag(),
    'Asks for no command that runs inside. Deny and ask rules and plan mode hold all the same. Default false.',
    { ...allowing, strict: false },
  ),
  allowUnsandboxedCommands: key(
    flag(),
    'Whether a command may ask to run outside. Default true; false refuses such commands, and from an administrator or the command line also lets no project widen the sandbox.',
    { ...fencing, needsTrust: true, strict: false, strictest: true },
  ),
  excludedCommands: key(
    list(),
    'Commands that run outside, as rules for Bash name them ("docker *"). Every part of a command line must be among them.',
    allowing,
  ),
  ignoreViolations: key(
    z.record(z.string(), z.array(z.string())),
    'Violations not told.',
    allowingLater,
  ),
  enableWeakerNestedSandbox: key(flag(), 'A weaker sandbox inside containers.', {
    ...allowingLater,
    strict: false,
  }),
  enableWeakerNetworkIsolation: key(flag(), 'Weaker network isolation.', {
    ...allowingLater,
    strict: false,
  }),
  allowNestedUserNamespaces: key(
    flag(),
    'Lets programs inside make user namespaces of their own, which weakens the fence.',
    { ...allowing, strict: false },
  ),
  allowAppleEvents: key(flag(), 'Apple events.', { ...allowingLater, strict: false }),
  ripgrep: key(
    z.strictObject({ command: text(), args: list().optional() }),
    'The search program to use.',
    { ...allowingLater, scope: 'user' },
  ),
  bwrapPath: key(text(), 'Where bubblewrap is.', { ...allowing, scope: 'managed' }),
  socatPath: key(text(), 'Where socat is; it is not needed.', {
    ...allowingLater,
    scope: 'managed',
  }),
  network: key(
    z.strictObject({
      allowedDomains: key(
        list(),
        'Domains that may be reached from inside: example.com, *.example.com. Beside them those of WebFetch allow rules. None: no network at all.',
        allowing,
      ),
      deniedDomains: key(
        list(),
        'Domains that may not be reached, whatever allows them. WebFetch deny rules count too.',
        fencing,
      ),
      strictAllowlist: key(
        flag(),
        'Refuses other domains instead of asking. They are always refused here.',
        { ...fencing, strict: true, strictest: true },
      ),
      allowManagedDomainsOnly: key(
        flag(),
        'Only domains that an administrator allows may be reached.',
        { ...fencing, scope: 'managed' },
      ),
      allowUnixSockets: key(
        list(),
        'Unix sockets that may be used. A socket of docker or of an agent gives what it serves.',
        allowing,
      ),
      allowAllUnixSockets: key(flag(), 'All Unix sockets.', { ...allowing, strict: false }),
      allowLocalBinding: key(flag(), 'Local ports may be opened to the outside.', {
        ...allowing,
        strict: false,
      }),
      allowMachLookup: key(list(), 'Mach services that may be looked up.', allowingLater),
      httpProxyPort: key(count(1, 65535), 'Port of a proxy of your own.', allowingLater),
      socksProxyPort: key(count(1, 65535), 'Port of a proxy of your own.', allowingLater),
      tlsTerminate: key(table(), 'Inspection of TLS.', {
        ...allowingLater,
        whole: true,
        scope: 'user',
      }),
    }),
    'What sandboxed programs reach.',
  ),
  filesystem: key(
    z.strictObject({
      allowWrite: key(
        list(),
        'Directories that may be written beside the working ones: /absolute, ~/in/the/home, in/the/project. No patterns.',
        allowing,
      ),
      denyWrite: key(list(), 'Paths that may not be written. Edit deny rules count too.', fencing),
      denyRead: key(list(), 'Paths that cannot be read. Read deny rules count too.', fencing),
      allowRead: key(
        list(),
        'Exceptions from denyRead and from what is hidden by itself. The more specific path wins; state of this program stays hidden.',
        allowing,
      ),
      allowManagedReadPathsOnly: key(flag(), 'Only an administrator reopens paths.', {
        ...fencing,
        scope: 'managed',
      }),
      disabled: key(flag(), 'No fence around files, only around the network.', {
        ...allowing,
        strict: false,
        scope: 'user',
      }),
    }),
    'What sandboxed programs touch.',
  ),
  credentials: key(
    z.strictObject({
      files: key(
        z.array(table()),
        'Files that sandboxed programs do not see: [{"path": "~/.token", "mode": "deny"}]. Other modes are refused.',
        fencing,
      ),
      envVars: key(
        z.array(table()),
        'Variables that sandboxed programs do not get: [{"name": "DATABASE_URL", "mode": "deny"}]. Other modes are refused.',
        fencing,
      ),
      awsPairs: key(z.array(table()), 'Pairs of AWS keys.', {
        ...fencing,
        status: 'later',
        unenforced: true,
      }),
      sigv4: key(table(), 'Signing of AWS requests.', LATER),
      allowPlaintextInject: key(flag(), 'Secrets over plain HTTP.', {
        ...allowingLater,
        strict: false,
      }),
    }),
    'Secrets that sandboxed programs do not see.',
  ),
});

/** What else runs in it: keys of ours. */
export const ownSandbox = z.strictObject({
  hooks: key(
    flag(),
    'Whether command hooks run in the sandbox too, where sandbox.enabled is true. Default true.',
    { restricts: true, strict: true, strictest: true },
  ),
  mcpServers: key(
    flag(),
    'Whether stdio MCP servers run in the sandbox too, where sandbox.enabled is true. Default true.',
    { restricts: true, strict: true, strictest: true },
  ),
  excludedMcpServers: key(list(), 'Names of stdio MCP servers that run outside.', {
    restricts: false,
  }),
});
