import { Multiplexer } from './mux.js';

/** The proxy's port inside the sandbox, where the loopback is private. */
const PROXY_PORT = 3128;
export const INNER_PROXY = `http://127.0.0.1:${PROXY_PORT}`;
/** File descriptors of the pipes to the host. */
export const FROM_HOST = 5;
export const TO_HOST = 6;
/** The descriptor of the start script, which is too long for an argument. */
export const STARTER = 4;

/**
 * Runs inside the sandbox when the network is filtered: accepts connections at the proxy's port and relays
 * them through two pipes. It needs no trust, because anything written to the pipes ends at the same proxy.
 */
const FORWARDER = `
const net = require('node:net'), { Duplex } = require('node:stream');
const [listener, ready] = process.argv.slice(1);
const readable = new net.Socket({ fd: ${FROM_HOST}, readable: true, writable: false });
const writable = new net.Socket({ fd: ${TO_HOST}, readable: false, writable: true });
const connections = new (${Multiplexer.toString()})(Duplex, { readable, writable });
readable.on('close', () => process.exit(0));
const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  const stream = connections.open();
  socket.on('error', () => stream.destroy());
  socket.on('close', () => stream.destroy());
  stream.on('close', () => { if (!stream.readableEnded) socket.destroy(); });
  socket.pipe(stream);
  stream.pipe(socket);
});
server.on('error', () => process.exit(1));
if (listener !== 'none') server.listen({ fd: Number(listener) });
else server.listen(${PROXY_PORT}, '127.0.0.1', () => require('node:fs').writeSync(Number(ready), 'x'));
`;

/**
 * Listens, starts the program at once and the forwarder on the first connection, because most programs make
 * none and Node takes 40 ms to start. The double fork hides the forwarder from the program's children.
 */
const QUICK_STARTER = `
$^F = 255;
my ($node, @program) = @ARGV;
delete $ENV{PERL_BADLANG};
my $text = do { local $/; <DATA> };
socket(L, 2, 1, 6) && setsockopt(L, 1, 2, pack('i', 1))
  && bind(L, pack('SnC4x8', 2, ${PROXY_PORT}, 127, 0, 0, 1)) && listen(L, 128)
  or die "the sandbox cannot listen: $!\\n";
my $child = fork(); die "the sandbox cannot fork: $!\\n" unless defined $child;
if (!$child) {
  exit 0 if fork();
  open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null');
  chdir '/';
  if (fileno(L) != 3) { open(my $control, '>&=', 3); close $control; }
  my $watched = ''; vec($watched, fileno(L), 1) = 1;
  select($watched, undef, undef, undef);
  delete $ENV{NODE_OPTIONS}; delete $ENV{NODE_USE_ENV_PROXY};
  exec { $node } $node, '-e', $text, fileno(L) or exit 1;
}
waitpid($child, 0);
close L; close DATA;
open(my $script, '<&=', ${STARTER}); close $script;
open(my $in, '<&=', ${FROM_HOST}); close $in;
open(my $out, '>&=', ${TO_HOST}); close $out;
no warnings;
exec { $program[0] } @program;
print STDERR "$program[0]: $!\\n";
exit($! == 2 ? 127 : 126);
__DATA__
${FORWARDER}`;

/**
 * The fallback without Perl: the program waits until the forwarder listens. Clears Node variables meant for
 * the program, which would make this Node print warnings.
 */
const PLAIN_STARTER = `
node=$1; shift
text=$(cat <<'END OF FORWARDER'
${FORWARDER}
END OF FORWARDER
)
ready=$(NODE_OPTIONS= NODE_USE_ENV_PROXY= "$node" -e '
  const child = require("node:child_process").spawn(process.execPath, ["-e", process.argv[1], "none", "4"],
    { detached: true, stdio: ["ignore", "ignore", "ignore", "ignore", "pipe", ${FROM_HOST}, ${TO_HOST}] });
  child.stdio[4].once("data", () => { process.stdout.write("x"); process.exit(0); });
  child.once("exit", () => process.exit(1));
' "$text" 3>&-) || { echo "the sandbox cannot listen" >&2; exit 126; }
exec ${STARTER}<&- ${FROM_HOST}<&- ${TO_HOST}>&-
exec "$@"
`;

export interface ForwarderTools {
  readonly node: string;
  readonly perl: string | undefined;
}

/** The script to provide at the `STARTER` descriptor. */
export function starterText({ perl }: ForwarderTools): string {
  return perl === undefined ? PLAIN_STARTER : QUICK_STARTER;
}

/** Keeps Perl from warning about missing locales. */
export const STARTER_ENVIRONMENT: Readonly<Record<string, string>> = { PERL_BADLANG: '0' };

/** Prefixes a program with the start script. */
export function withForwarder(
  { node, perl }: ForwarderTools,
  program: readonly string[],
): readonly string[] {
  return [perl ?? '/bin/sh', `/proc/self/fd/${STARTER}`, node, ...program];
}
