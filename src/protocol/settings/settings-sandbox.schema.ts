import { z } from 'zod';
import { flag, list, open, text } from '../declare.schema.js';
import {
  convenience,
  count,
  fence,
  grant,
  grantLater,
  key,
  later,
  strictFence,
} from './setting-key.schema.js';

export const sandbox = z.strictObject({
  enabled: fence(
    flag,
    'Runs shell commands, hooks and MCP servers in a sandbox. A project cannot switch off what its user has switched on.',
    { needsTrust: true, strict: true },
  ),
  failIfUnavailable: fence(
    flag,
    'Refuses to start where there is no sandbox. Default true; false: runs without one, with a warning.',
    { needsTrust: true, strict: true, strictest: true },
  ),
  autoAllowBashIfSandboxed: grant(
    flag,
    'Asks for no command that runs inside. Deny and ask rules and plan mode hold all the same. Default false.',
    { strict: false },
  ),
  allowUnsandboxedCommands: fence(
    flag,
    'Whether a command may ask to run outside. Default true; false refuses such commands, and from an administrator or the command line also lets no project widen the sandbox.',
    { needsTrust: true, strict: false, strictest: true },
  ),
  excludedCommands: grant(
    list,
    'Commands that run outside, as rules for Bash name them ("docker *"). Every part of a command line must be among them.',
  ),
  ignoreViolations: grantLater(z.record(z.string(), list), 'Violations not told.'),
  enableWeakerNestedSandbox: grantLater(flag, 'A weaker sandbox inside containers.', {
    strict: false,
  }),
  enableWeakerNetworkIsolation: grantLater(flag, 'Weaker network isolation.', { strict: false }),
  allowNestedUserNamespaces: grant(
    flag,
    'Lets programs inside make user namespaces of their own, which weakens the fence.',
    { strict: false },
  ),
  allowAppleEvents: grantLater(flag, 'Apple events.', { strict: false }),
  ripgrep: grantLater(
    z.strictObject({ command: text, args: list.optional() }),
    'The search program to use.',
    { scope: 'user' },
  ),
  bwrapPath: grant(text, 'Where bubblewrap is.', { scope: 'managed' }),
  socatPath: grantLater(text, 'Where socat is; it is not needed.', { scope: 'managed' }),
  network: key(
    z.strictObject({
      allowedDomains: grant(
        list,
        'Domains that may be reached from inside: example.com, *.example.com. Beside them those of WebFetch allow rules. None: no network at all.',
      ),
      deniedDomains: fence(
        list,
        'Domains that may not be reached, whatever allows them. WebFetch deny rules count too.',
      ),
      strictAllowlist: fence(
        flag,
        'Refuses other domains instead of asking. They are always refused here.',
        { strict: true, strictest: true },
      ),
      allowManagedDomainsOnly: fence(
        flag,
        'Only domains that an administrator allows may be reached.',
        { scope: 'managed' },
      ),
      allowUnixSockets: grant(
        list,
        'Unix sockets that may be used. A socket of docker or of an agent gives what it serves.',
      ),
      allowAllUnixSockets: grant(flag, 'All Unix sockets.', { strict: false }),
      allowLocalBinding: grant(flag, 'Local ports may be opened to the outside.', {
        strict: false,
      }),
      allowMachLookup: grantLater(list, 'Mach services that may be looked up.'),
      httpProxyPort: grantLater(count(1, 65535), 'Port of a proxy of your own.'),
      socksProxyPort: grantLater(count(1, 65535), 'Port of a proxy of your own.'),
      tlsTerminate: grantLater(open, 'Inspection of TLS.', { whole: true, scope: 'user' }),
    }),
    'What sandboxed programs reach.',
  ),
  filesystem: key(
    z.strictObject({
      allowWrite: grant(
        list,
        'Directories that may be written beside the working ones: /absolute, ~/in/the/home, in/the/project. No patterns.',
      ),
      denyWrite: fence(list, 'Paths that may not be written. Edit deny rules count too.'),
      denyRead: fence(list, 'Paths that cannot be read. Read deny rules count too.'),
      allowRead: grant(
        list,
        'Exceptions from denyRead and from what is hidden by itself. The more specific path wins; state of this program stays hidden.',
      ),
      allowManagedReadPathsOnly: fence(flag, 'Only an administrator reopens paths.', {
        scope: 'managed',
      }),
      disabled: grant(flag, 'No fence around files, only around the network.', {
        strict: false,
        scope: 'user',
      }),
    }),
    'What sandboxed programs touch.',
  ),
  credentials: key(
    z.strictObject({
      files: fence(
        z.array(open),
        'Files that sandboxed programs do not see: [{"path": "~/.token", "mode": "deny"}]. Other modes are refused.',
      ),
      envVars: fence(
        z.array(open),
        'Variables that sandboxed programs do not get: [{"name": "DATABASE_URL", "mode": "deny"}]. Other modes are refused.',
      ),
      awsPairs: fence(z.array(open), 'Pairs of AWS keys.', { status: 'later', unenforced: true }),
      sigv4: later(open, 'Signing of AWS requests.'),
      allowPlaintextInject: grantLater(flag, 'Secrets over plain HTTP.', { strict: false }),
    }),
    'Secrets that sandboxed programs do not see.',
  ),
});

/** What else runs in it: keys of ours. */
export const ownSandbox = z.strictObject({
  hooks: strictFence(
    flag,
    'Whether command hooks run in the sandbox too, where sandbox.enabled is true. Default true.',
  ),
  mcpServers: strictFence(
    flag,
    'Whether stdio MCP servers run in the sandbox too, where sandbox.enabled is true. Default true.',
  ),
  excludedMcpServers: convenience(list, 'Names of stdio MCP servers that run outside.'),
});
